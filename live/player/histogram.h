/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/histogram.h
 *
 * Log-linear histogram of times in ns: 64 parts of each power of two, so values are kept to 1.6 %.
 * The form and the text are those of HdrHistogram's percentile distribution, so that its tools read
 * it.  0 to 2^42 ns (73 minutes); longer ones count as that.  Memory: 20 KiB.
 */
#ifndef NFSDIGEST_PLAYER_HISTOGRAM_H
#define NFSDIGEST_PLAYER_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

enum {
    HISTOGRAM_PARTS = 64,
    HISTOGRAM_POWERS = 37,
    HISTOGRAM_SLOTS = HISTOGRAM_PARTS * HISTOGRAM_POWERS
};

struct histogram {
    uint64_t count, sum;
    int64_t least, most;
    uint64_t slot[HISTOGRAM_SLOTS];
};

void histogram_add(struct histogram *h, int64_t ns);
void histogram_merge(struct histogram *to, const struct histogram *from);
/* |part| 0 to 1: the value that this part of the values does not exceed; 0 without values. */
int64_t histogram_at(const struct histogram *h, double part);
/* HdrHistogram's text: Value (in |unit| ns), Percentile, TotalCount, 1/(1-Percentile). */
void histogram_write(const struct histogram *h, double unit, FILE *to);

#endif
