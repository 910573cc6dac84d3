/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_history.h
 *
 * How a shadow's counts grew: points at equal distances, which double when there are too many.  The
 * last point is always the latest one.  Memory: the struct.
 */
#ifndef NFSDIGEST_TEE_SHADOW_HISTORY_H
#define NFSDIGEST_TEE_SHADOW_HISTORY_H

#include "shadow/shadow.h"

enum { HISTORY_POINTS = 256 };

struct history_point {
    int64_t at;                           /* ns since the beginning */
    uint64_t requests, compared, differ;  /* so far; differ: pairs */
    uint64_t objects, synchronized;       /* at this time; without those that are excluded */
    uint64_t time[SIDES], answers[SIDES]; /* sum of latencies, ns, and of how many answers */
};

struct shadow_history {
    struct history_point points[HISTORY_POINTS];
    uint32_t count; /* with the latest point */
    uint32_t fixed; /* that stay */
    uint64_t ticks, every;
};

/* Takes the counts now.  Call it at equal distances.  |history| begins with zeros. */
void shadow_history_take(struct shadow_history *history, struct shadow *shadow, int64_t at);

/* Objects that are there and not excluded. */
uint64_t shadow_history_objects(const struct shadow *shadow);

/* Members of an object: "history", an array of arrays, and what their numbers are. */
void shadow_history_json(const struct shadow_history *history, struct json *json);

/* Appends a plot as an <svg> element, of at least two points. */
int shadow_history_plot(const struct shadow_history *history, struct buf *svg, struct err *err);

#endif
