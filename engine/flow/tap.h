/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/tap.h
 *
 * What the engine gives its caller besides records: each message for a caller that shows packets
 * (observer), and each message as it was captured for a caller that rewrites it (tap).  Pointers
 * are valid until the callback returns.
 */
#ifndef NFSDIGEST_FLOW_TAP_H
#define NFSDIGEST_FLOW_TAP_H

#include "base/bytes.h"
#include "link/frame.h"
#include "record/record.h"

struct flow_over;
struct message;
struct procedure;
struct rpc_auth;

/* A message, given to the observer as soon as it is known.  |operation| has the call's part for a
 * call, and everything for a reply. */
struct engine_message {
    const struct record_operation *operation;
    const struct sighting *sighting; /* of this message */
    bool is_reply;
    uint8_t repeat; /* enum repeat_kind, or 0 */
};

struct engine_observer {
    int (*message)(void *ctx, const struct engine_message *message, struct err *err);
    void *ctx;
};

enum tap_event {
    TAP_MESSAGE,
    TAP_HELD,   /* a reply whose call is not known yet; it comes again, with the same |ticket| */
    TAP_UNREAD, /* bytes in the place of a message that are not a message; nothing else is set */
    TAP_OVER,   /* a TCP connection has ended, as |over| says; nothing else is set */
};

/* A message as it was captured, for callers that rewrite it.  Messages come in the order of the
 * capture, except for replies that were held. */
struct engine_tapped {
    uint8_t event;   /* enum tap_event */
    uint64_t ticket; /* of a reply that was held; else 0 */
    const struct message *message;
    const struct procedure *procedure; /* of the call; NULL: the body cannot be read */
    const struct rpc_auth *credential; /* of a reply's call, for rpc_reply_in_clear; or NULL */
    const struct flow_over *over;      /* of TAP_OVER */
};

/* Returns 0, or a negative code.  For a call also 1: nobody asks for the paths of the operation, so
 * it has none.  That saves the memory of paths that no other operation needs. */
typedef int engine_tap(void *ctx, const struct engine_tapped *tapped, struct err *err);

#endif
