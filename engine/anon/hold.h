/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/hold.h
 *
 * The queue of messages behind a reply whose call is not known yet: the output keeps the order of
 * the capture, and how such a reply is to be read is known only when its call came, or did not.
 * A call that comes late, since its TCP stream waited for a lost segment, goes before the replies
 * that wait for calls: there it was in the capture.  Empty at most times.
 *
 * Memory: HOLD_BYTES_MAX of messages.  When there are more, the reply at the head goes out as it
 * is known: its header only.
 */
#ifndef NFSDIGEST_ANON_HOLD_H
#define NFSDIGEST_ANON_HOLD_H

#include "anon/frames.h"
#include "wire/rpc.h"

enum { HOLD_BYTES_MAX = 32 << 20 };

/* A message, or the end of a connection, with all that is needed to write it. */
struct ready {
    struct frames_flow flow;
    struct frames_place at;
    struct rewritten message;
    const struct procedure *procedure; /* of its call; NULL: the body cannot be read */
    bool has_credential;
    struct rpc_auth credential; /* of a reply's call; what it points to is gone */
    bool is_end;                /* then there is no message, but: */
    struct frames_over over;
};

typedef int hold_write(void *ctx, const struct ready *ready, struct err *err);

struct held_message;

struct hold {
    hold_write *write;
    void *ctx;
    struct held_message *head, *tail;
    uint64_t bytes;
    uint64_t overflows; /* replies that went out unread because of HOLD_BYTES_MAX */
};

void hold_init(struct hold *h, hold_write *write, void *ctx);
void hold_free(struct hold *h);

/* A message whose place in the order is here.  |ticket| 0: it may be written once all before it
 * are; else it waits for hold_resolve. */
int hold_put(struct hold *h, uint64_t ticket, const struct ready *ready, struct err *err);

/* The message that waits under |ticket| is to be |ready| (its flow, side and time stay). Does
 * nothing when it went out already. */
int hold_resolve(struct hold *h, uint64_t ticket, const struct ready *ready, struct err *err);

/* Writes everything. */
int hold_end(struct hold *h, struct err *err);

#endif
