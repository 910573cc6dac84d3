/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_client.h
 *
 * RPC calls (RFC 5531) to one server, over one TCP connection or one UDP port, on a loop.
 *
 *     rpc_client_new
 *     rpc_client_begin, the arguments, rpc_client_end     for each call
 *     ... the call's function is called with the answer ...
 *     rpc_client_free
 *
 * Many calls may be outstanding; answers come in any order, and are matched by XID.  All calls of a
 * round leave in one write.  Each call that rpc_client_end accepted ends once: answered, timed out,
 * lost, or cancelled by rpc_client_free.
 *
 * Duplicates.  A server's duplicate request cache knows a call by its XID, its bytes, and the
 * client's address and port.  So XIDs count up from a random number: none is used again with other
 * bytes before 4,000 million others.  Over TCP a call is sent again only on a new connection, with
 * the same bytes and the same XID from the same port, and never because its answer is late.  Over
 * UDP it is sent again after |resend|, twice that, and so on.  A second socket holds a port that
 * the system chose, so that nobody else gets it between two connections.
 *
 * Connections.  The first call connects.  If a connection ends while calls are outstanding, the
 * client connects again: at once if the old connection brought an answer, else after |reconnect|,
 * twice that, and so on.  Bytes that are not RPC replies also end a connection.
 *
 * Memory: |calls| * about 200 bytes; the outstanding calls (without tails), at most |call_bytes|
 * and one call, once for resending and once while the system does not take them; 4 KiB for each of
 * |calls| that is kept for the next call; what record_stream.h says.
 */
#ifndef NFSDIGEST_NET_RPC_CLIENT_H
#define NFSDIGEST_NET_RPC_CLIENT_H

#include "net/loop.h"
#include "net/source_port.h"
#include "wire/rpc.h"
#include "wire/xdr_put.h"

struct rpc_client;

/* Times are ns. */
struct rpc_client_limits {
    uint32_t calls;       /* outstanding, 1 to 1 << 20 */
    uint64_t call_bytes;  /* bytes of the outstanding calls */
    uint32_t call_max;    /* bytes of a call */
    uint32_t reply_max;   /* bytes of a reply; a longer message is not a reply */
    int64_t timeout;      /* for a call; 0: no timeout */
    int64_t resend[2];    /* UDP: the first wait, the longest one */
    int64_t reconnect[2]; /* TCP: the same between attempts to connect */
    int64_t connect;      /* time for an attempt */
    int64_t silence;      /* the longest time without any acknowledgement from the peer's system */
    uint32_t attempts;    /* attempts to connect without an answer, before all calls are lost; 0: no
                           * limit */
};
/* 128 calls, 16 MiB, 4 MiB, 4 MiB, 60 s, 1 to 15 s, 100 ms to 10 s, 10 s, 60 s, no end.  More
 * outstanding calls on a connection make some servers shrink its window. */
extern const struct rpc_client_limits rpc_client_defaults;

struct rpc_client_setup {
    struct net_address server;
    bool udp;
    struct source_port from;
    struct rpc_client_limits limits;
};

enum rpc_client_event {
    RPC_CLIENT_CONNECTED,
    RPC_CLIENT_LOST,       /* the connection ended */
    RPC_CLIENT_FAILED,     /* an attempt to connect */
    RPC_CLIENT_NONSENSE,   /* the connection was closed: its bytes are not RPC replies */
    RPC_CLIENT_OTHER_PORT, /* the old port is no longer available: the server's duplicate request
                            * cache does not know the calls that are sent again */
    RPC_CLIENT_GAVE_UP,    /* all outstanding calls are lost */
};

struct rpc_answer;
/* Takes the answer of a call.  Returns 0, or a negative code that ends the loop. */
typedef int rpc_done(void *ctx, const struct rpc_answer *answer, struct err *err);

/* A message that is sent or has come, for those who record it. */
struct rpc_client_message {
    const struct net_address *own, *server; /* |own|: of family 0 if the system does not tell */
    bool udp, from_server;
    struct bytes message, tail; /* |tail|: of a call, as in rpc_client_end_with */
    rpc_done *done;             /* of a call, with its |ctx| */
    void *ctx;
};

/* All may be NULL.  The first two return 0, or a negative code that ends the loop. */
struct rpc_client_host {
    /* There is room for calls again.  Called at the end of a round. */
    int (*room)(void *ctx, struct err *err);
    /* |text| describes the event for people.  The client must not be freed here. */
    int (*event)(void *ctx, enum rpc_client_event event, const char *text, struct err *err);
    void *ctx;
    /* Sees each call whenever it is sent, also when it is sent again, and each message of the
     * server.  It must not use the client. */
    void (*message)(void *ctx, const struct rpc_client_message *message);
    /* The answer of this call has come, most probably, and will be told behind some others.  It may
     * fetch into the cache what it will need, and must not use the client. */
    void (*soon)(void *ctx, rpc_done *done, void *ctx_of_call);
};

/* -ERR_USAGE: limits that make no sense. */
struct rpc_client *rpc_client_new(struct loop *loop, const struct rpc_client_setup *setup,
                                  const struct rpc_client_host *host, struct err *err);
/* Frees the client.  NULL is allowed.  It may be called from all callbacks except |event|.
 * Outstanding calls end as RPC_CANCELLED; their functions must not use the client any more. */
void rpc_client_free(struct rpc_client *client);

/* --- calls */

enum rpc_outcome {
    RPC_ANSWERED,
    RPC_TIMED_OUT, /* it may have been executed */
    RPC_LOST,      /* RPC_CLIENT_GAVE_UP */
    RPC_CANCELLED,
};

struct rpc_answer {
    enum rpc_outcome outcome;
    uint32_t xid;
    struct bytes call; /* as it was sent, without the tail of rpc_client_end_with */
    int64_t called;    /* when rpc_client_end accepted it, or |now| of its target */
    uint32_t resent;   /* how often it was sent again */
    /* RPC_ANSWERED: */
    const struct rpc_header *header;
    struct bytes message; /* lives until the function returns */
    struct bytes body;    /* the results, if |header|->status is RPC_SUCCESS */
    int64_t arrived;
};

struct rpc_target {
    uint32_t program, version, procedure;
    const struct rpc_auth *credential; /* NULL: AUTH_NONE */
    struct bytes encoded; /* if it is not empty: credential and verifier as they are to be sent */
    int64_t now; /* 0: the client reads the clock, which takes longer than much of the rest */
};

/* Begins a call.  The caller writes the arguments to the result.  NULL: no more calls for now;
 * |room| will be called. */
struct xdr_put *rpc_client_begin(struct rpc_client *client, const struct rpc_target *target);
/* Ends the arguments.  The call is sent at the end of this round.  Returns 0; the error of
 * xdr_put_end if the credential or the arguments could not be written; or -ERR_SYSTEM without a
 * socket or memory.  After an error there is no call.  |xid| may be NULL. */
int rpc_client_end(struct rpc_client *client, rpc_done *done, void *ctx, uint32_t *xid,
                   struct err *err);
/* The same with |tail| behind the arguments, padded with zeros to a multiple of 4: contents that
 * are too long to be copied.  They must stay as they are until the client is freed. */
int rpc_client_end_with(struct rpc_client *client, struct bytes tail, rpc_done *done, void *ctx,
                        uint32_t *xid, struct err *err);
/* Drops the call; use it instead of rpc_client_end. */
void rpc_client_abandon(struct rpc_client *client);

enum { RPC_CLIENT_FULL = 1 };

/* Begins and ends a call with ready arguments.  RPC_CLIENT_FULL: there is no room. */
int rpc_client_call(struct rpc_client *client, const struct rpc_target *target,
                    struct bytes arguments, rpc_done *done, void *ctx, struct err *err);

/* Ends an outstanding call as RPC_CANCELLED; its answer counts as late.  Returns false if there is
 * no such call. */
bool rpc_client_cancel(struct rpc_client *client, uint32_t xid);

bool rpc_client_has_room(const struct rpc_client *client);

struct rpc_client_stats {
    uint32_t outstanding;
    uint16_t port; /* our own; 0: not connected yet */
    uint64_t calls, answers, timed_out, lost, cancelled, resent;
    uint64_t late, duplicate; /* replies to calls that ended without an answer, and with one */
    uint64_t unknown;         /* replies that match no recent call */
    uint64_t garbage;         /* messages that are not replies */
    uint64_t connects, connects_failed, connections_lost, other_ports;
    uint64_t not_sent; /* UDP: datagrams that the system did not accept, or that were refused */
    uint64_t bytes_out, bytes_in;
    uint64_t writes; /* system calls that sent something */
};
struct rpc_client_stats rpc_client_stats(const struct rpc_client *client);

#endif
