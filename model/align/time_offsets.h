/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/time_offsets.h
 *
 * Tracks how much later one side gets a request than the other, by client and time.  The pairs that
 * were aligned so far show where to expect further counterparts.
 *
 * Memory: 2 MiB.
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

/* Estimates when the other server gets the request that the reference got at |ref|.  *|error|: of
 * the latest estimates, four in five were wrong by at most this.  Returns false if nothing is
 * known. */
bool time_offsets_expect(const struct time_offsets *offsets, int64_t client, int64_t ref,
                         int64_t *sut, int64_t *error);

#endif
