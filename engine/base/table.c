/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/table.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static uint32_t home(const struct table *t, uint64_t hash)
{
    return (uint32_t)(hash >> 32) & t->mask;
}

static void place(struct table *t, uint64_t hash, uint32_t slot)
{
    uint32_t at = home(t, hash);

    while (t->slots[at] != TABLE_NONE)
        at = (at + 1) & t->mask;
    t->hashes[at] = hash;
    t->slots[at] = slot;
}

static int grow(struct table *t)
{
    struct table wide = { 0 };
    uint32_t size = t->slots ? (t->mask + 1) * 2 : 64;

    wide.mask = size - 1;
    wide.used = t->used;
    wide.hashes = malloc(size * sizeof(*wide.hashes));
    wide.slots = malloc(size * sizeof(*wide.slots));
    if (!size || !wide.hashes || !wide.slots) {
        table_free(&wide);
        return -ERR_SYSTEM;
    }
    memset(wide.slots, 0xff, size * sizeof(*wide.slots));
    for (uint32_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i] != TABLE_NONE)
            place(&wide, t->hashes[i], t->slots[i]);
    free(t->hashes);
    free(t->slots);
    *t = wide;
    return 0;
}

int table_add(struct table *t, uint64_t hash, uint32_t slot)
{
    if ((!t->slots || t->used >= t->mask / 4 * 3) && grow(t) < 0)
        return -ERR_SYSTEM;
    place(t, hash, slot);
    t->used++;
    return 0;
}

static uint32_t locate(const struct table *t, uint64_t hash, uint32_t slot)
{
    uint32_t at = home(t, hash);

    while (t->slots[at] != slot || t->hashes[at] != hash)
        at = (at + 1) & t->mask;
    return at;
}

void table_remove(struct table *t, uint64_t hash, uint32_t slot)
{
    uint32_t hole = locate(t, hash, slot), at = hole;

    for (;;) {
        at = (at + 1) & t->mask;
        if (t->slots[at] == TABLE_NONE)
            break;
        /* an entry may move back unless its home lies between the hole and it */
        if (((at - home(t, t->hashes[at])) & t->mask) >= ((at - hole) & t->mask)) {
            t->hashes[hole] = t->hashes[at];
            t->slots[hole] = t->slots[at];
            hole = at;
        }
    }
    t->slots[hole] = TABLE_NONE;
    t->used--;
}

void table_move(struct table *t, uint64_t hash, uint32_t from, uint32_t to)
{
    t->slots[locate(t, hash, from)] = to;
}

void table_clear(struct table *t)
{
    if (t->slots)
        memset(t->slots, 0xff, ((size_t)t->mask + 1) * sizeof(*t->slots));
    t->used = 0;
}

void table_free(struct table *t)
{
    free(t->hashes);
    free(t->slots);
    memset(t, 0, sizeof(*t));
}
