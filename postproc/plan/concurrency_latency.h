/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/concurrency_latency.h
 *
 * How long operations take in a simulation: as long as in the trace, or all the same time.
 * Operations on directories can be made longer by a factor.
 *
 * An unplayable operation takes no time.  One that was inferred or has no reply takes the median of
 * its procedure in the trace, or of all operations if the procedure has no reply.
 */
#ifndef NFSDIGEST_PLAN_CONCURRENCY_LATENCY_H
#define NFSDIGEST_PLAN_CONCURRENCY_LATENCY_H

#include "rdump/rdump.h"

#include <sqlite3.h>

enum { LATENCY_PROCEDURES = 22 }; /* RFC 1813 s3.3 */

struct latency_model {
    int64_t constant;        /* ns; 0: as measured */
    double directory_factor; /* 1: no change */
};

struct latency_medians { /* ns; within 0.4 % */
    uint64_t known;      /* operations that have a latency; the medians are 0 if there are none */
    int64_t all, procedure[LATENCY_PROCEDURES];
};

/* Finds the medians of the NFSv3 operations of a database.  Memory: 2 MB while it reads. */
int latency_medians(sqlite3 *db, struct latency_medians *medians, struct err *err);

/* Returns true if a procedure reads or changes the names in a directory, as the roles of its fields
 * show.  Call it after wire_init. */
bool latency_of_directory(uint32_t procedure);

/* Returns ns; never negative. */
int64_t latency_of(const struct latency_model *model, const struct latency_medians *medians,
                   const struct rdump_operation *operation);

#endif
