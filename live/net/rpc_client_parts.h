/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_client_parts.h
 *
 * Shared by the files of the RPC client.  rpc_client.c has the calls; rpc_client_tcp.c and
 * rpc_client_udp.c each have a transport.
 */
#ifndef NFSDIGEST_NET_RPC_CLIENT_PARTS_H
#define NFSDIGEST_NET_RPC_CLIENT_PARTS_H

#include "net/datagram.h"
#include "net/record_stream.h"
#include "net/rpc_client.h"

enum { SLOT_NONE = 0xffffffffu, SLOT_KEEPS = 4096 /* bytes, for the next call */ };

/* For what few calls need: it would make a function that all need longer. */
#define NOT_INLINE __attribute__((noinline))

/* A call.  Outstanding ones are in a list, the oldest first; free ones in another. */
struct slot {
    struct slot *next, *prev;
    struct buf message;
    struct bytes tail; /* its owner's */
    uint32_t xid, resent;
    int64_t called;
    rpc_done *done;
    void *ctx;
    bool sent; /* TCP: on some connection */
    /* UDP: */
    struct rpc_client *client;
    struct timer again;
    int64_t wait;
    bool queued;
};

/* A place to look up XIDs by their last bits.  Calls take XIDs in order, and skip those whose place
 * is taken.  There are twice as many places as calls, so at most half of the XIDs are skipped. */
struct place {
    uint32_t xid, slot; /* slot SLOT_NONE: the call has ended, */
    bool used, answered;
};

struct rpc_client {
    struct loop *loop;
    struct rpc_client_setup setup;
    struct rpc_client_host host;
    struct rpc_client_stats stats;

    struct slot *slots, *free, *oldest, *newest;
    uint32_t slot_count; /* one more than calls, for a call whose end is being reported */
    struct place *places;
    uint32_t place_mask, next_xid;
    uint64_t bytes; /* of outstanding calls, without tails */
    struct slot *open;
    struct xdr_put put;
    int64_t now;                /* of the target of |open| */
    const struct slot *soon[2]; /* of the messages that were announced last; NULL: none */
    struct timer expiry;        /* for the oldest call, or earlier */
    struct idle room;
    struct timer room_again;
    bool room_wanted;

    /* TCP */
    struct record_stream *stream;
    struct watch connecting;
    struct timer attempt;   /* the next one, or the end of this one */
    uint32_t failures;      /* attempts in a row without an answer */
    uint32_t port_taken;    /* attempts in a row that could not get the old port */
    bool has_port;          /* |setup.from| has the port of the last connection */
    int held;               /* source_port_hold, or -1 */
    struct net_address own; /* of this connection or socket */
    /* UDP */
    struct watch datagrams;
    struct idle flush;
    struct slot **queue; /* calls to send in this round; NULL: ended meanwhile */
    uint32_t queue_count;
    uint8_t *input;

    uint32_t busy; /* number of functions of the client that are running */
    bool dead;
};

/* --- rpc_client.c */

/* Callbacks may free the client.  Between these two calls it stays valid. */
static inline void client_enter(struct rpc_client *c)
{
    c->busy++;
}
int client_leave(struct rpc_client *c, int result);

/* Shows a call that is sent to those who record. */
void client_show(const struct rpc_client *c, const struct slot *slot);
static inline void client_show_call(const struct rpc_client *c, const struct slot *slot)
{
    if (c->host.message)
        client_show(c, slot);
}
/* Takes a message from the server.  Returns 0, 1 if it is not a reply, or a negative code. */
int client_message(struct rpc_client *c, const uint8_t *data, uint32_t len, struct err *err);
/* Ends all calls. */
int client_end_all(struct rpc_client *c, enum rpc_outcome outcome, struct err *err);
int client_event(struct rpc_client *c, enum rpc_client_event event, const char *text,
                 struct err *err);

/* --- rpc_client_limits.c */

/* -ERR_USAGE: the setup makes no client. */
int client_check(const struct rpc_client_setup *setup, struct err *err);

/* --- rpc_client_tcp.c */

int tcp_send(struct rpc_client *c, struct slot *slot, struct err *err);
void tcp_close(struct rpc_client *c);
/* Takes a socket that is connected. */
int tcp_take(struct rpc_client *c, int fd, struct err *err);
int tcp_due(void *ctx, struct err *err); /* c->attempt */

/* --- rpc_client_udp.c */

int udp_send(struct rpc_client *c, struct slot *slot, struct err *err);
void udp_forget(struct rpc_client *c, struct slot *slot);
void udp_close(struct rpc_client *c);

#endif
