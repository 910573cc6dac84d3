/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/rate.h
 *
 * How far long work has come, how fast it is, and how long it will take: for a line on a terminal
 * that is written again and again.
 */
#ifndef NFSDIGEST_SHOW_RATE_H
#define NFSDIGEST_SHOW_RATE_H

#include <stdint.h>

enum { RATE_TEXT_MAX = 96 };

/* One piece of work.  All zeros before its first use. */
struct rate {
    int64_t began; /* ms; 0: not yet */
    uint64_t first, last;
    double first_part;
};

/* Writes "12.3 MB, 40 %, 35 MB/s, 12 s left".  |bytes| are done, which is |part| (0 to 1) of all;
 * negative: not known.  |now|: ms of a clock that runs on, above 0.  The rate is the mean since the
 * first call; it and what depends on it are not written in the first second.  Fewer bytes than
 * before begin a new piece of work.  Returns |text|. */
const char *rate_text(struct rate *rate, uint64_t bytes, double part, int64_t now,
                      char text[RATE_TEXT_MAX]);

#endif
