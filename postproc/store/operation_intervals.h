/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/operation_intervals.h
 *
 * Operations counted by the time of their calls, in intervals of the same length.  An operation
 * whose call was not captured counts at the time of its reply.  Intervals begin at multiples of
 * their length since the epoch.  Percentiles are exact, by nearest rank.
 *
 * Memory: 112 bytes for each interval, at most INTERVALS_MAX of them, and that of quantiles.h.
 */
#ifndef NFSDIGEST_STORE_OPERATION_INTERVALS_H
#define NFSDIGEST_STORE_OPERATION_INTERVALS_H

#include "store/filter.h"

enum { INTERVALS_MAX = 1000000 };

struct interval {
    uint64_t operations, errors, read, written; /* of READ and WRITE: bytes of contents */
    uint64_t unanswered;                        /* operations without a reply */
    uint64_t retransmissions;                   /* calls sent again, at the time of that */
    int64_t outstanding; /* at its end: calls that are answered later.  Below 0 only if clocks of
                          * captures differ */
    uint64_t answered;   /* operations with a latency: */
    int64_t least, p50, p90, p99, max; /* ns; meaningful if answered > 0 */
};

struct intervals {
    struct interval *intervals; /* without gaps, from the first one with anything in it */
    uint32_t count;
    int64_t every, start; /* ns; ns since the epoch */
    uint64_t untimed;     /* operations without a time: in no interval */
};

/* Counts the operations that match |filter| in intervals of |every| ns, at least 1.  Returns
 * -ERR_USAGE if there are more than INTERVALS_MAX. */
int intervals_read(sqlite3 *db, const struct filter *filter, int64_t every,
                   struct intervals *intervals, struct err *err);
void intervals_free(struct intervals *intervals);

#endif
