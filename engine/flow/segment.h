/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/segment.h
 *
 * A TCP segment that is kept, and lists of them.  Each is allocated on its own and belongs to the
 * list that it is in.
 */
#ifndef NFSDIGEST_FLOW_SEGMENT_H
#define NFSDIGEST_FLOW_SEGMENT_H

#include "base/bytes.h"
#include "base/pack.h"
#include "flow/seen.h"

/* The bytes of a stream that one segment carries. */
struct arrival {
    uint32_t seq; /* sequence number of the first byte */
    struct captured piece;
    struct seen seen;
};

struct segment {
    struct segment *next;
    uint32_t seq, cap_len, wire_len;
    struct seen seen;
    uint8_t data[];
};

/* Returns a copy of |arrival|, or NULL if there is no memory. */
struct segment *segment_new(const struct arrival *arrival);

static inline struct arrival segment_arrival(const struct segment *g)
{
    return (struct arrival){ g->seq, { g->data, g->cap_len, g->wire_len }, g->seen };
}

/* Returns how many bytes the segment counts against the limits: at least 512.  This bounds the
 * number of small segments, so that walking along a list takes little time. */
uint32_t segment_memory(const struct segment *g);

int segments_save(const struct segment *first, struct buf *out);
/* Reads saved segments into the list at |at|, which must be empty.  Updates |last|, |count| and
 * |memory|.  Returns 0, -ERR_INPUT or -ERR_SYSTEM. */
int segments_restore(struct segment **at, struct segment **last, uint32_t *count, uint64_t *memory,
                     struct unpack *in);

#endif
