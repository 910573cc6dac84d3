/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/facts.h
 *
 * Collects the figures of a trace for README.md and the plots of its package.
 *
 * Memory: a row for each procedure and status.
 */
#ifndef NFSDIGEST_PACKAGE_FACTS_H
#define NFSDIGEST_PACKAGE_FACTS_H

#include "plan/plan.h"
#include "plan/tree.h"
#include "store/operation_groups.h"

struct status_fact {
    char name[64];
    uint64_t operations;
};

struct facts {
    bool has_times;
    int64_t first_time, last_time; /* of frames, ns since the epoch; 0 if no frame has a time */
    uint64_t frames, operations, unpaired, clients, servers, objects, retransmissions, copies,
        problems;
    uint64_t bytes_read, bytes_written;
    struct operation_groups grouped; /* by procedure */
    struct status_fact statuses[32]; /* the most frequent ones */
    uint32_t status_count;
    uint64_t other_statuses; /* operations */
    struct tree_growth growth[TREE_GROWTH];
    uint32_t growth_count;
    struct plan_counts plan; /* as for the plot of concurrency */
};

/* facts_grow sets the growth from |tree|.  facts_read sets the rest, except |plan|. */
void facts_grow(struct facts *facts, const struct tree *tree);
int facts_read(struct facts *facts, sqlite3 *db, struct err *err);
void facts_free(struct facts *facts);

#endif
