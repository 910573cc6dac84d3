/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/time_offsets.h
 *
 * Tracks how much later one side gets a request than the other, by client and time.  The pairs that
 * were aligned so far show where to expect further counterparts.
 *
 * Requests that occur once on each side are known before anything is aligned.  They show how far
 * the offsets lie apart: a server or a client may have stood still for a moment.
 *
 * Memory: 72 KiB for each client, 18 MiB at most: more than 256 clients share it.
 */
#ifndef NFSDIGEST_ALIGN_TIME_OFFSETS_H
#define NFSDIGEST_ALIGN_TIME_OFFSETS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct time_offsets;

/* Allocates offsets for requests to the reference from |first| to |last|, in ns.  NULL: no memory.
 */
struct time_offsets *time_offsets_new(int64_t first, int64_t last, struct err *err);
void time_offsets_free(struct time_offsets *offsets);

/* Notes that the reference got a request of |client| at |ref|, and the other server the same one at
 * |sut|. */
void time_offsets_note(struct time_offsets *offsets, int64_t client, int64_t ref, int64_t sut);

/* When the other server gets a request, ns. */
struct align_expected {
    int64_t time;
    int64_t error;     /* of the latest estimates, four in five were wrong by at most this */
    int64_t low, high; /* by the sure pairs before and after it; both are |time| without these */
};

/* Estimates when the other server gets the request that the reference got at |ref|.  Returns false
 * if no pair was noted; sure ones alone do not do. */
bool time_offsets_expect(const struct time_offsets *offsets, int64_t client, int64_t ref,
                         struct align_expected *expected);

/* Notes a pair that is sure before anything is aligned. */
void time_offsets_note_sure(struct time_offsets *offsets, int64_t client, int64_t ref, int64_t sut);

#endif
