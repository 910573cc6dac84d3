/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/clock.h
 *
 * Clocks of servers and captures.  When a file changes, its server gives it the time of the
 * server's clock.  The reply shows this time, and the capture has the time of the reply.  So the
 * offset of the two clocks is known, with an error of the length of a request.  A time is converted
 * from one server's clock to the other's in three steps: to the clock of its own capture, along the
 * pairs of operations (both were called and answered) to the other capture, and to the clock of the
 * other server.
 *
 * Memory: CLOCK_SAMPLES samples for each side; CLOCK_ANCHORS anchors of 16 bytes, and 56 more for
 * each while the map is made.
 */
#ifndef NFSDIGEST_JUDGE_CLOCK_H
#define NFSDIGEST_JUDGE_CLOCK_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_SAMPLES = 4096, CLOCK_ANCHORS = 65536 };

struct clock_side {
    int64_t offset[CLOCK_SAMPLES], width[CLOCK_SAMPLES]; /* ns */
    uint32_t count;
    uint64_t seen;
    int64_t granularity;
};

/* Adds a sample: the server says that a request from |call| to |reply| changed something at |time|.
 */
void clock_sample(struct clock_side *side, int64_t time, int64_t call, int64_t reply);

/* Gives the median of the offsets, and half of the median width as the error.  Returns false if
 * there is no sample. */
bool clock_estimate(struct clock_side *side, int64_t *offset, int64_t *error, int64_t *granularity);

/* Two times that belong together, one of each capture: REF, SUT. */
struct clock_anchor {
    int64_t time[2];
};

struct clock_map {
    struct clock_anchor *anchors; /* rising on both sides, after clock_settle */
    uint32_t count, cap;
    int64_t offset[2]; /* offsets of the servers' clocks from those of their captures */
};

/* Adds an anchor.  Returns 0 or -ERR_SYSTEM. */
int clock_anchor(struct clock_map *map, int64_t ref, int64_t sut, struct err *err);
/* Keeps a largest set of anchors that rise on both sides, because some requests came in another
 * order. */
int clock_settle(struct clock_map *map, struct err *err);
void clock_map_free(struct clock_map *map);

/* Converts a time of the server of side |from| to the clock of the other server. */
int64_t clock_carry(const struct clock_map *map, int from, int64_t time);

#endif
