/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan.h
 *
 * A trace, or a part of it, as something that can be replayed: the tree before it, then its
 * operations in an order in which they can have happened, with what must have happened unseen, and
 * with their dependencies.
 *
 *     pass 1   operations of the database -> hierarchy and inferences (learn.h) -> a spool
 *     pass 2   the spool -> a rehearsal on a model of the tree (rehearse.h) -> dependencies -> host
 *
 * Either pass uses two threads.
 *
 * The tree that is shown is that of replay dumps: what the first pass learned, and what must have
 * been there though no name of it was ever seen (plan_witness.c).
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

/* An operation of a plan, with all that is known of it. */
struct plan_step {
    uint64_t place; /* in the plan */
    int64_t time;   /* ns since the epoch */
    const struct rdump_operation *operation;
    const struct plan_edges *edges; /* by enum granularity */
    const struct plan_about *about; /* of an inferred one (plan_paths.h), or NULL */
};

/* Every callback returns 0 or a negative code, which ends the reading; each may be NULL.
 * |operation| is called in another thread than the others, after those above it. */
struct plan_host {
    struct hierarchy_host hierarchy; /* in pass 1, with a |ctx| of its own */
    /* Between the passes: what was there before, to be walked (tree.h) until this returns. */
    int (*tree)(void *ctx, struct tree *tree, struct err *err);
    int (*trace)(void *ctx, const struct rdump_trace *trace, struct err *err);
    int (*host)(void *ctx, const struct rdump_host *host, struct err *err);
    int (*credential)(void *ctx, const struct rdump_credential *credential, struct err *err);
    int (*object)(void *ctx, const struct rdump_object *object, struct err *err);
    int (*entry)(void *ctx, const struct rdump_entry *entry, struct err *err);
    /* |operation|: its dependencies are those of the first granularity that was asked for; its
     * |forget| has all objects that it uses, some of them twice: which ones no later operation
     * uses, nobody knows yet. |edges| has an element for each enum granularity; empty for what was
     * not asked for. */
    int (*operation)(void *ctx, const struct rdump_operation *operation,
                     const struct plan_edges *edges, struct err *err);
    /* Of the same operations, in their order but earlier: an inferred one in numbers of the
     * database, with what proves it; one that cannot be replayed. */
    int (*inferred)(void *ctx, const struct inference *inference, struct err *err);
    int (*unplayable)(void *ctx, int64_t operation, enum unplayable why, struct err *err);
    void *ctx;
};

struct plan_counts {
    uint64_t operations;                 /* of the trace, NFSv3 and NFSACL, that the filter took */
    uint64_t others;                     /* of other programs and versions: not in the plan */
    uint64_t objects, entries, subtrees; /* of the tree before */
    uint64_t directories, bytes;         /* of |objects|; in the others, as far as it is known */
    uint64_t inferred, by_reason[REPAIR_REASON_MAX];
    uint64_t unplayable, by_unplayable[UNPLAYABLE_MAX];
    uint64_t superfluous;           /* inferences that fit no order: left out */
    uint64_t compared;              /* groups of expect.h that a replay must show again, */
    uint64_t unsure[UNSURE_MAX];    /* and those that it need not */
    struct depend_counts depend[2]; /* by enum granularity */
};

struct plan_options {
    const struct effect_filter *filter; /* NULL: everything */
    int64_t from; /* the tree is that of this time, operations before it are left out; BEGINNING */
    bool granularity[2]; /* by enum granularity: which dependencies are wanted */
    bool with_results;   /* operations have |results| and |names| */
    bool only_tree;      /* pass 1 and |tree| are all; of the counts nothing is known */
};

int plan_read(sqlite3 *db, const struct plan_options *options, const struct plan_host *host,
              struct plan_counts *counts, struct err *err);

#endif
