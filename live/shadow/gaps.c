/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/gaps.c
 *
 * The relay has overwritten entries of the ring before they were read: nobody knows what clients
 * changed meanwhile.  Everything is queued for the copy.  But the copy does not read what was the
 * same on both servers before, and whose size, mtime and ctime on the reference are those that were
 * seen last before the gap.
 *
 * Two changes within one tick of the reference's clock have one ctime, so this holds only if these
 * attributes were first seen TICK before the gap began.
 *
 * A call that was under way when the gap began, and whose reply does not come, is given up after
 * WAIT: else its objects could not be copied.  If its reply comes later nevertheless, nothing is
 * known to be the same once more.
 *
 * Gaps that follow each other within SERIES count as one: a call that was lost in the first may
 * still be under way.
 */
#include "shadow/shadow_parts.h"

#include <xxhash.h>

/* ns */
#define SECOND INT64_C(1000000000)
#define TICK INT64_C(2000000000)
#define WAIT INT64_C(5000000000)
#define SERIES INT64_C(60000000000)

static int64_t ns_of(const struct nfstime3 *t)
{
    return (int64_t)t->seconds * 1000000000 + t->nseconds;
}

static uint32_t handle_hash(const struct shadow *s, const struct mirror_object *object)
{
    struct bytes handle = mirror_sut_handle(s->mirror, object);

    return (uint32_t)XXH3_64bits(handle.data, handle.len);
}

/* What was seen of it last before the gaps shows what it was then. */
static bool has_seen(const struct shadow *s, uint32_t object)
{
    const struct known *k = known_of(s, object);

    return k->seen.is_known && k->seen.since < rare_of(s, object)->same_before &&
           k->seen.at * SECOND <= s->lost_time - TICK;
}

uint64_t gaps_same_before(const struct shadow *s, const struct mirror_object *object)
{
    const struct known *k = known_of(s, object->id);

    if (object->state == MIRROR_QUEUED)
        return rare_of(s, object->id)->same_before;
    return object->state == MIRROR_SYNCHRONIZED && !k->is_held ? s->first_lost : 0;
}

/* What is noted of an object that waits to be copied, with the handle that it has now: *|rare|.
 * NULL: it does not wait. */
static int note_queued(struct shadow *s, const struct mirror_object *object,
                       struct known_rare **rare, struct err *err)
{
    *rare = NULL;
    if (object->state != MIRROR_QUEUED)
        return 0;
    *rare = known_rare_get(s, object->id, err);
    if (!*rare)
        return -err->code;
    (*rare)->same_handle = handle_hash(s, object);
    return 0;
}

int gaps_suspect(struct shadow *s, const struct mirror_object *object, uint64_t before,
                 struct err *err)
{
    struct known_rare *rare;

    if (note_queued(s, object, &rare, err) < 0)
        return -err->code;
    if (rare)
        rare->same_before = before;
    return 0;
}

int gaps_only_times(struct shadow *s, const struct mirror_object *object, struct err *err)
{
    struct known_rare *rare;

    if (note_queued(s, object, &rare, err) < 0)
        return -err->code;
    if (rare)
        rare->times_alone = true;
    return 0;
}

static void clear(struct shadow *s, uint32_t object)
{
    struct known_rare *rare = known_rare_find(s, object);

    if (rare) {
        rare->same_before = 0;
        rare->times_alone = false;
    }
}

void gaps_clear(struct shadow *s, const struct mirror_object *object)
{
    if (object && object->id < s->known_end)
        clear(s, object->id);
}

bool gaps_was_same(void *ctx, const struct mirror_object *object, const struct fattr3 *a)
{
    const struct shadow *s = ctx;
    const struct known_rare *rare;

    if (object->id >= s->known_end)
        return false;
    rare = rare_of(s, object->id);
    if (rare->same_handle != handle_hash(s, object))
        return false;
    if (rare->times_alone)
        return true;
    if (!rare->same_before || !has_seen(s, object->id))
        return false;
    return !a || seen_digest_of(&known_of(s, object->id)->seen) ==
                     seen_digest(a->size, ns_of(&a->mtime), ns_of(&a->ctime));
}

void gaps_forget(struct shadow *s)
{
    for (uint32_t i = 0; i < s->known_end; i++)
        clear(s, i);
}

int gaps_note(struct shadow *s, const struct tap_gap *gap, struct err *err)
{
    int64_t now = loop_now(s->loop);

    if (!s->counts.gaps++ || now - s->last_gap > SERIES) {
        s->first_lost = gap->first;
        s->lost_time = s->position_time;
    }
    s->last_lost = gap->last;
    s->gap_noticed = s->last_gap = now;
    s->counts.lost_entries += gap->last - gap->first + 1;
    if (dispatch_all_again(s, s->position, err) < 0)
        return -err->code;
    s->position = gap->last;
    return 0;
}

int gaps_end_calls(struct shadow *s, struct err *err)
{
    const int64_t now = loop_now(s->loop);
    struct request *r, *next;

    if (!s->gap_noticed || now - s->gap_noticed < WAIT || now - tap_ring_held(s->ring) < WAIT)
        return 0;
    s->gap_noticed = 0;
    for (r = request_at(s, s->called.first); r && r->begin <= s->last_lost; r = next) {
        next = request_at(s, r->next);
        requests_answered(s, r);
        r->end = s->position;
        rest_of(r)->ended = loop_now(s->loop);
        if (touches_meet(s, r, err) < 0 || dispatch_leave_out(s, r, FATE_GAP, err) < 0)
            return -err->code;
    }
    return 0;
}
