/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_weigh.h
 *
 * Anchors (align_anchor.h) can be wrong: a server or a client that stands still makes requests so
 * late that others of their kind are nearer.  Then like requests stay alone on both sides, although
 * a longest alignment without anchors pairs them in order.  And where there are no anchors, several
 * alignments can be longest.  This tells from place to place which one the times speak for.  For
 * align.c.
 *
 * Memory: 44 bytes for each element of a window, and what align_sequences takes.
 */
#ifndef NFSDIGEST_ALIGN_ALIGN_WEIGH_H
#define NFSDIGEST_ALIGN_ALIGN_WEIGH_H

#include "align/align.h"

struct align_weigh;

/* A window that is aligned with anchors: |match| as that of align_sequences. */
struct align_ways {
    const struct align_element *elements[2];
    uint64_t *keys[2]; /* of the elements */
    uint32_t count[2];
    int32_t *match;
    bool all; /* nothing comes behind the window */
};

struct align_weigh *align_weigh_new(void); /* NULL: no memory */
void align_weigh_free(struct align_weigh *weigh);

/* Changes |match|, which has |pairs| pairs, where times do not speak for anchors that leave more
 * requests alone, or where they speak for other pairs of the same number.  Returns how many pairs
 * there are now, or -ERR_SYSTEM without memory. */
int align_weigh_anchors(struct align_weigh *weigh, const struct align *align,
                        const struct align_ways *ways, int pairs, struct err *err);

#endif
