/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/time_offsets.h
 *
 * How much later one side asks the same than the other, by client and time.  The pairs that were
 * aligned so far say where other counterparts can be expected.
 *
 * Memory: 2 MiB.
 */
#ifndef NFSDIGEST_ALIGN_TIME_OFFSETS_H
#define NFSDIGEST_ALIGN_TIME_OFFSETS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct time_offsets;

/* Of requests that the reference was asked from |first| to |last|, ns. NULL: no memory. */
struct time_offsets *time_offsets_new(int64_t first, int64_t last, struct err *err);
void time_offsets_free(struct time_offsets *offsets);

/* A client asked the reference at |ref|, and the other server the same at |sut|. */
void time_offsets_note(struct time_offsets *offsets, int64_t client, int64_t ref, int64_t sut);

/* When the other server is expected to be asked what the reference was asked at |ref|, and by how
 * much that was wrong lately, four times of five at most; false: not known. */
bool time_offsets_expect(const struct time_offsets *offsets, int64_t client, int64_t ref,
                         int64_t *sut, int64_t *error);

#endif
