/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/index.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES_MIN = 64 };

void index_put(struct index *index, uint32_t hash, uint32_t slot)
{
    uint32_t at = index_home(index, hash);

    while (index->places[at].slot != INDEX_NONE)
        at = (at + 1) & index->mask;
    index->places[at] = (struct index_place){ hash, slot };
    index->used++;
}

int index_reserve(struct index *index, uint32_t more)
{
    uint64_t old = index->places ? (uint64_t)index->mask + 1 : 0, count = old ? old : PLACES_MIN;
    uint64_t need = (uint64_t)index->used + more;
    struct index bigger = { 0 };

    while (count / 4 * 3 < need)
        count *= 2;
    if (count == old)
        return 0;
    if (count > (uint64_t)UINT32_MAX + 1)
        return -ERR_SYSTEM;
    bigger.mask = (uint32_t)(count - 1);
    bigger.places = malloc(count * sizeof(*bigger.places));
    if (!bigger.places)
        return -ERR_SYSTEM;
    memset(bigger.places, 0xff, count * sizeof(*bigger.places));
    for (uint64_t i = 0; i < old; i++)
        if (index->places[i].slot != INDEX_NONE)
            index_put(&bigger, index->places[i].hash, index->places[i].slot);
    free(index->places);
    *index = bigger;
    return 0;
}

void index_take_out(struct index *index, uint32_t hash, uint32_t slot)
{
    uint32_t mask = index->mask, hole = index_home(index, hash);

    if (!index->places)
        return;
    while (index->places[hole].slot != slot || index->places[hole].hash != hash) {
        if (index->places[hole].slot == INDEX_NONE)
            return;
        hole = (hole + 1) & mask;
    }
    for (uint32_t at = (hole + 1) & mask; index->places[at].slot != INDEX_NONE;
         at = (at + 1) & mask)
        /* may this one stand in the hole, or would a look-up begin behind it? */
        if (((at - index_home(index, index->places[at].hash)) & mask) >= ((at - hole) & mask)) {
            index->places[hole] = index->places[at];
            hole = at;
        }
    index->places[hole].slot = INDEX_NONE;
    index->used--;
}

void index_set_number(struct index *index, uint32_t of, uint32_t to)
{
    uint32_t at;
    struct index_place *place = index_first(index, of, &at);

    if (place && to)
        place->slot = to;
    else if (place)
        index_take_out(index, of, place->slot);
    else if (to)
        index_put(index, of, to);
}

void index_free(struct index *index)
{
    free(index->places);
    *index = (struct index){ 0 };
}

uint64_t index_memory(const struct index *index)
{
    return index->places ? ((uint64_t)index->mask + 1) * sizeof(*index->places) : 0;
}
