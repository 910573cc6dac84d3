/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/partition.h
 *
 * Divides a trace into parts, one for each client, user, group or subtree.  Each part can become a
 * replay dump of its own.
 *
 * Memory: two texts for each part.
 */
#ifndef NFSDIGEST_PLAN_PARTITION_H
#define NFSDIGEST_PLAN_PARTITION_H

#include "plan/effects.h"

#include <sqlite3.h>

enum partition_by {
    PARTITION_CLIENT,
    PARTITION_UID,
    PARTITION_GID,
    PARTITION_SUBTREE, /* directories in the root of an export; no part is below another */
    PARTITION_MAX
};

extern const char *const partition_names[PARTITION_MAX]; /* "client", ... */

struct partition {
    struct part {
        char *value; /* "10.0.0.1", "1000", a path; sorted by the database */
        char *path;  /* its file */
    } *parts;
    uint32_t count, cap;
};

/* Lists the parts of a trace; there may be none.  A part's file is |path| with the value before the
 * suffix: FILE.rdump and "10.0.0.1" become FILE-10.0.0.1.rdump.  Returns -ERR_USAGE if two parts
 * would have the same file. */
int partition_list(sqlite3 *db, enum partition_by by, const char *path, struct partition *partition,
                   struct err *err);
void partition_free(struct partition *partition);

/* Sets |filter| to select one part.  |value| must live as long as |filter|. */
void partition_choose(enum partition_by by, const char *value, struct effect_filter *filter);

#endif
