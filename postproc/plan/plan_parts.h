/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan_parts.h
 *
 * Shared by plan.c (both passes), plan_before.c (shows the initial tree) and plan_unseen_names.c
 * (entries whose names the trace never shows).
 */
#ifndef NFSDIGEST_PLAN_PLAN_PARTS_H
#define NFSDIGEST_PLAN_PLAN_PARTS_H

#include "base/queue.h"
#include "plan/plan.h"
#include "plan/tree.h"

/* A directory that had an entry with an unknown name. */
struct plan_full {
    uint32_t node;
    int64_t id; /* the operation that proves it */
};

/* A directory whose name in the directory above is unknown. */
struct plan_inside {
    uint32_t directory, above; /* objects */
    int64_t id;                /* the operation that proves it */
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
    struct queue *queue; /* to the thread that finds the dependencies */
    int first;           /* granularity of the operations' own dependencies */
    int64_t first_time;
    bool adds_root; /* no caller has uid 0: a credential is added for it */
    bool refuses;   /* the server checks permissions of directories */
    char **hosts;
    uint32_t host_count, host_cap;
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

/* Makes room for |number| in |named|.  Returns false if there is no memory. */
bool hold_named(struct plan *plan, uint64_t number);

/* Notes an operation that proves an entry of unknown name.  |ctx| is a struct plan. */
int plan_note_unseen_name(void *ctx, struct effect *effect, struct err *err);
/* Adds these entries to the initial tree, with made-up names. */
int plan_add_unseen_names(struct plan *plan, struct err *err);

/* Calls the host's |inferred| for it. */
int plan_show_inferred(struct plan *plan, const struct rehearsed *rehearsed, struct err *err);

/* Shows trace, hosts, credentials, objects and entries to the host. */
int plan_show_before(struct plan *plan, sqlite3 *db, struct err *err);

#endif
