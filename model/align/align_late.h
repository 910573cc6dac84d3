/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_late.h
 *
 * Requests that overlap in time can come in any order.  This pairs requests that a common
 * subsequence left out on both sides, if equal requests only passed others that overlapped with one
 * of them.  For align.c.
 *
 * Memory: 29 bytes for each element of two windows.
 */
#ifndef NFSDIGEST_ALIGN_ALIGN_LATE_H
#define NFSDIGEST_ALIGN_ALIGN_LATE_H

#include "align/align.h"

enum { LATE_REACH = 256 }; /* the most requests that one may pass */

struct align_late;

/* Requests of one side that overlapped: the other side may get them in any order. */
static inline bool align_were_together(const struct align_element *x, const struct align_element *y)
{
    return x->time < y->done && y->time < x->done;
}

struct align_late *align_late_new(void); /* NULL: no memory */
void align_late_free(struct align_late *late);

/* Finds pairs out of order.  |match|[i] is the index in |b| of the element that a[i] is already
 * paired with, or -1; these indexes rise.  Sets |passed|[i] to the index in |b| of the element that
 * is paired with a[i] out of order, or -1.  Each side has at most ALIGN_WINDOW elements.  Returns
 * the number of pairs found. */
uint32_t align_late_find(struct align_late *late, const struct align_element *a, uint32_t a_count,
                         const struct align_element *b, uint32_t b_count, const int32_t *match,
                         int32_t *passed);

#endif
