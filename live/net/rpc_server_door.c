/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_server_door.c
 *
 * Connections and sockets: how calls come in, and when a connection is over.  Contract:
 * rpc_server.h.
 */
#include "net/rpc_server_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

enum { PORT_TRIES = 16 };

/* --- connections */

void rpc_connection_close(struct rpc_connection *c, uint64_t *why)
{
    struct rpc_server *server = c->server;

    if (why)
        ++*why;
    *c->self = c->next;
    if (c->next)
        c->next->self = c->self;
    rpc_kept_loosen(c);
    record_stream_free(c->stream);
    if (c->counted)
        listeners_left(server->listeners, &c->ends.peer);
    free(c);
}

static int on_record(void *ctx, const uint8_t *data, uint32_t len, struct err *err)
{
    struct rpc_connection *c = ctx;
    struct rpc_call call;
    int result;

    call.ends = c->ends;
    call.transport = RPC_TCP;
    call.connection = c->number;
    call.parts.connection = c;
    call.parts.socket = NULL;
    c->last_record = loop_now(c->server->loop);
    result = rpc_server_take(c->server, &call, (struct bytes){ data, len }, err);
    if (result <= 0)
        return result;
    rpc_connection_close(c, NULL); /* what is no call is counted by itself */
    return 0;
}

static int on_over(void *ctx, enum record_end end, int errno_value, struct err *err)
{
    struct rpc_connection *c = ctx;
    struct rpc_server_counts *counts = &c->server->counts;
    uint64_t *whys[] = {
        [RECORD_CLOSED] = NULL,
        [RECORD_CUT] = &counts->cut,
        [RECORD_TOO_LONG] = &counts->too_long,
        [RECORD_FAILED] = &counts->broken,
    };

    (void)errno_value;
    (void)err;
    rpc_connection_close(c, whys[end]);
    return 0;
}

/* Takes |fd|.  What fails here is one connection's matter. */
static int begin_connection(struct rpc_server *server, int fd, const struct datagram_ends *ends,
                            bool counted, struct err *err)
{
    struct record_limits limits = rpc_server_stream_limits(server);
    struct rpc_connection *c = calloc(1, sizeof(*c));

    if (!c) {
        close(fd);
        return err_memory(err, "a connection");
    }
    c->server = server;
    c->ends = *ends;
    c->counted = counted;
    c->incomplete_since = c->active = loop_now(server->loop);
    c->stream = record_stream_new(server->loop, fd, &limits,
                                  &(struct record_host){ on_record, on_over, c }, err);
    if (!c->stream) {
        free(c);
        return -ERR_SYSTEM;
    }
    c->number = ++server->counts.connections;
    c->next = server->connections;
    if (c->next)
        c->next->self = &c->next;
    c->self = &server->connections;
    server->connections = c;
    if (server->full)
        record_stream_hold(c->stream);
    return 0;
}

static int on_accepted(void *ctx, int fd, const struct net_address *peer, struct err *err)
{
    struct rpc_server *server = ctx;
    struct datagram_ends ends = { .peer = *peer };
    struct err unseen; /* counted */

    (void)err;
    if (net_address_of_socket(fd, &ends.local, &unseen) < 0) {
        close(fd);
    } else if (begin_connection(server, fd, &ends, true, &unseen) == 0) {
        return 0;
    }
    server->counts.broken++;
    listeners_left(server->listeners, peer);
    return 0;
}

int rpc_server_adopt(struct rpc_server *server, int fd, struct err *err)
{
    struct datagram_ends ends;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
        err_set(err, ERR_SYSTEM, "a connection: %s", strerror(errno));
    } else if (net_address_of_peer(fd, &ends.peer, err) == 0 &&
               net_address_of_socket(fd, &ends.local, err) == 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)); /* not of a pair */
        return begin_connection(server, fd, &ends, false, err);
    }
    close(fd);
    return -ERR_SYSTEM;
}

/* --- UDP */

static int on_datagram(void *ctx, struct bytes data, const struct datagram_ends *ends,
                       struct err *err)
{
    struct rpc_server_socket *socket = ctx;
    struct rpc_call call;
    int result;

    call.ends = *ends;
    call.transport = RPC_UDP;
    call.connection = 0;
    call.parts.connection = NULL;
    call.parts.socket = socket->socket;
    result = rpc_server_take(socket->server, &call, data, err);
    return result < 0 ? result : 0;
}

static int listen_udp(struct rpc_server *server, const struct net_address *address,
                      struct net_address *bound, struct err *err)
{
    struct rpc_server_socket *socket = &server->sockets[server->socket_count];

    if (server->socket_count == RPC_SERVER_SOCKETS)
        return err_set(err, ERR_USAGE, "more than %d UDP addresses to listen at",
                       RPC_SERVER_SOCKETS);
    socket->server = server;
    socket->socket = datagram_open(server->loop, address, &server->limits.datagram,
                                   &(struct datagram_host){ on_datagram, socket }, err);
    if (!socket->socket)
        return -ERR_SYSTEM;
    server->socket_count++;
    if (bound)
        *bound = *datagram_address(socket->socket);
    if (server->full)
        datagram_hold(socket->socket);
    return 0;
}

int rpc_server_listen(struct rpc_server *server, enum rpc_transport transport,
                      const struct net_address *address, struct net_address *bound, struct err *err)
{
    return transport == RPC_TCP ? listeners_add(server->listeners, address, bound, err)
                                : listen_udp(server, address, bound, err);
}

int rpc_server_listen_both(struct rpc_server *server, const struct net_address *address,
                           struct net_address *bound, struct err *err)
{
    struct net_address at;

    for (int left = net_address_port(address) ? 1 : PORT_TRIES;; left--) {
        int result = listen_udp(server, address, &at, err);

        if (result < 0)
            return result;
        result = listeners_add(server->listeners, &at, bound, err);
        if (result == 0)
            return 0;
        /* a free port of UDP may be taken over TCP */
        datagram_free(server->sockets[--server->socket_count].socket);
        if (left == 1)
            return result;
    }
}

/* --- all of them */

void rpc_server_hold(struct rpc_server *server)
{
    for (struct rpc_connection *c = server->connections; c; c = c->next)
        record_stream_hold(c->stream);
    for (uint32_t i = 0; i < server->socket_count; i++)
        datagram_hold(server->sockets[i].socket);
}

void rpc_server_resume(struct rpc_server *server)
{
    for (struct rpc_connection *c = server->connections; c; c = c->next)
        if (!c->held)
            record_stream_resume(c->stream, NULL);
    for (uint32_t i = 0; i < server->socket_count; i++)
        datagram_resume(server->sockets[i].socket);
}

struct rpc_server *rpc_server_new(struct loop *loop, const struct rpc_server_limits *limits,
                                  const struct rpc_tap *tap, struct err *err)
{
    struct rpc_server *server = calloc(1, sizeof(*server));

    if (!server) {
        err_memory(err, "the RPC server");
        return NULL;
    }
    server->loop = loop;
    server->limits = *limits;
    if (tap)
        server->tap = *tap;
    server->header.direction = RPC_REPLY;
    server->header.verifier.valid = true; /* AUTH_NONE */
    server->listeners =
        listeners_new(loop, &limits->listen, &(struct listen_host){ on_accepted, server }, err);
    if (!server->listeners || rpc_server_watch_over(server, err) < 0) {
        rpc_server_free(server);
        return NULL;
    }
    return server;
}

void rpc_server_free(struct rpc_server *server)
{
    if (!server)
        return;
    loop_unset(server->loop, &server->sweep);
    while (server->connections)
        rpc_connection_close(server->connections, NULL);
    while (server->loose) {
        struct rpc_call *next = server->loose->parts.next;

        free(server->loose);
        server->loose = next;
    }
    for (uint32_t i = 0; i < server->socket_count; i++)
        datagram_free(server->sockets[i].socket);
    listeners_free(server->listeners);
    buf_free(&server->reply);
    free(server);
}
