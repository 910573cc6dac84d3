/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_contents.c
 *
 * What READs return against what WRITEs wrote, by digests.  A range is under way from the call of
 * its WRITE to the reply, and known from then on until another operation that may change it is
 * called.  Where two overlap in time and place, nothing is known: both are spoiled.  A READ is
 * judged if exactly its range is known; else by blocks (lint_blocks.c), if their digests are there;
 * else against earlier READs (lint_reads.c).  The contract is in lint_parts.h.
 */
#include "lint/lint_parts.h"

#include "base/digest.h"
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
    lint_blocks_spoil(lint, o);
    o->spoiled = lint->latest;
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

int lint_contents_called(struct lint *lint, struct lint_object *o, struct effect *e,
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
    if (writes)
        lint_blocks_called(lint, o, e);
    else if (start < end)
        lint_blocks_spoil(lint, o);
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
                             .written.by = e->id };
    return 0;
}

/* The whole of what was sent was written. */
static bool is_whole(const struct effect *e)
{
    return e->timed && e->succeeded && e->has_done && e->done == e->count;
}

/* Returns what is written by |e|, now that it is done. */
static struct lint_written written_by(const struct lint *lint, const struct effect *e)
{
    const struct lint_body *b = lint->body;

    return (struct lint_written){ .by = e->id,
                                  .at = e->done_time,
                                  .verifier = lint->verifier,
                                  .stable = !b->has_committed || b->committed != UNSTABLE };
}

/* Returns where the bytes begin that |e|, which is no WRITE, may have changed. */
static uint64_t changed_from(const struct effect *e)
{
    if (effect_action(e) != ACTION_SET || e->arguments != WALK_OK)
        return 0;
    return e->asked.bits & ASKED_SIZE ? e->asked.size : UINT64_MAX;
}

void lint_contents_done(struct lint *lint, struct lint_object *o, const struct effect *e)
{
    struct lint_written written = written_by(lint, e);

    if (effect_action(e) != ACTION_WRITE || e->arguments != WALK_OK) {
        spoil(lint, o, changed_from(e), UINT64_MAX);
        if (changed_from(e) < UINT64_MAX)
            lint_blocks_spoil(lint, o);
        return;
    }
    lint_blocks_done(lint, o, e, &written);
    if (e->succeeded && !written.stable)
        o->loose = written;
    for (uint32_t i = 0; i < o->range_count; i++) {
        struct lint_range *r = &o->ranges[i];

        if (r->state == RANGE_KNOWN || r->written.by != e->id)
            continue;
        if (r->state == RANGE_UNDER_WAY && is_whole(e)) {
            r->state = RANGE_KNOWN;
            r->written = written;
            r->has_digest = e->has_digest;
            memcpy(r->digest, e->digest, sizeof(r->digest));
            return;
        }
        lint->range_count--;
        *r = o->ranges[--o->range_count];
        shrink(o);
        return;
    }
}

void lint_contents_commit(struct lint *lint, struct lint_object *o, const struct effect *e)
{
    uint64_t end = e->count ? end_of(e->offset, e->count) : UINT64_MAX;

    if (!e->succeeded || !e->timed || e->arguments != WALK_OK || !lint->verifier)
        return;
    for (uint32_t i = 0; i < o->range_count; i++) {
        struct lint_range *r = &o->ranges[i];

        if (r->state != RANGE_KNOWN || r->written.stable || r->start < e->offset || r->end > end ||
            r->written.at >= e->call_time)
            continue;
        if (!r->written.verifier) { /* it was not captured: nobody can tell */
            r->written.stable = true;
            r->has_digest = false;
        } else if (r->written.verifier == lint->verifier) {
            r->written.stable = true;
        } else if (!r->owed_by) {
            r->owed = e->done_time;
            r->owed_by = e->id;
        }
    }
    lint_blocks_commit(lint, o, e);
    if (!e->offset && !e->count && !o->active && o->loose.at < e->call_time &&
        o->loose.verifier == lint->verifier)
        o->loose = (struct lint_written){ 0 };
}

static bool are_zeros(const struct effect *e)
{
    static const uint8_t zeros[1 << 20];
    XXH128_canonical_t digest;

    if (e->done > sizeof(zeros))
        return false;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(zeros, e->done));
    return memcmp(digest.digest, e->digest, sizeof(e->digest)) == 0;
}

int lint_contents_judge(struct lint *lint, struct lint_object *o, const struct effect *e,
                        struct err *err)
{
    uint64_t end = end_of(e->offset, e->done);

    if (effect_action(e) != ACTION_READ || !e->succeeded || !e->has_done || e->arguments != WALK_OK)
        return 0;
    lint->counts.reads += e->done != 0;
    lint->counts.with_blocks += e->blocks.len != 0;
    if (!e->timed || o->unsure || o->crowded || o->aliased)
        return 0;
    for (uint32_t i = 0; e->has_digest && i < o->range_count; i++) {
        const struct lint_range *r = &o->ranges[i];
        struct lint_written written = r->written;

        if (r->state != RANGE_KNOWN || !r->has_digest || r->start != e->offset || r->end != end)
            continue;
        if (written.at >= e->call_time || written.at <= lint->blind)
            return 0;
        lint->counts.compared++;
        if (memcmp(r->digest, e->digest, sizeof(r->digest)) == 0)
            return 0;
        spoil(lint, o, e->offset, end); /* said once */
        lint_blocks_spoil(lint, o);
        return LINT_SAY_UNLESS_LOST(
            lint, LINT_READ_CONTENTS, e, written.by, &written, err,
            "%" PRIu64 " byte%s at %" PRIu64 " differ%s from those that were written%s", e->done,
            e->done == 1 ? "" : "s", e->offset, e->done == 1 ? "s" : "",
            are_zeros(e) ? ": they are zeros" : "");
    }
    return e->blocks.len ? lint_blocks_judge(lint, o, e, err) : lint_reads_judge(lint, o, e, err);
}
