/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/conn.h
 *
 * Finds RPC messages in IP payloads: TCP connections, UDP datagrams, and which of them carry RPC.
 *
 * A TCP connection carries RPC if one of its ports is known to (111, 2049, 20048, ports from the
 * options, ports that PORTMAP, RPCBIND or earlier calls named).  It also does from the first
 * segment on that begins with a record mark and a call.  Of all other connections only the first
 * bytes of each segment are examined, and they are counted.  A datagram carries RPC if it begins
 * with a call, or if it is a reply and a call waits for it, or if it is a reply from a known port.
 *
 * Memory: |limit| connections and port pairs.  If there are more, the streams of the least recently
 * used ones are ended.  All segments of streams are bounded by their pool, and the buffers of
 * framers by the same number again.  If the buffers exceed it, the least recently used streams are
 * ended until a quarter of it is free.
 */
#ifndef NFSDIGEST_FLOW_CONN_H
#define NFSDIGEST_FLOW_CONN_H

#include "base/table.h"
#include "flow/options.h"
#include "flow/stream.h"

struct conn;

struct conns {
    struct message_host host;
    struct stream_pool pool;
    struct past past;    /* used if pool.past leads to it */
    struct conn **conns; /* by slot; NULL where free */
    uint32_t count, cap, limit;
    uint32_t free_slot; /* first free slot, chained through free_next */
    uint32_t *free_next;
    struct table by_key;
    uint32_t newest, oldest; /* slots, by use */
    uint32_t *holed;         /* slots of connections that wait behind a hole */
    uint32_t holed_count, holed_cap;
    int64_t swept;    /* the time from which the next sweep is due */
    uint32_t unswept; /* segments since */
    uint8_t ports[65536 / 8];
    /* counters: */
    uint64_t evicted, foreign_segments, foreign_datagrams, datagrams, headers_cut;
    uint64_t copies; /* of segments */
};

/* Copies |host|, but sets its |memory|.  The ports named above and those of |options| are known
 * from the beginning. */
int conns_init(struct conns *c, const struct message_host *host,
               const struct engine_options *options, struct err *err);
void conns_free(struct conns *c);

/* Notes that |port| carries RPC. */
void conns_learn_port(struct conns *c, uint16_t port);

/* Takes a TCP or UDP payload. */
int conns_payload(struct conns *c, const struct frame *frame, const struct ip_payload *payload,
                  struct err *err);

/* Takes a whole RPC message instead of payloads (engine_message). */
int conns_message(struct conns *c, const struct whole_message *whole, struct err *err);

/* Takes bytes in their order instead of payloads (engine_sent). */
int conns_sent(struct conns *c, const struct sent *sent, struct err *err);

/* Ends all streams. */
int conns_end(struct conns *c, struct seen seen, struct err *err);

/* Adds the connections, the ports and the clock to an outline (outline.h).  Returns 0 or
 * -ERR_SYSTEM.
 */
struct canon;
struct outline;
int conns_outline(const struct conns *c, struct canon *canon, struct outline *out);

/* The border of a piece (past.h): forgets what was asked before it, and what happened to
 * connections. */
void conns_border(struct conns *c);

uint64_t conns_layout(uint64_t hash); /* see pack_layout */
int conns_save(const struct conns *c, struct buf *out);
int conns_restore(struct conns *c, struct unpack *in, struct err *err);

#endif
