/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/sync_names.c
 *
 * Keeps track of the names that may stand for different objects on the two sides: after
 * simultaneous changes, changes on one side only, or changes in another order.  A name is
 * synchronized again when an operation on it ended alike on both sides, or when both listings have
 * it.
 */
#include "judge/sync.h"

#include "base/grow.h"

#include <xxhash.h>

static uint64_t name_hash(uint32_t directory, struct bytes name)
{
    return XXH3_64bits_withSeed(name.data, name.len, directory);
}

static struct name_state *find(const struct judge *j, uint32_t directory, struct bytes name)
{
    uint32_t at,
        slot = directory ? table_first(&j->by_name, name_hash(directory, name), &at) : TABLE_NONE;

    return slot == TABLE_NONE ? NULL : &j->names[slot];
}

/* Finds or adds the name of a directory. */
static int get(struct judge *j, uint32_t directory, struct bytes name, struct name_state **state,
               struct err *err)
{
    struct name_state new = { .hash = name_hash(directory, name), .directory = directory };

    *state = find(j, directory, name);
    if (*state)
        return 0;
    if (GROW(j->names, j->name_count, j->name_cap) < 0 ||
        table_add(&j->by_name, new.hash, j->name_count) < 0)
        return err_memory(err, "names");
    *state = &j->names[j->name_count++];
    **state = new;
    j->states[directory].names++;
    return 0;
}

/* The last one takes its place. */
static void drop(struct judge *j, struct name_state *state)
{
    uint32_t slot = (uint32_t)(state - j->names), last = --j->name_count;

    j->states[state->directory].names--;
    table_remove(&j->by_name, state->hash, slot);
    if (slot != last) {
        *state = j->names[last];
        table_move(&j->by_name, state->hash, last, slot);
    }
}

static int lost_reason(struct judge *j, uint32_t directory, struct bytes name)
{
    struct name_state *state = find(j, directory, name);

    if (!state || !state->reason)
        return 0;
    state->withheld++;
    return state->reason;
}

/* Tells the host that it is known again, if it was lost; it goes if nothing is left to be known of
 * it. */
static int tell_known(struct judge *j, struct name_state *state, struct err *err)
{
    struct name_state was = *state;

    state->reason = 0;
    if (!state->difference)
        drop(j, state);
    if (!was.reason)
        return 0;
    if (was.withheld && j->host->count(j->ctx, was.id, was.withheld, err) < 0)
        return -err->code;
    return j->host->known(j->ctx, j->pair, was.id, err);
}

/* --- last changes that differ, and are known to make no difference */

static bool is_known(const struct judge *j, uint32_t directory, struct bytes name,
                     int64_t difference)
{
    const struct name_state *state = find(j, directory, name);

    return difference == (state ? state->difference : 0);
}

/* The name stands for the same, after changes that differ by |difference|. */
static int know(struct judge *j, uint32_t directory, struct bytes name, int64_t difference,
                struct err *err)
{
    struct name_state *state = find(j, directory, name);

    if (!directory)
        return 0;
    if (!state && difference && get(j, directory, name, &state, err) < 0)
        return -err->code;
    if (!state)
        return 0;
    state->difference = difference;
    return tell_known(j, state, err);
}

int sync_name(struct judge *j)
{
    const struct effect *e = &j->pair->half[REF].effect;
    uint32_t parent2 = sync_object(j, OF_PARENT2);
    const int64_t *change = j->pair->change;
    int reason = 0;

    if (j->pair->overlap & OVERLAP_NAME)
        return WITHHELD_OVERLAP;
    if (e->name_role)
        reason = lost_reason(j, j->pair->object, e->name);
    if (!reason && e->name2_role)
        reason = lost_reason(j, parent2, e->name2);
    if (!reason && ((e->name_role && !is_known(j, j->pair->object, e->name, change[CHANGE_NAME])) ||
                    (e->name2_role && !is_known(j, parent2, e->name2, change[CHANGE_NAME2]))))
        reason = WITHHELD_ORDER;
    return reason;
}

int sync_entry(struct judge *j, struct bytes name)
{
    return lost_reason(j, j->pair->object, name);
}

int sync_lose_name(struct judge *j, uint32_t directory, enum withheld_reason reason,
                   struct bytes name, struct err *err)
{
    struct judge_loss loss = { directory, UNSYNC_NAME, reason, name, 0, 0 };
    struct name_state *state = find(j, directory, name);
    int64_t id;

    if (!directory || (state && state->reason))
        return 0;
    if (sync_lose(j, &loss, &id, err) < 0 || get(j, directory, name, &state, err) < 0)
        return -err->code;
    state->reason = (uint8_t)reason;
    state->id = id;
    state->withheld = 0;
    return 0;
}

int sync_entry_known(struct judge *j, struct bytes name, struct err *err)
{
    struct name_state *state = find(j, j->pair->object, name);

    return state ? tell_known(j, state, err) : 0;
}

int sync_names_known(struct judge *j, struct err *err)
{
    const struct effect *e = &j->pair->half[REF].effect;
    const int64_t *change = j->pair->change;

    if (j->pair->overlap & OVERLAP_NAME)
        return 0;
    if (e->name_role && know(j, j->pair->object, e->name, change[CHANGE_NAME], err) < 0)
        return -err->code;
    if (e->name2_role &&
        know(j, sync_object(j, OF_PARENT2), e->name2, change[CHANGE_NAME2], err) < 0)
        return -err->code;
    return 0;
}

int sync_names_finish(struct judge *j, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < j->name_count; i++)
        if (j->names[i].reason)
            result = j->host->count(j->ctx, j->names[i].id, j->names[i].withheld, err);
    return result;
}

void sync_names_forget(struct judge *j, uint32_t directory)
{
    for (uint32_t i = j->name_count; j->states[directory].names && i-- > 0;)
        if (j->names[i].directory == directory)
            drop(j, &j->names[i]);
}
