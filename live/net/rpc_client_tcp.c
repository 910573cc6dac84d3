/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_client_tcp.c
 *
 * The connection of an RPC client.
 *
 * Why the port stays: knfsd's duplicate request cache, for one, looks calls up by XID, checksum,
 * length, procedure, address and port.  A call whose answer was lost with its connection is found
 * there only if it comes from the same port with the same bytes; from another port a REMOVE that
 * was executed is executed again, and fails.  So the port of the first connection is bound again
 * for each later one.  For the system to allow that, nothing may be left of the old connection: it
 * is reset, because a closed one would keep the addresses and ports for a minute (TIME_WAIT).
 */
#include "net/rpc_client_parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { PORT_PATIENCE = 8 /* attempts to have the old port */ };

static int connect_now(struct rpc_client *c, struct err *err);

/* --- ends */

static void reset_on_close(int fd)
{
    struct linger linger = { .l_onoff = 1, .l_linger = 0 };

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

static void drop(struct rpc_client *c, bool reset)
{
    int fd = c->connecting.fd;

    if (fd >= 0) {
        loop_unwatch(c->loop, &c->connecting);
        if (reset)
            reset_on_close(fd);
        close(fd);
    }
    if (c->stream && reset)
        reset_on_close(record_stream_fd(c->stream));
    if (c->stream)
        c->stats.writes += record_stream_writes(c->stream);
    record_stream_free(c->stream);
    c->stream = NULL;
}

static void let_go(struct rpc_client *c)
{
    if (c->held >= 0)
        close(c->held);
    c->held = -1;
}

/* For good: the port may be used again, too, but the peer should see an orderly end. */
void tcp_close(struct rpc_client *c)
{
    loop_unset(c->loop, &c->attempt);
    drop(c, false);
    let_go(c);
}

static int give_up(struct rpc_client *c, const char *text, struct err *err)
{
    int result;

    c->failures = 0;
    result = client_event(c, RPC_CLIENT_GAVE_UP, text, err);
    return result < 0 ? result : client_end_all(c, RPC_LOST, err);
}

/* Connects again after a while, if there is a call that needs it. */
static int try_again(struct rpc_client *c, bool at_once, struct err *err)
{
    const struct rpc_client_limits *limits = &c->setup.limits;
    int64_t wait = limits->reconnect[0];

    loop_unset(c->loop, &c->attempt);
    if (!c->oldest)
        return 0;
    if (limits->attempts && c->failures >= limits->attempts) {
        char text[80];

        snprintf(text, sizeof(text), "%u attempts without an answer", c->failures);
        return give_up(c, text, err);
    }
    for (uint32_t i = 1; i < c->failures && wait < limits->reconnect[1]; i++)
        wait *= 2;
    if (wait > limits->reconnect[1])
        wait = limits->reconnect[1];
    return loop_set(c->loop, &c->attempt, loop_clock() + (at_once ? 0 : wait), err);
}

/* The connection, or the attempt, is over; |failures| became 0 with the last answer. */
static int lost(struct rpc_client *c, enum rpc_client_event event, const char *text,
                struct err *err)
{
    bool at_once = event == RPC_CLIENT_LOST && c->failures == 0;
    int result;

    drop(c, true);
    *(event == RPC_CLIENT_FAILED ? &c->stats.connects_failed : &c->stats.connections_lost) += 1;
    c->failures++;
    result = client_event(c, event, text, err);
    return result < 0 ? result : try_again(c, at_once, err);
}

/* --- records */

static NOT_INLINE int is_nonsense(struct rpc_client *c, uint32_t len, struct err *err)
{
    char text[100];

    snprintf(text, sizeof(text), "a record of %u bytes is not an RPC reply", len);
    return lost(c, RPC_CLIENT_NONSENSE, text, err);
}

static int on_record(void *ctx, const uint8_t *data, uint32_t len, struct err *err)
{
    struct rpc_client *c = ctx;
    int result;

    client_enter(c);
    result = client_message(c, data, len, err);
    if (result == 1)
        result = is_nonsense(c, len, err);
    return client_leave(c, result);
}

/* The slot of the message is fetched now; its owner learns of it two messages later. */
static void on_soon(void *ctx, const uint8_t *data, uint32_t len)
{
    struct rpc_client *c = ctx;
    const struct slot *slot = NULL, *earlier = c->soon[1];
    uint32_t xid = len < 4 ? 0 : load_be32(data);
    const struct place *place = &c->places[xid & c->place_mask];

    if (len >= 4 && place->used && place->xid == xid && place->slot != SLOT_NONE) {
        slot = &c->slots[place->slot];
        __builtin_prefetch(slot);
        __builtin_prefetch((const uint8_t *)slot + 64);
    }
    c->soon[1] = c->soon[0];
    c->soon[0] = slot;
    if (earlier && earlier->done && earlier != c->open)
        c->host.soon(c->host.ctx, earlier->done, earlier->ctx);
}

static int on_over(void *ctx, enum record_end end, int errno_value, struct err *err)
{
    struct rpc_client *c = ctx;
    char text[128];
    int result;

    client_enter(c);
    switch (end) {
    case RECORD_CLOSED:
        result = lost(c, RPC_CLIENT_LOST, "the server closed the connection", err);
        break;
    case RECORD_CUT:
        result = lost(c, RPC_CLIENT_LOST, "the server closed the connection within a reply", err);
        break;
    case RECORD_TOO_LONG:
        c->stats.garbage++;
        snprintf(text, sizeof(text), "a record of more than %u bytes", c->setup.limits.reply_max);
        result = lost(c, RPC_CLIENT_NONSENSE, text, err);
        break;
    default:
        result = lost(c, RPC_CLIENT_LOST, strerror(errno_value), err);
        break;
    }
    return client_leave(c, result);
}

static inline int send_record(struct rpc_client *c, struct slot *slot, struct err *err)
{
    struct bytes message = { slot->message.data, (uint32_t)slot->message.len };

    c->stats.bytes_out += slot->message.len + slot->tail.len;
    client_show_call(c, slot);
    return record_stream_send_bytes(c->stream, message, slot->tail, err);
}

int tcp_send(struct rpc_client *c, struct slot *slot, struct err *err)
{
    slot->sent = c->stream;
    if (c->stream)
        return send_record(c, slot, err);
    if (c->connecting.fd >= 0 || c->attempt.place)
        return 0; /* all that is outstanding is sent when the connection is there */
    return loop_set(c->loop, &c->attempt, loop_now(c->loop), err);
}

/* --- connections */

/* Remembers the port for the next connection.  False: the socket is connected to itself, as
 * happens when the server is away and its port is one that the system chooses from. */
static bool learn_port(struct rpc_client *c, int fd)
{
    struct net_address own, peer;

    if (net_address_of_socket(fd, &own, NULL) < 0 || net_address_of_peer(fd, &peer, NULL) < 0)
        return true; /* it will end at once */
    if (net_address_equal(&own, &peer))
        return false;
    /* the port alone: the way to the server, and so our address, may change */
    if (!c->setup.from.local.family)
        c->setup.from.local.family = own.family;
    net_address_set_port(&c->setup.from.local, net_address_port(&own));
    c->own = own;
    c->has_port = true;
    c->port_taken = 0;
    return true;
}

int tcp_take(struct rpc_client *c, int fd, struct err *err)
{
    /* Replies are always read, whatever waits to be sent: a server that cannot send stops reading
     */
    struct record_limits limits = { .record_max = c->setup.limits.reply_max,
                                    .output_stop = UINT32_MAX };
    struct record_host host = { on_record, on_over, c, c->host.soon ? on_soon : NULL };
    int one = 1, silence = (int)(c->setup.limits.silence / 1000000);
    int result = 0;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (silence) {
        int seconds = silence / 3000 + 1;

        /* a peer that is gone: while bytes are under way, and while only its answer is missing */
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof(silence));
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
    }
    c->stream = record_stream_new(c->loop, fd, &limits, &host, err);
    if (!c->stream)
        return -ERR_SYSTEM;
    c->stats.connects++;
    for (struct slot *slot = c->oldest; slot && result == 0; slot = slot->next) {
        /* queued on no connection before, or on one that is gone */
        if (slot->sent) {
            slot->resent++;
            c->stats.resent++;
        }
        slot->sent = true;
        result = send_record(c, slot, err);
    }
    /* last: calls that are made there are sent by themselves */
    return result < 0 ? result : client_event(c, RPC_CLIENT_CONNECTED, "connected", err);
}

static int on_connected(void *ctx, uint32_t events, struct err *err)
{
    struct rpc_client *c = ctx;
    int error = 0, result, fd = c->connecting.fd;
    socklen_t len = sizeof(error);

    (void)events;
    client_enter(c);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    if (!error && !learn_port(c, fd))
        error = ECONNREFUSED;
    if (error) {
        result = lost(c, RPC_CLIENT_FAILED, strerror(error), err);
    } else {
        loop_unset(c->loop, &c->attempt);
        loop_unwatch(c->loop, &c->connecting);
        result = tcp_take(c, fd, err);
    }
    return client_leave(c, result);
}

/* The old port cannot be had: later, or, when that was tried often enough, from another one. */
static int port_is_taken(struct rpc_client *c, const char *text, struct err *err)
{
    int result;

    if (++c->port_taken < PORT_PATIENCE)
        return lost(c, RPC_CLIENT_FAILED, text, err);
    c->port_taken = 0;
    c->has_port = false;
    let_go(c);
    c->stats.other_ports++;
    result = client_event(c, RPC_CLIENT_OTHER_PORT, text, err);
    return result < 0 ? result : connect_now(c, err);
}

/* Holds a port for the client's first and all later connections. */
static void hold(struct rpc_client *c, struct source_port *from)
{
    c->held = source_port_hold(from, &c->setup.server);
    if (c->held < 0)
        return; /* the system chooses one with each attempt, until one is connected */
    c->setup.from.local = from->local;
    c->has_port = true;
}

static int connect_now(struct rpc_client *c, struct err *err)
{
    struct source_port from = c->setup.from;
    struct err why = { 0 };
    int error, fd;

    if (c->has_port)
        from.kind = SOURCE_PORT_FIXED;
    else if (from.kind == SOURCE_PORT_ANY)
        hold(c, &from);
    if (source_port_connect(&from, &c->setup.server, SOCK_STREAM, &fd, &error, &why) < 0) {
        if (c->has_port && (error == EADDRINUSE || error == EADDRNOTAVAIL))
            return port_is_taken(c, why.text, err);
        if (error != EACCES && error != EAFNOSUPPORT)
            return lost(c, RPC_CLIENT_FAILED, why.text, err);
        c->stats.connects_failed++; /* and so will all other attempts */
        return give_up(c, why.text, err);
    }
    c->connecting = (struct watch){ .fd = fd, .ready = on_connected, .ctx = c };
    if (loop_watch(c->loop, &c->connecting, EPOLLOUT, err) < 0) {
        c->connecting.fd = -1;
        close(fd);
        return -ERR_SYSTEM;
    }
    return loop_set(c->loop, &c->attempt, loop_clock() + c->setup.limits.connect, err);
}

/* Time to connect, or an attempt took too long. */
int tcp_due(void *ctx, struct err *err)
{
    struct rpc_client *c = ctx;
    int result;

    client_enter(c);
    result = c->connecting.fd >= 0 ? lost(c, RPC_CLIENT_FAILED, strerror(ETIMEDOUT), err)
                                   : connect_now(c, err);
    return client_leave(c, result);
}
