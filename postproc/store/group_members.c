/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/group_members.h"
#include "base/digest.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void members_free(struct dimension *d)
{
    for (uint32_t i = 0; i < d->count; i++)
        free(d->members[i].group.label);
    free(d->members);
    table_free(&d->table);
}

uint32_t members_add(struct dimension *d, struct table *table, uint64_t hash,
                     const struct group *group)
{
    if (GROW(d->members, d->count, d->cap) < 0 || table_add(table, hash, d->count) < 0)
        return TABLE_NONE;
    d->members[d->count] = (struct member){ .group = *group, .at = d->count };
    return d->count++;
}

uint32_t members_by_key(struct dimension *d, const int64_t key[3])
{
    uint64_t hash = XXH3_64bits(key, 3 * sizeof(*key));
    struct group group = { 0 };
    uint32_t at;

    for (uint32_t i = table_first(&d->table, hash, &at); i != TABLE_NONE;
         i = table_next(&d->table, hash, &at))
        if (memcmp(d->members[i].group.key, key, sizeof(group.key)) == 0)
            return i;
    memcpy(group.key, key, sizeof(group.key));
    return members_add(d, &d->table, hash, &group);
}

uint32_t known_members_find(const struct known_members *known, int64_t id)
{
    uint64_t hash = XXH3_64bits(&id, sizeof(id));
    uint32_t at;

    for (uint32_t i = table_first(&known->table, hash, &at); i != TABLE_NONE;
         i = table_next(&known->table, hash, &at))
        if (known->list[i].id == id)
            return known->list[i].member;
    return TABLE_NONE;
}

uint32_t known_members_add(struct known_members *known, int64_t id, uint32_t member)
{
    if (member == TABLE_NONE || GROW(known->list, known->count, known->cap) < 0 ||
        table_add(&known->table, XXH3_64bits(&id, sizeof(id)), known->count) < 0)
        return TABLE_NONE;
    known->list[known->count++] = (struct known_member){ id, member };
    return member;
}

void known_members_free(struct known_members *known)
{
    free(known->list);
    table_free(&known->table);
}
