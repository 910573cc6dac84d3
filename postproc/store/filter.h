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

/* A text that is NULL, or a number that is -1, is not set. */
struct filter {
    const char *client, *server, *path, *procedure, *program, *status;
    int64_t from, to, min_latency, max_latency;
    uint64_t object, xid, frame, source, limit; /* UINT64_MAX: unset */
    bool unpaired;
};

void filter_init(struct filter *filter);

/* Prepares |select| with the filter's condition, the order of ids and the limit, and binds its
 * values.  Fails for names that the database does not know. */
int filter_prepare(sqlite3 *db, const struct filter *filter, const char *select,
                   sqlite3_stmt **stmt, struct err *err);

#endif
