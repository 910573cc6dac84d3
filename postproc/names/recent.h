/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/recent.h
 *
 * Operations of earlier pieces to which later records may refer, by the frame and XID of their
 * calls: those that still wait for a reply, and those in the lead-in of a later piece.
 *
 * Most are never asked for.  So those that wait have places in a table of their own, and all others
 * get theirs when the first of them is asked for.
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
    uint32_t waiting;     /* number */
    struct table waits;   /* places in |all| of those that wait, or did so before */
    struct table by_call; /* of the first |indexed| ones */
    uint32_t indexed;
};

void recent_free(struct recent *r);
/* Adds a call.  Takes call->waiting over. */
int recent_add(struct recent *r, const struct recent_call *call, struct err *err);
/* Lets |at|, a place in |all|, wait.  Takes |waiting| over, also if it fails. */
int recent_wait(struct recent *r, uint32_t at, struct waiting *waiting, struct err *err);
/* Returns the call that waits, or NULL. */
struct recent_call *recent_waiting(const struct recent *r, uint64_t frame, uint32_t xid);
/* Sets *|call| to the call, or to NULL. */
int recent_find(struct recent *r, uint64_t frame, uint32_t xid, const struct recent_call **call,
                struct err *err);
/* Forgets complete calls in frames before |frame|. */
int recent_forget(struct recent *r, uint64_t frame, struct err *err);

#endif
