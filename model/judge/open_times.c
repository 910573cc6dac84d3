/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/open_times.c
 *
 * Times of a live host's objects that nobody knows: two requests that were under way at the same
 * time both set them, one of them perhaps to what a client wants, and each server keeps those of
 * the last one.  They are withheld until a request that was alone sets them on both servers, or the
 * host makes the object the same again.  Such a request sets the change time in any case (RFC 1813
 * s2.5), and the time of modification if it changes contents or names, or sets it.
 */
#include "judge/sync.h"

enum { OPEN_MTIME = 1 << 0, OPEN_CTIME = 1 << 1 };

void judge_note_open_times(struct judge *j, uint32_t row)
{
    if (!row || row > j->rows)
        return;
    j->states[row].open_times = OPEN_MTIME | OPEN_CTIME;
    j->states[row].accessed = true; /* as if somebody had read it */
    j->states[row].access_set = false;
}

bool judge_has_open_times(const struct judge *j, uint32_t row)
{
    return row && row <= j->rows && j->states[row].open_times;
}

bool open_times_has(const struct judge *j, uint32_t row, enum stamp stamp)
{
    return row && j->states[row].open_times & (stamp == STAMP_CTIME   ? OPEN_CTIME
                                               : stamp == STAMP_MTIME ? OPEN_MTIME
                                                                      : 0);
}

/* The reference has set this time when it executed the request. */
static bool is_of_pair(const struct judge *j, int64_t time)
{
    const struct judge_half *half = &j->pair->half[REF];
    const struct judge_side *side = &j->side[REF];
    int64_t slack = side->granularity + side->clock_error;

    time -= side->clock_offset;
    return half->answered && time >= half->call_time - slack && time <= half->reply_time + slack;
}

static bool has_moved(const struct judge *j, enum whose whose, const struct attributes *after)
{
    struct attributes_before before;

    return !effect_before(&j->pair->half[REF].effect, whose, &before) ||
           before.ctime != after->ctime;
}

static void close_of(struct judge *j, uint32_t row, enum whose whose, uint32_t overlap)
{
    const struct effect *e = &j->pair->half[REF].effect;
    struct object_state *s = &j->states[row];
    bool contents = effect_changes_names(e) || effect_action(e) == ACTION_WRITE;
    bool sets = effect_action(e) == ACTION_SET && e->asked.bits & ASKED_TIMES && s->set & 1 << 1;
    struct attributes a;

    if (!row || !s->open_times || j->pair->overlap & overlap || !effect_attributes(e, whose, &a) ||
        !is_of_pair(j, a.ctime) || !has_moved(j, whose, &a))
        return;
    s->open_times &= (uint8_t)~OPEN_CTIME;
    if (sets || (contents && is_of_pair(j, a.mtime)))
        s->open_times &= (uint8_t)~OPEN_MTIME;
}

void open_times_after(struct judge *j)
{
    const struct effect *e = &j->pair->half[REF].effect;

    if ((e->object_role | e->name_role) & ROLE_MODIFIES)
        close_of(j, j->pair->object, e->roles & ROLE_PARENT ? OF_PARENT : OF_OBJECT,
                 OVERLAP_OBJECT);
    if (e->name2_role & ROLE_MODIFIES)
        close_of(j, sync_object(j, OF_PARENT2), OF_PARENT2, OVERLAP_PARENT2);
}
