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

/* The server said that something was changed at |time|, in a request from |call| to |reply|. */
void clock_sample(struct clock_side *side, int64_t time, int64_t call, int64_t reply);

/* The median of the offsets, and half of the median width; false: there is no sample. */
bool clock_estimate(struct clock_side *side, int64_t *offset, int64_t *error, int64_t *granularity);

/* A time of each side's capture: REF, SUT. */
struct clock_anchor {
    int64_t time[2];
};

struct clock_map {
    struct clock_anchor *anchors; /* rising on both sides, after clock_settle */
    uint32_t count, cap;
    int64_t offset[2]; /* of the servers' clocks from their captures' */
};

/* Adds one. 0 or -ERR_SYSTEM. */
int clock_anchor(struct clock_map *map, int64_t ref, int64_t sut, struct err *err);
/* Makes of them as many as there can be that rise on both sides: some pairs are of requests that
 * came in another order. */
int clock_settle(struct clock_map *map, struct err *err);
void clock_map_free(struct clock_map *map);

/* A time of one side's server as the other's would have it. */
int64_t clock_carry(const struct clock_map *map, int from, int64_t time);

#endif
