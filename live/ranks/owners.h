/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ranks/owners.h
 *
 * Which rank plays which clients of the dumps.  A client's operations and connections belong to one
 * rank; the ranks get about as many operations each: the client with the most ones first, to the
 * rank that has the fewest so far.  Equal input gives equal owners.
 *
 * Memory: 12 bytes for each host of each dump; 24 more while they are assigned.
 */
#ifndef NFSDIGEST_RANKS_OWNERS_H
#define NFSDIGEST_RANKS_OWNERS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct owners {
    uint32_t dump_count, ranks;
    uint32_t *first; /* by dump, and one more: where its hosts begin */
    uint64_t *load;  /* by host, beginning with 0 (no host): operations */
    uint32_t *rank;  /* the same: who plays them */
};

/* |host_counts|: by dump. */
int owners_new(struct owners *owners, uint32_t ranks, const uint32_t *host_counts, uint32_t dumps,
               struct err *err);
void owners_free(struct owners *owners);
/* Counts the operations of a dump; at most |most| of them, if that is not 0.  What is damaged
 * counts up to there. */
int owners_count(struct owners *owners, uint32_t dump, const char *path, uint64_t most,
                 struct err *err);
/* The dump has the operations of another one, a copy. */
void owners_copy(struct owners *owners, uint32_t dump, uint32_t from);
int owners_assign(struct owners *owners, struct err *err);

static inline uint32_t owners_hosts(const struct owners *owners) /* elements of load and rank */
{
    return owners->first[owners->dump_count];
}

static inline uint32_t owners_of(const struct owners *owners, uint32_t dump, uint32_t client)
{
    uint32_t hosts = owners->first[dump + 1] - owners->first[dump];

    return owners->rank[owners->first[dump] + (client < hosts ? client : 0)];
}

/* The operations of a rank in a dump. */
uint64_t owners_load(const struct owners *owners, uint32_t dump, uint32_t rank);
/* How many ranks have nothing to play. */
uint32_t owners_idle(const struct owners *owners);

#endif
