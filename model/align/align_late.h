/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_late.h
 *
 * Requests that overlap in time can come in any order.  This pairs requests that a common
 * subsequence left out on both sides, if equal requests only passed others that overlapped with one
 * of them.  For align.c.
 *
 * Memory: 28 bytes for each element of two windows.
 */
#ifndef NFSDIGEST_ALIGN_ALIGN_LATE_H
#define NFSDIGEST_ALIGN_ALIGN_LATE_H

#include "align/align.h"

enum { LATE_REACH = 256 }; /* so many others are passed at most */

struct align_late;

struct align_late *align_late_new(void); /* NULL: no memory */
void align_late_free(struct align_late *late);

/* |match|[i] is the index in |b| of what a[i] is paired with, or -1; rising.  Sets |passed|[i] to
 * that of what is paired with a[i] out of order, or -1.  At most ALIGN_WINDOW of each.  Returns how
 * many there are. */
uint32_t align_late_find(struct align_late *late, const struct align_element *a, uint32_t a_count,
                         const struct align_element *b, uint32_t b_count, const int32_t *match,
                         int32_t *passed);

#endif
