/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/conn_parts.h
 *
 * Shared by the files of connections: the table (conn.c), TCP segments (conn_tcp.c) and the two
 * directions of a TCP connection together (conn_both.c).
 */
#ifndef NFSDIGEST_FLOW_CONN_PARTS_H
#define NFSDIGEST_FLOW_CONN_PARTS_H

#include "flow/recent.h"
#include "flow/conn.h"

struct key { /* no padding */
    uint8_t address[2][16];
    uint16_t port[2];
    uint8_t transport, version;
    uint16_t zero;
};

struct conn {
    struct flow flow;
    struct key key;
    uint64_t hash;
    uint32_t newer, older; /* slots */
    bool rpc;
    bool holed;  /* in conns->holed */
    bool syn[2]; /* |isn| of this side was seen */
    uint32_t isn[2];
    struct {          /* a SYN that may begin another connection: what follows must say so */
        bool side[2]; /* |isn| of this side is known */
        uint32_t isn[2];
        struct seen seen;
    } begin;
    bool over;         /* a FIN or RST came */
    uint64_t acked[2]; /* frame in which all that [side] had sent until then was acknowledged */
    struct recent recent[2];
    struct stream stream[]; /* two, for TCP only; [side] has what |side| sends */
};

/* The clock goes on to |time|, which is later than all before.  Packets without a time leave it
 * alone, and the first time does not move it: what was seen before is not old by that. */
void conns_advance(struct conns *c, int64_t time);

bool conns_port_known(const struct conns *c, uint16_t port);

/* The transport's part of a packet's way. */
struct conn_ports {
    uint16_t port[2]; /* of source and destination */
    uint8_t side;     /* which side of the connection the source is, */
    uint32_t slot;    /* and the connection's: both from conn_get */
};

/* The connection of these endpoints, made if need be. */
struct conn *conn_get(struct conns *c, const struct frame *frame, const struct ip_payload *p,
                      struct conn_ports *ports, struct err *err);

static inline struct seen seen_in(const struct frame *frame)
{
    return (struct seen){ frame->number, frame->time };
}

/* The connection has a hole, which is to be swept. */
int conn_note_holed(struct conns *c, struct conn *x, uint32_t slot, struct err *err);

/* Looks again at what is doubtful in either direction, after the other one went on. */
int conn_settle(struct conn *x, struct seen seen, struct err *err);

/* Reads all that waits behind holes, in both directions. */
int conn_read_out(struct conn *x, struct seen seen, struct err *err);

/* Ends both directions of a connection. */
int conn_end(struct conn *x, struct seen seen, struct err *err);

/* A TCP segment.
 *
 * A RST or SYN is believed as a receiver would (RFC 9293 s3.10.7.4, RFC 5961 s3 and s4), and as a
 * receiver can't be asked, by what follows: a RST whose number is near the stream's says only that
 * the next segment that does not continue it begins another connection.  A SYN amid a connection
 * begins another when its answer, or its first bytes, come.  Whatever continues the streams refutes
 * both. */
int conn_tcp(struct conns *c, const struct frame *frame, const struct ip_payload *p,
             struct err *err);

#endif
