/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/phases.h
 *
 * Phases that clients marked in the traffic ("nfsdigest phase").  A mark is a LOOKUP of a name
 *
 *     .nfsdigest-phase-NAME.SUFFIX
 *
 * in any directory, whatever its answer is.  SUFFIX begins at the last dot, and may be missing.  A
 * phase lasts from its mark to the next mark of the same client, in the order of the times of calls
 * and, if these are equal, of ids.  A mark with an empty NAME only ends one.  The same mark again
 * is no other mark.  Marks are in no phase.  View "phase" of trace.sql says the same in SQL.
 *
 * Memory: up to PHASES_MAX phases with 56 bytes, and their names, each of up to 1 KiB.
 */
#ifndef NFSDIGEST_STORE_PHASES_H
#define NFSDIGEST_STORE_PHASES_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define PHASE_PREFIX ".nfsdigest-phase-"

enum { PHASES_MAX = 10000 };
#define PHASE_NONE UINT32_MAX

struct phase {
    char *client;
    uint32_t name;       /* its place in |names| */
    bool ended;          /* false: it lasts to the end of the trace */
    int64_t start, stop; /* ns since the epoch; if it is not ended, the trace's last time */
    int64_t start_operation, stop_operation; /* the marks; if it is not ended, INT64_MAX */
};

struct phases {
    struct phase *list; /* by client, then start */
    uint32_t count, cap;
    char **names; /* as in the database, in the order of |list| */
    uint32_t name_count, name_cap;
    uint64_t beyond; /* phases that are not in |list| */
};

/* Reads the phases of a trace, which is attached to the connection as |schema| ("main").  Returns 0
 * or a negative code; then there is nothing to free. */
int phases_read(sqlite3 *db, const char *schema, struct phases *phases, struct err *err);
void phases_free(struct phases *phases);

/* Returns the place of the name of the phase that |operation| is in, or PHASE_NONE.  |time|: of its
 * call, or of its reply if the call was not captured. */
uint32_t phases_at(const struct phases *phases, const char *client, int64_t time,
                   int64_t operation);

/* Defines the SQL function |function|(operation, client, time) for a connection and the trace that
 * is attached to it as |schema| (both texts must stay): the phase's name, or NULL.  Phases are read
 * when it is first called.  Returns an SQLite code. */
int phases_define(sqlite3 *db, const char *function, const char *schema);

#endif
