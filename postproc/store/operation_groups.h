/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/operation_groups.h
 *
 * Operations counted by procedure, client or path, with exact percentiles of their latency by
 * nearest rank (the smallest value that is not below p percent of all).  The sorting is SQLite's,
 * so memory stays small.
 */
#ifndef NFSDIGEST_STORE_OPERATION_GROUPS_H
#define NFSDIGEST_STORE_OPERATION_GROUPS_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum group_by { BY_PROCEDURE, BY_CLIENT, BY_PATH, BY_MAX };

extern const char *const group_names[BY_MAX]; /* "procedure", ... */

struct group {
    char *label; /* "NFS READ", an address, a path */
    int64_t key[3];
    uint64_t operations, errors, answered, read, written;
    int64_t p50, p90, p99, max; /* ns; meaningful if answered > 0 */
};

struct groups {
    struct group *groups; /* most operations first */
    int count;
    unsigned cap;
    uint64_t left_out; /* further groups */
};

/* Reads the |top| groups with the most operations. */
int groups_read(sqlite3 *db, enum group_by by, int64_t top, struct groups *groups, struct err *err);
void groups_free(struct groups *groups);

#endif
