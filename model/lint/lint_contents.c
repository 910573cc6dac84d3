/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_contents.c
 *
 * What READs return against what WRITEs wrote, by digests.  A range is under way from the call of
 * its WRITE to the reply, and known from then on until another operation that may change it is
 * called.  Where two overlap in time and place, nothing is known: both are spoiled.  A READ is
 * judged if exactly its range is known.  The contract is in lint_parts.h.
 */
#include "lint/lint_parts.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t end_of(uint64_t start, uint64_t len)
{
    return len > UINT64_MAX - start ? UINT64_MAX : start + len;
}

/* After ranges went: gives back memory, so that there is never much more than what they need. */
static void shrink(struct lint_object *o)
{
    uint32_t cap = o->range_count * 2;
    struct lint_range *ranges;

    if (!o->range_count) {
        free(o->ranges);
        o->ranges = NULL;
        o->range_cap = 0;
        return;
    }
    if (cap >= o->range_cap / 2 || !(ranges = realloc(o->ranges, cap * sizeof(*ranges))))
        return;
    o->ranges = ranges;
    o->range_cap = cap;
}

/* Known ranges with bytes in [start, end) go, those under way are spoiled.  Returns true if there
 * were some under way. */
static bool spoil(struct lint *lint, struct lint_object *o, uint64_t start, uint64_t end)
{
    uint32_t kept = 0;
    bool met = false;

    for (uint32_t i = 0; i < o->range_count; i++) {
        struct lint_range *r = &o->ranges[i];
        bool overlaps = r->start < end && r->end > start;

        if (overlaps && r->state == RANGE_KNOWN)
            continue;
        if (overlaps) {
            r->state = RANGE_SPOILED;
            met = true;
        }
        if (kept != i)
            o->ranges[kept] = *r;
        kept++;
    }
    lint->range_count -= o->range_count - kept;
    o->range_count = kept;
    shrink(o);
    return met;
}

void lint_contents_spoil(struct lint *lint, struct lint_object *o)
{
    spoil(lint, o, 0, UINT64_MAX);
}

void lint_contents_forget(struct lint *lint, struct lint_object *o)
{
    lint->range_count -= o->range_count;
    o->range_count = 0;
    shrink(o);
}

/* Makes room for a range: for this object a known one goes, for all objects those of the
 * object whose turn it is.  Returns false if there is none. */
static bool make_room(struct lint *lint, struct lint_object *o)
{
    for (uint32_t tries = 0; lint->range_count >= lint->options.ranges; tries++) {
        if (tries == lint->object_count)
            return false;
        lint->range_next = (lint->range_next + 1) % lint->object_count;
        spoil(lint, &lint->objects[lint->range_next], 0, UINT64_MAX);
    }
    if (o->range_count < LINT_RANGES_EACH)
        return true;
    for (uint32_t i = 0; i < o->range_count; i++)
        if (o->ranges[i].state == RANGE_KNOWN) {
            memmove(&o->ranges[i], &o->ranges[i + 1],
                    (o->range_count - i - 1) * sizeof(o->ranges[0]));
            o->range_count--;
            lint->range_count--;
            return true;
        }
    return false;
}

int lint_contents_called(struct lint *lint, struct lint_object *o, const struct effect *e,
                         struct err *err)
{
    bool writes = effect_action(e) == ACTION_WRITE && e->arguments == WALK_OK;
    bool sets = effect_action(e) == ACTION_SET && e->arguments == WALK_OK;
    uint64_t start = writes ? e->offset : 0, end = UINT64_MAX;
    bool spoiled;

    if (writes)
        end = end_of(e->offset, e->count);
    else if (sets)
        start = e->asked.bits & ASKED_SIZE ? e->asked.size : UINT64_MAX;
    spoiled = spoil(lint, o, start, end);
    if (!writes || !e->count || o->crowded)
        return 0;
    if (!make_room(lint, o)) {
        o->crowded = true; /* what is under way cannot be told any more */
        return 0;
    }
    if (GROW(o->ranges, o->range_count, o->range_cap) < 0)
        return err_memory(err, "written ranges");
    lint->range_count++;
    o->ranges[o->range_count++] =
        (struct lint_range){ .start = start,
                             .end = end,
                             .state = spoiled ? RANGE_SPOILED : RANGE_UNDER_WAY,
                             .written_by = e->id };
    return 0;
}

/* The whole of what was sent was written. */
static bool is_whole(const struct effect *e)
{
    return e->timed && e->succeeded && e->has_digest && e->has_done && e->done == e->count;
}

void lint_contents_done(struct lint *lint, struct lint_object *o, const struct effect *e)
{
    if (effect_action(e) != ACTION_WRITE || e->arguments != WALK_OK) {
        bool sets = effect_action(e) == ACTION_SET && e->arguments == WALK_OK;

        spoil(lint, o,
              !sets                        ? 0
              : e->asked.bits & ASKED_SIZE ? e->asked.size
                                           : UINT64_MAX,
              UINT64_MAX);
        return;
    }
    for (uint32_t i = 0; i < o->range_count; i++) {
        struct lint_range *r = &o->ranges[i];

        if (r->state == RANGE_KNOWN || r->written_by != e->id)
            continue;
        if (r->state == RANGE_UNDER_WAY && is_whole(e)) {
            r->state = RANGE_KNOWN;
            r->written_at = e->done_time;
            memcpy(r->digest, e->digest, sizeof(r->digest));
            return;
        }
        lint->range_count--;
        *r = o->ranges[--o->range_count];
        shrink(o);
        return;
    }
}

int lint_contents_judge(struct lint *lint, struct lint_object *o, const struct effect *e,
                        struct err *err)
{
    uint64_t end = end_of(e->offset, e->done);

    if (effect_action(e) != ACTION_READ || !e->succeeded || !e->has_digest || !e->has_done ||
        e->arguments != WALK_OK || !e->timed || o->unsure || o->crowded)
        return 0;
    for (uint32_t i = 0; i < o->range_count; i++) {
        const struct lint_range *r = &o->ranges[i];
        int64_t earlier = r->written_by;

        if (r->state != RANGE_KNOWN || r->start != e->offset || r->end != end)
            continue;
        if (r->written_at >= e->call_time || r->written_at <= lint->blind ||
            memcmp(r->digest, e->digest, sizeof(r->digest)) == 0)
            return 0;
        spoil(lint, o, e->offset, end); /* said once */
        return LINT_SAY(lint, LINT_READ_CONTENTS, e, earlier, err,
                        "the %" PRIu64 " bytes at %" PRIu64 " are not those that were written",
                        e->done, e->offset);
    }
    return 0;
}
