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
#include "flow/conn_event.h"

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
    bool holed;  /* listed in conns->holed */
    bool syn[2]; /* the SYN of this side was seen: |isn| is valid */
    uint32_t isn[2];
    struct {          /* a SYN that may begin another connection; later segments decide it */
        bool side[2]; /* |isn| of this side is valid */
        uint32_t isn[2];
        struct seen seen;
    } begin;
    bool over;         /* a FIN or RST came */
    bool spoke;        /* a segment came that is no SYN */
    bool asked;        /* one came that only the time before explains (past.h) */
    uint64_t acked[2]; /* frame that acknowledged everything [side] had sent until then */
    struct recent recent[2];
    struct conn_events *events; /* NULL: none are open */
    struct stream stream[];     /* two, for TCP only; [side] has what |side| sends */
};

/* Advances the clock to |time|, which must be later than all times before.  Do not call it for
 * packets without a time.  State from before the first time does not age by that first time. */
void conns_advance(struct conns *c, int64_t time);

/* Returns true if |port| is known to carry RPC (conn.h). */
bool conns_port_known(const struct conns *c, uint16_t port);

/* The ports of a packet, and the connection that it belongs to. */
struct conn_ports {
    uint16_t port[2]; /* of source and destination */
    uint8_t side;     /* the side of the connection that is the source; set by conn_get */
    uint32_t slot;    /* of the connection; set by conn_get */
};

/* Returns the connection of these endpoints.  Makes one if there is none.  Returns NULL with |err|
 * filled on failure. */
struct conn *conn_get(struct conns *c, const struct frame *frame, const struct ip_payload *p,
                      struct conn_ports *ports, struct err *err);

static inline struct seen seen_in(const struct frame *frame)
{
    return (struct seen){ frame->number, frame->time };
}

/* Notes that the connection has a hole, so that the next sweep looks at it. */
int conn_note_holed(struct conns *c, struct conn *x, uint32_t slot, struct err *err);

/* Looks again at the doubtful marks of both directions, after one of them went on. */
int conn_settle(struct conn *x, struct seen seen, struct err *err);

/* Gives up the holes of both directions, and reads the bytes that wait behind them. */
int conn_read_out(struct conn *x, struct seen seen, struct err *err);

/* Reports each FIN that waits behind a hole, once what it stands behind was read or given up. */
int conn_put_fins(struct conn *x, struct seen seen, struct err *err);

/* Ends both directions of a connection. */
int conn_end(struct conn *x, struct seen seen, struct err *err);

/* Makes room for other messages, if the framers have more than they may: what the least recently
 * used streams have begun is ended. */
int conns_relieve(struct conns *c, const struct frame *frame, struct err *err);

/* Takes a UDP datagram. */
int conn_udp(struct conns *c, const struct frame *frame, const struct ip_payload *p,
             struct err *err);

/* Takes a TCP segment.
 *
 * A RST or SYN can be false, and a receiver would ignore it (RFC 9293 s3.10.7.4, RFC 5961 s3 and
 * s4).  The receiver's state is not known here, so later segments decide:
 * - After a RST whose number is near the stream's, the next segment that does not continue the
 *   stream begins another connection.
 * - A SYN within a connection begins another one when its answer or its first bytes come.
 * - A segment that continues the streams shows that the RST or SYN was false. */
int conn_tcp(struct conns *c, const struct frame *frame, const struct ip_payload *p,
             struct err *err);

#endif
