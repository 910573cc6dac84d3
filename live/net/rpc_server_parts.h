/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_server_parts.h
 *
 * Shared by the files of rpc_server: rpc_server.c dispatches, rpc_server_reply.c answers,
 * rpc_server_kept.c keeps detached calls, rpc_server_door.c has connections and sockets,
 * rpc_server_sweep.c ends connections that take too much time or memory.
 */
#ifndef NFSDIGEST_NET_RPC_SERVER_PARTS_H
#define NFSDIGEST_NET_RPC_SERVER_PARTS_H

#include "net/rpc_server.h"

struct rpc_connection {
    struct rpc_server *server;
    struct record_stream *stream;
    struct datagram_ends ends;
    uint64_t number;
    struct rpc_connection *next, **self;
    struct rpc_call *kept; /* its detached calls */
    uint32_t kept_count;
    bool counted; /* by the listeners */
    bool held;    /* for its own detached calls */
    /* For the sweep: */
    int64_t last_record, incomplete_since, active;
    uint64_t input_seen, output_seen;
};

struct rpc_server_socket {
    struct rpc_server *server;
    struct datagram_socket *socket;
};

struct rpc_server {
    struct loop *loop;
    struct rpc_server_limits limits;
    struct rpc_tap tap;
    struct rpc_server_counts counts;
    struct rpc_program programs[RPC_SERVER_PROGRAMS];
    uint32_t program_count;
    /* the door: */
    struct listeners *listeners;
    struct rpc_server_socket sockets[RPC_SERVER_SOCKETS];
    uint32_t socket_count;
    struct rpc_connection *connections;
    struct record_memory memory; /* unless |limits|.memory is 0 */
    struct timer sweep;
    /* detached calls: */
    struct rpc_call *loose; /* those without a connection */
    uint32_t kept_count;
    uint64_t kept_bytes;
    bool full;
    /* replies: */
    struct rpc_call *current; /* of a program that is being called */
    struct rpc_header header; /* of a reply */
    struct buf reply;
    struct xdr_put put;
};

/* Answers a call, or gives it to its program.  |data| is its message; the header is read here.
 * Returns 1 if it is not a call; this is counted. */
int rpc_server_take(struct rpc_server *server, struct rpc_call *call, struct bytes data,
                    struct err *err);

/* Sends a refusal of any kind, with the details in |server|->header. */
int rpc_reply_refuse(struct rpc_call *call, enum rpc_status status, struct bytes *sent,
                     struct err *err);

/* Counts |why|, one of the server's counts, and closes the connection. */
void rpc_connection_close(struct rpc_connection *connection, uint64_t *why);

/* Sets up the sweep and the memory of connections, after |server|'s loop and limits. */
int rpc_server_watch_over(struct rpc_server *server, struct err *err);
/* The limits of a connection's stream. */
struct record_limits rpc_server_stream_limits(struct rpc_server *server);

/* Stop and resume all reading.  Connections with |held| stay held. */
void rpc_server_hold(struct rpc_server *server);
void rpc_server_resume(struct rpc_server *server);
/* Moves the detached calls of a connection that ends to |server|->loose. */
void rpc_kept_loosen(struct rpc_connection *connection);

#endif
