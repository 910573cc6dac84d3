/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/past.h
 *
 * What an engine that began in the middle of a capture has asked of the time before its border.
 *
 * Such an engine reads a lead-in first, in which it comes to know most of what matters.  After the
 * border, where the records begin to count, it assumes that it knows everything, and writes down
 * here what else it has relied on.  Whoever knows the true state at the border can then tell
 * whether the records are those of one run over the whole capture (outline.h).
 *
 * - A stream of which nothing was seen in the lead-in is taken to go on with a record mark.
 *   Each stream keeps the sequence number that was assumed (struct stream).
 * - Segments and SYNs that are about what came before mark their connection (struct conn).
 * - XIDs of calls, and of replies without a call: an older call may have had them.
 * - Ports that were taken not to carry RPC.
 */
#ifndef NFSDIGEST_FLOW_PAST_H
#define NFSDIGEST_FLOW_PAST_H

#include "flow/xids.h"

#include <stdint.h>

struct past {
    uint8_t assumed;     /* a boolean: the border was passed, */
    uint8_t settled;     /* and so long ago that no call from before it counts any more */
    uint8_t order_asked; /* a boolean: which of two connections is older had to be known, or */
    uint8_t flow_asked;  /* on which connection something was, that no message was seen on yet */
    int64_t noted_till;  /* clock; XIDs after it cannot be those of calls before the border */
    struct xids asked;
    uint8_t ports_asked[65536 / 8];
    /* the most that there was at one time: what the true state has more may reach a limit */
    uint32_t waiting, connections;
    uint64_t waiting_bytes, framing, queued;
    uint32_t held;
};

/* Calls are given up only when a message comes. */
static inline void past_settle(struct past *p, int64_t clock)
{
    p->settled |= p->assumed && clock > p->noted_till;
}

static inline void past_holds(struct past *p, uint64_t framing, uint64_t queued)
{
    p->framing = framing > p->framing ? framing : p->framing;
    p->queued = queued > p->queued ? queued : p->queued;
}

static inline void past_waits(struct past *p, uint32_t count, uint64_t bytes)
{
    p->waiting = count > p->waiting ? count : p->waiting;
    p->waiting_bytes = bytes > p->waiting_bytes ? bytes : p->waiting_bytes;
}

#endif
