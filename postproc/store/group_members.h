/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/group_members.h
 *
 * The groups of operation_groups.c while operations are counted.  All zeros: none yet.
 */
#ifndef NFSDIGEST_STORE_GROUP_MEMBERS_H
#define NFSDIGEST_STORE_GROUP_MEMBERS_H

#include "base/table.h"
#include "store/operation_groups.h"

struct member {
    struct group group;
    int64_t least; /* of the latencies */
    uint32_t at;   /* its number as a group of quantiles.h */
};

struct dimension {
    struct table table;
    struct member *members;
    uint32_t count, cap;
};

void members_free(struct dimension *d);
/* Adds |group| under |hash| to |table|.  Returns its number, or TABLE_NONE without memory. */
uint32_t members_add(struct dimension *d, struct table *table, uint64_t hash,
                     const struct group *group);
/* Returns the number of the group with |key|, which is made if there is none, or TABLE_NONE. */
uint32_t members_by_key(struct dimension *d, const int64_t key[3]);

/* Which member the operations of a flow, or of a credential, belong to. */
struct known_members {
    struct table table;
    struct known_member {
        int64_t id;
        uint32_t member;
    } *list;
    uint32_t count, cap;
};

void known_members_free(struct known_members *known);
/* Returns the member of |id|, or TABLE_NONE. */
uint32_t known_members_find(const struct known_members *known, int64_t id);
/* Returns |member|, or TABLE_NONE without memory, or if it is that. */
uint32_t known_members_add(struct known_members *known, int64_t id, uint32_t member);

#endif
