/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/measure/histogram.h
 *
 * Log-linear histogram of times in ns: 64 parts of each power of two, so values are kept to 1.6 %.
 * The form and the text are those of HdrHistogram's percentile distribution, so that its tools read
 * it.  0 to 2^42 ns (73 minutes); longer ones count as that.  Memory: 20 KiB.
 */
#ifndef NFSDIGEST_MEASURE_HISTOGRAM_H
#define NFSDIGEST_MEASURE_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

enum {
    HISTOGRAM_PARTS = 64,
    HISTOGRAM_POWERS = 37,
    HISTOGRAM_SLOTS = HISTOGRAM_PARTS * HISTOGRAM_POWERS
};
#define HISTOGRAM_MOST ((INT64_C(1) << (HISTOGRAM_POWERS + 5)) - 1)

/* All zeros: an empty one. */
struct histogram {
    uint64_t count;
    int64_t low, high; /* |least| and |most|, but within the limits above: histogram.c's own */
    uint64_t sum;
    int64_t least, most;
    uint64_t slot[HISTOGRAM_SLOTS];
};

/* Of a value within the limits.  Those of one power of two have HISTOGRAM_PARTS slots; those below
 * the first power have one each. */
static inline unsigned histogram_slot_of(uint64_t value)
{
    unsigned power = 63 - 6 - (unsigned)__builtin_clzll(value | HISTOGRAM_PARTS);

    return power * HISTOGRAM_PARTS + (unsigned)(value >> power);
}

static inline unsigned histogram_slot(int64_t ns)
{
    if (ns < 0)
        return 0;
    return ns > HISTOGRAM_MOST ? HISTOGRAM_SLOTS - 1 : histogram_slot_of((uint64_t)ns);
}

/* |ns| is below |low| or above |high|: histogram_add's own. */
void histogram_add_far(struct histogram *h, int64_t ns);
/* |least| and |most| were set by somebody who has read them. */
void histogram_set_limits(struct histogram *h);
/* It is called several times for each operation of a replay. */
static inline void histogram_add(struct histogram *h, int64_t ns)
{
    if (ns < h->low || ns > h->high) {
        histogram_add_far(h, ns);
        return;
    }
    if (ns < 0 || ns > HISTOGRAM_MOST)
        __builtin_unreachable(); /* |low| and |high| are within the limits */
    h->count++;
    h->sum += (uint64_t)ns;
    h->slot[histogram_slot_of((uint64_t)ns)]++;
}

void histogram_merge(struct histogram *to, const struct histogram *from);
/* What was added to |now| since it was like |before|.  Of |least| and |most|, only the limits of
 * their slots are known. */
void histogram_since(struct histogram *to, const struct histogram *now,
                     const struct histogram *before);
/* |part| 0 to 1: the value that this part of the values does not exceed; 0 without values. */
int64_t histogram_at(const struct histogram *h, double part);
/* Counts of buckets: |counts|[i] has the values up to |bounds|[i], which rise, and above the bound
 * before; the last one, of |count| + 1, has the others.  A slot with values on both sides of a
 * bound counts as above it: that is exact up to 1.6 % of the bound. */
void histogram_buckets(const struct histogram *h, const int64_t *bounds, uint32_t count,
                       uint64_t *counts);
/* HdrHistogram's text: Value (in |unit| ns), Percentile, TotalCount, 1/(1-Percentile). */
void histogram_write(const struct histogram *h, double unit, FILE *to);

#endif
