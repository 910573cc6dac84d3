/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan_parts.h
 *
 * What plan.c (both passes), plan_before.c (the tree before, as it is shown) and plan_witness.c
 * (what must have been in it though no name of it was ever seen) share.
 */
#ifndef NFSDIGEST_PLAN_PLAN_PARTS_H
#define NFSDIGEST_PLAN_PLAN_PARTS_H

#include "base/queue.h"
#include "plan/plan.h"
#include "plan/tree.h"

/* What an operation proves to be there, under a name that may never show. */
struct plan_full {
    uint32_t node; /* a directory that had something in it, nobody knows what */
    int64_t id;    /* the operation */
};

struct plan_inside {
    uint32_t directory, above; /* objects */
    int64_t id;
};

struct plan {
    const struct plan_options *options;
    const struct plan_host *host;
    struct plan_counts *counts;
    struct tree tree;
    struct spool *spool;
    struct rehearsal rehearsal;
    struct depend *depend[2];
    struct access access[2];
    struct queue *queue; /* to the thread that finds dependencies */
    int first;           /* granularity of the operations' own dependencies */
    int64_t first_time;
    bool adds_root; /* no caller is uid 0: one more credential is */
    bool refuses;   /* the server refuses what callers may not do with names */
    char **hosts;
    uint32_t host_count;
    bool *credentials; /* by number: whether it is used */
    uint32_t credential_cap;
    uint32_t *entries, entry_cap;
    uint32_t *named; /* by number of a nameless object */
    uint64_t named_cap;
    struct plan_full *full;
    uint32_t full_count, full_cap;
    struct plan_inside *inside;
    uint32_t inside_count, inside_cap;
};

/* Room for |number| in |named|. */
bool hold_named(struct plan *plan, uint64_t number);

/* What an operation that is done says of names that it does not show; afterwards, of them those
 * that must have been there before get names of their own. */
int plan_witness(void *ctx, struct effect *effect, struct err *err);
int plan_add_witnesses(struct plan *plan, struct err *err);

/* To the host's |inferred|. */
int plan_show_inferred(struct plan *plan, const struct rehearsed *rehearsed, struct err *err);

/* Trace, hosts, credentials, objects and entries, to the host. */
int plan_show_before(struct plan *plan, sqlite3 *db, struct err *err);

#endif
