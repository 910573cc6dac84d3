/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_doubt.h
 *
 * Equal requests of which one side has more than the other: one was not captured there.  Where sure
 * requests of the same time show that a server or a client may have stood still (struct
 * align_expected), the times do not tell which one.  This takes such pairs apart.  For align.c.
 *
 * It goes at most 16 million steps in a window, some 50 ms; pairs that it did not reach by then
 * stay.
 *
 * Memory: 106 bytes for each element of two windows.
 */
#ifndef NFSDIGEST_ALIGN_ALIGN_DOUBT_H
#define NFSDIGEST_ALIGN_ALIGN_DOUBT_H

#include "align/align.h"

struct align_doubt;

/* A window with its pairs: |match| and |passed| of the reference's elements, as in align_late.h.
 * Elements from |end| on may still get their counterparts. */
struct align_pairs {
    struct align_element *elements[2];
    uint32_t count[2], end[2];
    int32_t *match, *passed;
};

struct align_doubt *align_doubt_new(void); /* NULL: no memory */
void align_doubt_free(struct align_doubt *doubt);

/* Takes pairs apart, and marks their elements and those that are meant, too, as doubtful.  Each
 * side has at most ALIGN_WINDOW elements, in the order of time.  Returns how many pairs of |match|
 * went. */
uint32_t align_doubt_find(struct align_doubt *doubt, const struct align *align,
                          const struct align_pairs *pairs);

#endif
