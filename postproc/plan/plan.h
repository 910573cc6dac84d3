/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan.h
 *
 * Turns a trace, or a part of it, into a plan for a replay: the initial tree, then the operations
 * in an order in which every result fits, with inferred operations and dependencies.
 *
 *     pass 1   operations of the database -> hierarchy and inferences (learn.h) -> a spool
 *     pass 2   the spool -> a rehearsal on a model of the tree (rehearse.h) -> dependencies -> host
 *
 * Each pass uses two threads.
 *
 * The initial tree has what pass 1 learned, and entries that must have existed although their names
 * were never seen (plan_unseen_names.c).
 *
 * Memory: that of either pass: hierarchy.h or rehearse.h, and depend.h for each granularity; on
 * disk, in TMPDIR, about 300 bytes an operation.
 */
#ifndef NFSDIGEST_PLAN_PLAN_H
#define NFSDIGEST_PLAN_PLAN_H

#include "plan/effects.h"
#include "depend/access.h"
#include "play/rehearse.h"
#include "rdump/rdump.h"

#include <sqlite3.h>

struct plan_about;
struct tree;

struct plan_edges {
    const uint32_t *distances;
    uint32_t count;
};

/* An operation of a plan. */
struct plan_step {
    uint64_t place; /* in the plan */
    int64_t time;   /* ns since the epoch */
    const struct rdump_operation *operation;
    const struct plan_edges *edges; /* by enum granularity */
    const struct plan_about *about; /* of an inferred one (plan_paths.h), or NULL */
};

/* Callbacks that receive the plan.  Each may be NULL.  Each returns 0, or a negative code, which
 * ends plan_read.  |operation| is called after all callbacks above it, in a thread of its own. */
struct plan_host {
    struct hierarchy_host hierarchy; /* in pass 1; has a |ctx| of its own */
    /* Called between the passes, with the initial tree, which is valid until this returns (tree.h).
     */
    int (*tree)(void *ctx, struct tree *tree, struct err *err);
    int (*trace)(void *ctx, const struct rdump_trace *trace, struct err *err);
    int (*host)(void *ctx, const struct rdump_host *host, struct err *err);
    int (*credential)(void *ctx, const struct rdump_credential *credential, struct err *err);
    int (*object)(void *ctx, const struct rdump_object *object, struct err *err);
    int (*entry)(void *ctx, const struct rdump_entry *entry, struct err *err);
    /* The dependencies in |operation| have the first granularity that the options ask for.  Its
     * |forget| has all objects that it uses, some of them twice, because later operations are not
     * known yet.  |edges| has an element for each enum granularity, empty if not asked for. */
    int (*operation)(void *ctx, const struct rdump_operation *operation,
                     const struct plan_edges *edges, struct err *err);
    /* Called for inferred operations, with numbers of the database, and for operations that cannot
     * be replayed.  They come in the order of |operation|, but earlier. */
    int (*inferred)(void *ctx, const struct inference *inference, struct err *err);
    int (*unplayable)(void *ctx, int64_t operation, enum unplayable why, struct err *err);
    void *ctx;
};

struct plan_counts {
    uint64_t operations; /* of NFSv3 and NFSACL, that pass the filter */
    uint64_t others;     /* of other programs and versions, which are not in the plan */
    uint64_t objects, entries, subtrees; /* of the initial tree */
    uint64_t impossible_names; /* of the trace's entries: with a slash or a zero byte.  They are not
                                * in |entries|; what has no other one is as without a name */
    uint64_t directories, bytes; /* of |objects|: how many directories; known bytes of the others */
    uint64_t inferred, by_reason[REPAIR_REASON_MAX];
    uint64_t unplayable, by_unplayable[UNPLAYABLE_MAX];
    uint64_t superfluous;           /* inferences that fit no order; they are left out */
    uint64_t compared;              /* groups of expect.h that a replay must reproduce */
    uint64_t unsure[UNSURE_MAX];    /* groups that it need not reproduce, by reason */
    struct depend_counts depend[2]; /* by enum granularity */
};

struct plan_options {
    const struct effect_filter *filter; /* NULL: everything */
    int64_t
        from; /* the plan begins at this time, and the tree is that of this time; or BEGINNING */
    bool granularity[2]; /* by enum granularity: find these dependencies */
    bool with_results;   /* operations have |results| and |names| */
    bool only_tree;      /* end after pass 1 and |tree|; the counts are not set */
};

int plan_read(sqlite3 *db, const struct plan_options *options, const struct plan_host *host,
              struct plan_counts *counts, struct err *err);

#endif
