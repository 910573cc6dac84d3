/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest.h"
#include "copy/copy_parts.h"

#include <stdlib.h>

/* Two names with one hash are taken for one.  The seed is random, so nobody can choose them. */
uint64_t copy_name_hash(const struct copy *copy, struct bytes name)
{
    uint64_t hash = XXH3_64bits_withSeed(name.data, name.len, copy->seed);

    return hash ? hash : 1;
}

static uint64_t *place(const struct name_set *set, uint64_t hash)
{
    uint64_t at = hash & (set->room - 1);

    while (set->hashes[at] && set->hashes[at] != hash)
        at = (at + 1) & (set->room - 1);
    return &set->hashes[at];
}

static int grow(struct name_set *set)
{
    struct name_set more = { .room = set->room ? set->room * 2 : 64 };

    more.hashes = calloc(more.room, sizeof(*more.hashes));
    if (!more.hashes)
        return -ERR_SYSTEM;
    for (uint64_t i = 0; i < set->room; i++)
        if (set->hashes[i])
            *place(&more, set->hashes[i]) = set->hashes[i];
    more.count = set->count;
    free(set->hashes);
    *set = more;
    return 0;
}

int copy_name_set_add(struct name_set *set, uint64_t hash)
{
    uint64_t *at;

    if (set->count >= set->room / 2 && grow(set) < 0)
        return -ERR_SYSTEM;
    at = place(set, hash);
    if (*at)
        return 1;
    *at = hash;
    set->count++;
    return 0;
}

bool copy_name_set_has(const struct name_set *set, uint64_t hash)
{
    return set->room && *place(set, hash);
}

void copy_name_set_free(struct name_set *set)
{
    free(set->hashes);
    *set = (struct name_set){ 0 };
}
