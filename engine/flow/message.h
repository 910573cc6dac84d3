/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/message.h
 *
 * One RPC message as found in a stream or datagram, on its way from the transports
 * (conn.h, framer.h) to the pairing (pair.h).
 */
#ifndef NFSDIGEST_FLOW_MESSAGE_H
#define NFSDIGEST_FLOW_MESSAGE_H

#include "base/err.h"
#include "flow/fits.h"
#include "flow/seen.h"
#include "link/frame.h"

enum {
    MESSAGE_MAX = 4 << 20,      /* bytes of a message that are kept; servers offer 1 MiB, */
    MESSAGE_WIRE_MAX = 1 << 30, /* and can be set to some MiB: no record mark claims more */
    MESSAGE_MIN = 8,
};

/* Two transport endpoints that talk to each other.  Side 0 is the one with the smaller
 * (address, port). */
struct flow {
    struct address address[2];
    uint16_t port[2];
    uint8_t transport;  /* 6 or 17 */
    uint8_t server;     /* the side that answers; valid once |id| is set */
    uint32_t id;        /* of its record; 0 while no message was found on it */
    uint32_t host[2];   /* ids of the addresses (object.h), set with |id| */
    uint64_t birth;     /* frame in which it was first seen */
    int64_t birth_time; /* of that frame */
    bool unsure;        /* it may be older: see past.h */
};

struct message {
    struct flow *flow;
    uint8_t side;        /* that sent it */
    const uint8_t *data; /* of the RPC message, without record marks: the part before any hole */
    uint32_t cap_len, wire_len;
    uint64_t frame, first_frame;
    int64_t time;
    uint32_t flags; /* SIGHTING_ bits */
    uint32_t ip_id; /* of its datagram (struct ip_payload); 0 over TCP */
};

/* Facts about an XID on a connection, as bits. */
enum {
    XID_WAITS = 1 << 0,    /* a call that waits for its reply */
    XID_ANSWERED = 1 << 1, /* a call that was answered */
    XID_HELD = 1 << 2,     /* a reply that waits for its call, and came at the question's frame or
                            * later */
    XID_AGAIN = 1 << 3,    /* an answered call that, after that frame, was answered more often than
                            * it was sent; or that was sent more often than it was answered */
    XID_MISFIT = 1 << 4,   /* a waiting call or a held reply, but its contents do not fit those of
                            * the message */
    XID_SURPLUS = 1 << 5,  /* the other half of the message, but bytes follow the message's end */
};

/* Asks if the other half of a message is known. */
struct question {
    const struct flow *flow;
    uint8_t side; /* that sent the message */
    uint32_t xid;
    uint64_t frame;        /* in which the message begins */
    struct captured piece; /* the known bytes of the message */
};

/* How a TCP connection ends. */
enum flow_end_kind {
    FLOW_END_KNOWN,    /* it has ended before; now more is acknowledged */
    FLOW_END_FIN,      /* |side| sends no more; everything before was read, or given up as lost */
    FLOW_END_RST,      /* |side| sent a RST; if the RST was false, the streams go on */
    FLOW_END_REPLACED, /* another connection between the same ports has begun */
    FLOW_END_EVICTED,  /* there is no room for it: what comes of it is another connection */
};

struct flow_over {
    const struct flow *flow;
    uint64_t acked; /* a frame: what the server sent in earlier ones has reached the client */
    uint64_t frame;
    int64_t time;
    uint8_t kind, side; /* enum flow_end_kind */
};

/* Bytes that could not be used. */
struct problem {
    const struct flow *flow;
    uint8_t kind; /* enum problem_kind */
    uint8_t side; /* that sent them */
    struct seen seen;
    uint64_t length;
};

struct record_connection_event;

/* The transports deliver here.  They call nothing else of the rest of the engine. */
struct message_host {
    /* A negative return stops everything. */
    int (*message)(void *ctx, const struct message *message, struct err *err);
    /* Returns the XID_ bits of a message's XID.  They decide doubtful cases in the search for
     * record marks. */
    unsigned (*knows)(void *ctx, const struct question *question);
    int (*problem)(void *ctx, const struct problem *problem, struct err *err);
    /* Called when a TCP connection has ended or was replaced by another one, and again for each
     * later segment of it. */
    int (*over)(void *ctx, const struct flow_over *over, struct err *err);
    /* Something happened to a TCP connection.  May be NULL. */
    int (*event)(void *ctx, const struct record_connection_event *event, struct err *err);
    void *ctx;
    uint64_t *memory; /* bytes that all framers have allocated; the framers update it */
};

#endif
