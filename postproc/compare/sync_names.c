/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/sync_names.c
 *
 * Names that are not known to stand for the same on both sides: after changes at once, of one side
 * only, or in another order.  They are known again when an operation on them ended alike, or both
 * listings have them.
 */
#include "compare/pairs.h"

#include <stdlib.h>
#include <xxhash.h>

static uint64_t name_hash(uint32_t directory, struct bytes name)
{
    return XXH3_64bits_withSeed(name.data, name.len, directory);
}

static uint32_t find_name(const struct pairs *p, uint32_t directory, struct bytes name)
{
    uint32_t at;

    return directory ? table_first(&p->by_name, name_hash(directory, name), &at) : TABLE_NONE;
}

static int lost_name_reason(struct pairs *p, uint32_t directory, struct bytes name)
{
    uint32_t slot = find_name(p, directory, name);

    if (slot == TABLE_NONE)
        return 0;
    p->names[slot].withheld++;
    return p->names[slot].reason;
}

/* --- last changes that differ, and are known to make no difference */

static uint32_t find_known(const struct pairs *p, uint64_t hash)
{
    uint32_t at;

    return table_first(&p->by_known_name, hash, &at);
}

static bool is_known(const struct pairs *p, uint32_t directory, struct bytes name,
                     int64_t difference)
{
    uint32_t slot = directory ? find_known(p, name_hash(directory, name)) : TABLE_NONE;

    return difference == (slot == TABLE_NONE ? 0 : p->known_names[slot].difference);
}

static int know_difference(struct pairs *p, uint32_t directory, struct bytes name,
                           int64_t difference, struct err *err)
{
    struct known_name known = { directory ? name_hash(directory, name) : 0, difference };
    uint32_t slot = directory ? find_known(p, known.hash) : TABLE_NONE;

    if (slot != TABLE_NONE)
        p->known_names[slot].difference = difference;
    if (slot != TABLE_NONE || !difference || !directory)
        return 0;
    if (p->known_count == p->known_cap) {
        uint32_t cap = p->known_cap ? p->known_cap * 2 : 64;
        void *grown = realloc(p->known_names, cap * sizeof(*p->known_names));

        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory for names");
        p->known_names = grown;
        p->known_cap = cap;
    }
    if (table_add(&p->by_known_name, known.hash, p->known_count) < 0)
        return err_set(err, ERR_SYSTEM, "out of memory for names");
    p->known_names[p->known_count++] = known;
    return 0;
}

int sync_name(struct pairs *p)
{
    const struct effect *e = &p->pair.half[REF].effect;
    uint32_t parent2 = sync_object(p, OF_PARENT2);
    int reason = 0;

    if (p->pair.overlap & OVERLAP_NAME)
        return WITHHELD_OVERLAP;
    if (e->name_role)
        reason = lost_name_reason(p, p->pair.object, e->name);
    if (!reason && e->name2_role)
        reason = lost_name_reason(p, parent2, e->name2);
    if (!reason && ((e->name_role && !is_known(p, p->pair.object, e->name, p->pair.names[0])) ||
                    (e->name2_role && !is_known(p, parent2, e->name2, p->pair.names[1]))))
        reason = WITHHELD_ORDER;
    return reason;
}

int sync_entry(struct pairs *p, struct bytes name)
{
    return lost_name_reason(p, p->pair.object, name);
}

int sync_lose_name(struct pairs *p, uint32_t directory, enum withheld_reason reason,
                   struct bytes name, struct err *err)
{
    struct lost_name lost = { .hash = name_hash(directory, name), .reason = (uint8_t)reason };

    if (!directory || find_name(p, directory, name) != TABLE_NONE)
        return 0;
    if (p->name_count == p->name_cap) {
        uint32_t cap = p->name_cap ? p->name_cap * 2 : 64;
        void *grown = realloc(p->names, cap * sizeof(*p->names));

        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory for names");
        p->names = grown;
        p->name_cap = cap;
    }
    if (sync_put_row(p, directory, UNSYNC_NAME, reason, name, 0, 0, &lost.row, err) < 0)
        return -err->code;
    if (table_add(&p->by_name, lost.hash, p->name_count) < 0)
        return err_set(err, ERR_SYSTEM, "out of memory for names");
    p->names[p->name_count++] = lost;
    return 0;
}

/* The last one takes the place of the one that is gone. */
static int know_name(struct pairs *p, uint32_t directory, struct bytes name, struct err *err)
{
    uint32_t slot = find_name(p, directory, name), last;
    struct lost_name lost;

    if (slot == TABLE_NONE)
        return 0;
    lost = p->names[slot];
    last = --p->name_count;
    table_remove(&p->by_name, lost.hash, slot);
    if (slot != last) {
        p->names[slot] = p->names[last];
        table_move(&p->by_name, p->names[slot].hash, last, slot);
    }
    return sync_end_row(p, lost.row, true, lost.withheld, err);
}

int sync_entry_known(struct pairs *p, struct bytes name, struct err *err)
{
    return know_name(p, p->pair.object, name, err);
}

int sync_names_known(struct pairs *p, struct err *err)
{
    const struct effect *e = &p->pair.half[REF].effect;
    uint32_t parent2 = sync_object(p, OF_PARENT2);

    if (p->pair.overlap & OVERLAP_NAME)
        return 0;
    if (e->name_role && (know_name(p, p->pair.object, e->name, err) < 0 ||
                         know_difference(p, p->pair.object, e->name, p->pair.names[0], err) < 0))
        return -err->code;
    if (e->name2_role && (know_name(p, parent2, e->name2, err) < 0 ||
                          know_difference(p, parent2, e->name2, p->pair.names[1], err) < 0))
        return -err->code;
    return 0;
}

int sync_names_finish(struct pairs *p, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < p->name_count; i++)
        result = sync_end_row(p, p->names[i].row, false, p->names[i].withheld, err);
    return result;
}

void sync_names_close(struct pairs *p)
{
    free(p->names);
    free(p->known_names);
    table_free(&p->by_name);
    table_free(&p->by_known_name);
}
