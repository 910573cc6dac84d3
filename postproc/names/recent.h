/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/recent.h
 *
 * Operations of earlier pieces to which later records may refer, by the frame and XID of their
 * calls: those that still wait for a reply, and those in the lead-in of a later piece.
 *
 * Memory: 40 bytes for each operation, and those that wait.
 */
#ifndef NFSDIGEST_NAMES_RECENT_H
#define NFSDIGEST_NAMES_RECENT_H

#include "base/table.h"
#include "flow/calls.h"

struct recent_call {
    uint64_t frame; /* of the capture */
    uint64_t id;
    struct waiting *waiting; /* owned; NULL: it is complete */
    uint32_t xid, host;
    uint32_t piece; /* number of the last one that listed it as waiting */
    bool over;      /* its connection has ended since */
};

struct recent {
    struct recent_call *all; /* in the order of calls */
    uint32_t count, cap;
    uint32_t waiting; /* number */
    struct table by_call;
};

void recent_free(struct recent *r);
/* Adds a call.  Takes call->waiting over. */
int recent_add(struct recent *r, const struct recent_call *call, struct err *err);
/* Returns the call, or NULL.  |waiting|: one that waits. */
struct recent_call *recent_find(const struct recent *r, uint64_t frame, uint32_t xid, bool waiting);
/* Forgets complete calls in frames before |frame|. */
int recent_forget(struct recent *r, uint64_t frame, struct err *err);

#endif
