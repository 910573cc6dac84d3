/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_anchor.h
 *
 * Pairs that are clear from their times, for align.c.
 *
 * Memory: 137 bytes for each element of two windows.
 */
#ifndef NFSDIGEST_ALIGN_ALIGN_ANCHOR_H
#define NFSDIGEST_ALIGN_ALIGN_ANCHOR_H

#include "align/align.h"

struct align_anchors;

struct align_anchors *align_anchors_new(void); /* NULL: no memory */
void align_anchors_free(struct align_anchors *anchors);

/* Sets |match|[i] to the index in |sut| of the element that clearly belongs to ref[i], or -1.
 * These indexes rise.  Each side has at most ALIGN_WINDOW elements, in the order of time.  Finds no
 * pairs if nothing is known about the times. */
void align_anchors_find(struct align_anchors *anchors, const struct align *align,
                        const struct align_element *ref, uint32_t ref_count,
                        const struct align_element *sut, uint32_t sut_count, int32_t *match);

#endif
