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

    while (t->places[at].slot != TABLE_NONE)
        at = (at + 1) & t->mask;
    t->places[at].hash = hash;
    t->places[at].slot = slot;
}

static int grow(struct table *t)
{
    uint32_t size = t->places ? (t->mask + 1) * 2 : 64;
    struct table wide = { .mask = size - 1, .used = t->used };

    if (size)
        wide.places = malloc(size * sizeof(*wide.places));
    if (!wide.places)
        return -ERR_SYSTEM;
    memset(wide.places, 0xff, size * sizeof(*wide.places));
    for (uint32_t i = 0; t->places && i <= t->mask; i++)
        if (t->places[i].slot != TABLE_NONE)
            place(&wide, t->places[i].hash, t->places[i].slot);
    free(t->places);
    *t = wide;
    return 0;
}

int table_add(struct table *t, uint64_t hash, uint32_t slot)
{
    if ((!t->places || t->used >= t->mask / 4 * 3) && grow(t) < 0)
        return -ERR_SYSTEM;
    place(t, hash, slot);
    t->used++;
    return 0;
}

static uint32_t locate(const struct table *t, uint64_t hash, uint32_t slot)
{
    uint32_t at = home(t, hash);

    while (t->places[at].slot != slot || t->places[at].hash != hash)
        at = (at + 1) & t->mask;
    return at;
}

void table_remove(struct table *t, uint64_t hash, uint32_t slot)
{
    uint32_t hole = locate(t, hash, slot), at = hole;

    for (;;) {
        at = (at + 1) & t->mask;
        if (t->places[at].slot == TABLE_NONE)
            break;
        /* an entry may move back unless its home lies between the hole and it */
        if (((at - home(t, t->places[at].hash)) & t->mask) >= ((at - hole) & t->mask)) {
            t->places[hole] = t->places[at];
            hole = at;
        }
    }
    t->places[hole].slot = TABLE_NONE;
    t->used--;
}

void table_move(struct table *t, uint64_t hash, uint32_t from, uint32_t to)
{
    t->places[locate(t, hash, from)].slot = to;
}

void table_clear(struct table *t)
{
    if (t->places)
        memset(t->places, 0xff, ((size_t)t->mask + 1) * sizeof(*t->places));
    t->used = 0;
}

void table_free(struct table *t)
{
    free(t->places);
    memset(t, 0, sizeof(*t));
}
