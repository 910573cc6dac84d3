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

/* Bytes of a stream as a segment brings them. */
struct arrival {
    uint32_t seq; /* of their first one */
    struct captured piece;
    struct seen seen;
};

struct segment {
    struct segment *next;
    uint32_t seq, cap_len, wire_len;
    struct seen seen;
    uint8_t data[];
};

/* A copy; NULL: out of memory. */
struct segment *segment_new(const struct arrival *arrival);

static inline struct arrival segment_arrival(const struct segment *g)
{
    return (struct arrival){ g->seq, { g->data, g->cap_len, g->wire_len }, g->seen };
}

/* What it counts against the limits: 512 bytes at least.  So few small ones fit that walking along
 * them takes no time. */
uint32_t segment_memory(const struct segment *g);

int segments_save(const struct segment *first, struct buf *out);
/* Appends to the list at |at|, which is empty; |last|, |count| and |memory| follow.  0, -ERR_INPUT
 * or -ERR_SYSTEM. */
int segments_restore(struct segment **at, struct segment **last, uint32_t *count, uint64_t *memory,
                     struct unpack *in);

#endif
