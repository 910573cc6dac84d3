/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/pair.h
 *
 * Pairs messages into operations.
 *
 * A call is identified by server, client, XID and digest.  If the same call comes again on the
 * same flow, it is a retransmission; over UDP also on a flow that began later, and over TCP on a
 * connection that began later, once the earlier one has ended, or has not answered it for some
 * seconds: no client sends again over TCP before that.  Otherwise these are calls of two programs
 * that count XIDs alike.  It is none either if its reply has reached the client over the connection
 * that has ended.  A call with another digest under the same XID is a new call.  Over UDP, the same
 * datagram again is a copy (pair_again.c).
 *
 * A reply belongs to the latest unanswered call with its XID on its flow.  If there is none, it
 * belongs to one on an older flow that its own flow may have replaced, in the same sense.  Over UDP
 * it can also belong to a call from the same client port to another address of the server, if there
 * is only one.
 *
 * A reply without such a call is held for a while, because captures can be out of order.  A later
 * call takes a held reply if the reply is at most reorder_span (options.h) earlier than the call;
 * if one of them has no time, at most HELD_BEFORE frames.  A larger span would be wrong, because
 * the captured call may be a retransmission of a call that was not captured, and clients send again
 * after 100 ms at the earliest.  Over TCP no client sends again so soon: when such a reply is given
 * up, it goes to the call that waits, unless a better reply came.  Any other reply that is given up
 * is a repeated reply of an answered call, or an operation without a call.
 *
 * Memory: see calls.h; held replies HELD_MAX and HELD_BYTES_MAX; PAIR_ENDS ended connections.
 */
#ifndef NFSDIGEST_FLOW_PAIR_H
#define NFSDIGEST_FLOW_PAIR_H

#include "flow/calls.h"
#include "flow/credential.h"
#include "flow/message.h"
#include "flow/object.h"
#include "flow/options.h"
#include "flow/past.h"
#include "flow/scan.h"
#include "flow/tap.h"

enum {
    HELD_MAX = 4096,
    HELD_KEYS = 1024,
    HELD_BYTES_MAX = 8 << 20,
    HELD_BEFORE = 16, /* frames by which captures swap a call and its reply */
    PAIR_ENDS = 16384,
};

/* A reply that waits for its call. */
struct held {
    struct held *next;
    struct flow flow;
    struct message message; /* leads to |flow| and |data| */
    int64_t since;          /* clock */
    uint64_t ticket;        /* given to the tap */
    uint8_t data[];
};

/* A connection that has ended. */
struct flow_end {
    uint64_t acked; /* a frame: replies in earlier frames have reached the client */
    uint32_t flow;  /* 0: none */
};

struct pair {
    struct sink sink;
    struct engine_observer observer; /* |message| may be NULL */
    engine_tap *tap;                 /* may be NULL */
    void *tap_ctx;
    uint64_t last_ticket;
    uint64_t ticket; /* of the held reply that is being answered, or 0 */
    bool messages_only;
    bool block_digests;
    struct buf blocks; /* of the message that is taken */
    struct objects *objects;
    struct credentials credentials;
    struct calls calls;
    const int64_t *clock;
    struct past *past; /* NULL: everything is known */
    int64_t retransmit_span, skew, hold_span;
    void (*learn_port)(void *ctx, uint16_t port);
    void *learn_port_ctx;
    struct held *held, **held_tail;
    uint32_t held_count;
    uint64_t held_bytes;
    uint16_t held_keys[HELD_KEYS]; /* number of held replies, by the last bits of their hashes */
    uint64_t last_operation;
    uint32_t last_flow;
    struct flow_end *ends; /* PAIR_ENDS, by id modulo that */
    /* counters: */
    uint64_t operations, call_messages, reply_messages, repeats, copies, problems, opaque, partial,
        malformed, other_address, provisional;
};

/* The parts of the engine that the pairing uses.  They must outlive it. */
struct pair_host {
    const struct sink *sink;                /* copied */
    const struct engine_observer *observer; /* copied; or NULL */
    struct objects *objects;
    const int64_t *clock; /* read at each message: the latest capture time seen */
    struct past *past;    /* or NULL */
    void (*learn_port)(void *ctx, uint16_t port);
    void *ctx;
};

int pair_init(struct pair *p, const struct engine_options *options, const struct pair_host *host,
              struct err *err);
void pair_set_tap(struct pair *p, engine_tap *tap, void *ctx);
void pair_free(struct pair *p);

/* The functions of struct message_host (message.h). */
int pair_message(struct pair *p, const struct message *message, struct err *err);
unsigned pair_knows(struct pair *p, const struct question *question);
int pair_over(struct pair *p, const struct flow_over *over, struct err *err);
int pair_problem(struct pair *p, const struct problem *problem, struct err *err);

/* Gives up calls and replies that are too old.  Cheap if there are none. */
int pair_expire(struct pair *p, struct err *err);

/* Gives up all waiting calls and replies, because the capture ended. */
int pair_end(struct pair *p, struct err *err);

/* Puts operations for all waiting calls and replies, labelled CAPTURE_ENDED, REPLY_LOST or
 * CALL_LOST, but keeps them waiting. */
int pair_pause(struct pair *p, struct err *err);

/* Adds calls and replies to an outline (outline.h).  Returns 0 or -ERR_SYSTEM. */
struct canon;
struct conns;
struct outline;
int pair_outline(const struct pair *p, const struct conns *conns, struct canon *canon,
                 struct outline *out);

/* Forgets the answered calls of |frame| and of earlier ones, and the replies that wait for their
 * calls: those are of an earlier piece, as far as they are true. */
void pair_forget(struct pair *p, uint64_t frame);

struct unpack;
uint64_t pair_layout(uint64_t hash); /* see pack_layout */
int pair_save(const struct pair *p, struct buf *out);
int pair_restore(struct pair *p, struct unpack *in, struct err *err);
/* Whether all that was restored was seen before the clock, which must have been restored, too. */
bool pair_clock_fits(const struct pair *p);

#endif
