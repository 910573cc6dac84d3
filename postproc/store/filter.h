/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/filter.h
 *
 * Filters of operations, as an SQL condition on operation o.
 */
#ifndef NFSDIGEST_STORE_FILTER_H
#define NFSDIGEST_STORE_FILTER_H

#include "base/bytes.h"
#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>

enum filter_order {
    FILTER_BY_ID,
    FILTER_BY_TIME,
    FILTER_BY_LATENCY,
    FILTER_BY_WAITED,
    FILTER_BY_BYTES
};

/* SQL: how long the caller of operation o waited, in ns.  That is the latency, unless it sent the
 * call again after the first reply: then the reply did not reach it, and it waited until the next
 * reply, or at least until it sent the call last.  If fragments of its first call were lost, it
 * waited since then. */
#define FILTER_WAITED                                                                              \
    " (SELECT ifnull(CASE WHEN s.last > o.reply_time THEN ifnull((SELECT min(r.time)"              \
    " FROM retransmission r WHERE r.operation = o.id AND r.kind = 2 AND r.time >= s.last), "       \
    "s.last)"                                                                                      \
    " ELSE o.reply_time END - min(o.call_time, ifnull(s.first, o.call_time)), o.latency)"          \
    " FROM (SELECT max(r.time) AS last, min(r.time) AS first FROM retransmission r"                \
    " WHERE r.operation = o.id AND r.kind = 1) s)"

struct filter {
    const char *client, *server, *path, *procedure, *program, *status; /* NULL: unset */
    const char *phase;                                                 /* phases.h; NULL: unset */
    const char *from, *to;                                             /* moment.h; NULL: unset */
    int64_t min_latency, max_latency;                                  /* INT64_MIN: unset */
    uint64_t object, uid, xid, frame, source, limit;                   /* UINT64_MAX: unset */
    bool unpaired, retransmitted;
    enum filter_order order;
};

void filter_init(struct filter *filter);

/* Returns true if all operations match it, whatever the limit is. */
bool filter_is_empty(const struct filter *filter);

/* Sets the order: "time", "latency" (the longest first), "bytes" (the most contents of READ and
 * WRITE first); NULL: that of ids.  What has no such value comes last. */
int filter_sort(struct filter *filter, const char *by, struct err *err);

/* Prepares |select| with the filter's condition, the order and the limit, and binds its
 * values.  Fails for names and paths that the database does not know. */
int filter_prepare(sqlite3 *db, const struct filter *filter, const char *select,
                   sqlite3_stmt **stmt, struct err *err);

#endif
