/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/top/spread.h
 *
 * Times in ns, in slots of an eighth of each power of two from 1 us to 18 minutes: percentiles are
 * right to 6 %.  Negative ones, of clocks that differ, are one slot, whose value is their mean.
 * There are thousands of these, so they are small (1 KiB); live/measure/histogram.h is finer and 20
 * times as large.
 */
#ifndef NFSDIGEST_TOP_SPREAD_H
#define NFSDIGEST_TOP_SPREAD_H

#include <stdint.h>

enum { SPREAD_PARTS = 8, SPREAD_POWERS = 31, SPREAD_SLOTS = SPREAD_PARTS * SPREAD_POWERS + 1 };

struct spread {
    uint64_t count, sum;   /* |sum|: without the negative ones */
    uint64_t negative_sum; /* of these without their signs */
    int64_t most;          /* meaningful if there is a value */
    uint32_t negative;
    uint32_t slot[SPREAD_SLOTS];
};

void spread_add(struct spread *spread, int64_t ns);
void spread_merge(struct spread *to, const struct spread *from);
/* Counts of buckets: |counts|[i] has the values up to |bounds|[i], which rise, and above the bound
 * before; the last one, of |count| + 1, has the others.  Right to 6 % of a bound. */
void spread_buckets(const struct spread *spread, const int64_t *bounds, uint32_t count,
                    uint64_t *counts);
/* |part| 0 to 1: the value that this part does not exceed; 0 without values. */
int64_t spread_at(const struct spread *spread, double part);

#endif
