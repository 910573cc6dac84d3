/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/before.c
 *
 * Times from before an operation (wcc_attr, RFC 1813 s2.6).  If they are the times that a client
 * knows, it keeps its cache.  A server that reads them too late returns the time of the operation
 * itself, and the client cannot notice that another client changed the object.  This shows without
 * a clock: on one side the time is the same as after the operation, and on the other side it is
 * not.
 */
#include "judge/judge_fields.h"

/* Servers may take times from a clock that moves this seldom, so that two changes have the same one
 * (Linux: a tick, of 100 in a second at least). */
enum { TICK_NS = 10000000 };

static const int64_t *last_of(const struct last_times *last, enum stamp stamp)
{
    return stamp == STAMP_MTIME ? &last->mtime : &last->ctime;
}

/* The time of the same object after the operation, or NULL. */
static const struct item *find_after(const struct judge_half *half, const struct place *before)
{
    const struct body *b = &half->result;

    for (uint32_t i = 0; i < b->count; i++) {
        const struct place *place = b->items[i].place;

        if (place->stamp == before->stamp && place->has_whose && place->whose == before->whose &&
            !place->of_before)
            return &b->items[i];
    }
    return NULL;
}

/* Whether the object may have been changed by what was asked before, at the same tick of the
 * server's clock as now. */
static bool may_be_of_last_change(const struct fields *f, int side, const struct last_times *last,
                                  int64_t tick)
{
    int64_t call = f->j->pair->half[side].call_time;

    return last->changed != INT64_MIN && (last->changed >= call || call - last->changed <= tick);
}

static bool sets_out_to_change(const struct effect *e, enum whose whose)
{
    return (whose == OF_PARENT2 ? e->name2_role : e->object_role | e->name_role) & ROLE_MODIFIES;
}

static enum before_kind judge(struct fields *f, int side, const struct item *before, bool is_now,
                              int64_t moved_here, int64_t moved_there)
{
    const struct judge_half *half = &f->j->pair->half[side];
    uint32_t row = sync_row(f->j, side, (enum whose)before->place->whose);
    const struct last_times *last = &f->j->states[row].last[side];
    bool is_known = row && last->at <= half->call_time;
    int64_t tick;
    bool is_set = half->effect.asked.bits & ASKED_TIMES && before->place->stamp == STAMP_MTIME;

    if (is_known && *last_of(last, (enum stamp)before->place->stamp) == (int64_t)before->value)
        return BEFORE_KEPT;
    if (moved_here || !half->effect.succeeded ||
        !sets_out_to_change(&half->effect, (enum whose)before->place->whose))
        return BEFORE_ANY;
    if (is_known)
        return moved_there && !last->is_open ? BEFORE_OWN : BEFORE_ANY;
    if (f->j->partly) /* not all requests come in pairs, so the last change may be unknown */
        return BEFORE_ANY;
    tick = times_step(f, side, before) + TICK_NS;
    return is_now && !is_set && moved_there > tick && !may_be_of_last_change(f, side, last, tick)
               ? BEFORE_OWN
               : BEFORE_ANY;
}

/* How far the times moved; false: the times from after are not known. */
static bool find_moves(const struct fields *f, const struct item *const before[SIDES],
                       int64_t moved[SIDES])
{
    for (int side = 0; side < SIDES; side++) {
        const struct item *after = find_after(&f->j->pair->half[side], before[side]->place);

        if (!after)
            return false;
        moved[side] = (int64_t)(after->value - before[side]->value);
    }
    return true;
}

bool before_is_uneven(const struct fields *f, const struct item *ref, const struct item *sut)
{
    const struct item *const before[SIDES] = { ref, sut };
    int64_t moved[SIDES];

    return find_moves(f, before, moved) && !moved[REF] != !moved[SUT];
}

void before_judge(struct fields *f, const struct item *ref, const struct item *sut,
                  const bool is_now[SIDES], enum before_kind kind[SIDES])
{
    const struct item *const before[SIDES] = { ref, sut };
    uint32_t logged = f->j->pair->logged;
    int64_t moved[SIDES];

    kind[REF] = kind[SUT] = BEFORE_ANY;
    /* pairs may come in another order than replies: the last times may be later ones */
    if (f->j->pair->change[CHANGE_LAST] || sync_attributes(f->j, (enum whose)ref->place->whose) ||
        (ref->place->stamp == STAMP_MTIME && f->j->states[fields_object(f, ref->place)].verifier))
        return;
    if (!find_moves(f, before, moved))
        return;
    for (int side = 0; logged && side < SIDES; side++)
        if (logged & COUNTERPART_BEFORE_OWN && !moved[side] && moved[!side])
            kind[side] = BEFORE_OWN;
    for (int side = 0; !logged && side < SIDES; side++)
        kind[side] = judge(f, side, before[side], is_now[side], moved[side], moved[!side]);
}

/* Pairs come in the order of one side.  Of two changes that were under way at once, nobody knows
 * which was the last one here. */
static void forget(struct judge *j, int side, enum whose whose)
{
    const struct judge_half *half = &j->pair->half[side];
    struct last_times *last = &j->states[sync_row(j, side, whose)].last[side];
    int64_t changed = half->answered ? half->reply_time : half->call_time;

    last->at = INT64_MAX;
    if (last->changed !=
        changed) /* it may be the same one, of which it is also the other directory */
        last->is_open = last->changed > half->call_time;
    if (changed > last->changed)
        last->changed = changed;
}

static void note_side(struct judge *j, int side)
{
    const struct judge_half *half = &j->pair->half[side];
    const struct effect *e = &half->effect;
    const struct body *b = &half->result;

    if ((e->object_role | e->name_role) & ROLE_MODIFIES)
        forget(j, side, OF_OBJECT);
    if (e->name2_role & ROLE_MODIFIES)
        forget(j, side, OF_PARENT2);
    if (effect_takes_name(e) || effect_makes_name(e) || effect_makes_name2(e))
        forget(j, side, OF_NEW_OBJECT);
    if (!half->answered || !b->places)
        return;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct place *place = b->items[i].place;
        struct last_times *last;
        uint32_t row;

        if (place->stamp < STAMP_MTIME || place->of_before || place->in_list || !place->has_whose)
            continue;
        row = sync_row(j, side, (enum whose)place->whose);
        if (!row)
            continue;
        last = &j->states[row].last[side];
        if (place->stamp == STAMP_MTIME)
            last->mtime = (int64_t)b->items[i].value;
        else
            last->ctime = (int64_t)b->items[i].value;
        last->at = half->reply_time;
        if (last->changed <= half->call_time)
            last->is_open = false;
    }
}

void before_note(struct judge *j)
{
    for (int side = 0; side < SIDES; side++)
        if (j->pair->half[side].effect.id)
            note_side(j, side);
}
