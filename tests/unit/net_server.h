/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/net_server.h
 *
 * The other end for tests of clients: a socket on loopback that does what the test says, call by
 * call, in the test's own thread.  The client's loop runs for |ns| at a time in between.
 */
#ifndef NFSDIGEST_UNIT_NET_SERVER_H
#define NFSDIGEST_UNIT_NET_SERVER_H

#include "base/bytes.h"
#include "net/address.h"
#include "net/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

struct server {
    struct loop *loop;
    struct timer timer;
    struct net_address address;
    int listening; /* or the UDP socket */
    int fd;        /* of the connection, or -1 */
    uint8_t record[1 << 16];
    uint32_t len;
    uint16_t peer_port;
    struct sockaddr_in peer;
};

static int server_stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

/* Runs the loop for |ns|, and some rounds more: on a busy machine the first may be the last. */
static inline void server_run(struct server *s, int64_t ns)
{
    struct err err = { 0 };

    s->timer = (struct timer){ .due = server_stop, .ctx = s->loop };
    for (int rounds = 5; rounds; rounds--, ns = 0) {
        assert_int_equal(loop_set(s->loop, &s->timer, loop_clock() + ns, &err), 0);
        if (loop_run(s->loop, &err) < 0)
            fail_msg("%s", err.text);
    }
    loop_unset(s->loop, &s->timer);
}

/* A loopback address of this process: a port that it gives up and takes again cannot be taken by
 * another process meanwhile, as long as that one uses 127.0.0.1. */
static inline struct net_address server_own_address(void)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };

    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (1 << 22) + ((uint32_t)getpid() & 0x1fffff));
    return (struct net_address){ .v4 = v4 };
}

static inline void server_listen(struct server *s, int type)
{
    struct sockaddr_in *address = &s->address.v4;
    socklen_t len = sizeof(*address);
    int one = 1;

    s->listening = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    assert_true(s->listening >= 0);
    setsockopt(s->listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (!address->sin_port)
        s->address = server_own_address();
    assert_int_equal(bind(s->listening, (struct sockaddr *)address, len), 0);
    assert_int_equal(getsockname(s->listening, (struct sockaddr *)address, &len), 0);
    if (type == SOCK_STREAM)
        assert_int_equal(listen(s->listening, 16), 0);
}

static inline void server_begin(struct server *s, int type)
{
    struct err err = { 0 };

    *s = (struct server){ .fd = -1 };
    s->loop = loop_new(&err);
    assert_non_null(s->loop);
    server_listen(s, type);
}

static inline void server_end(struct server *s)
{
    if (s->fd >= 0)
        close(s->fd);
    if (s->listening >= 0)
        close(s->listening);
    loop_free(s->loop);
}

/* Whether there is something to be read within a second, while the client runs. */
static inline bool server_wait(struct server *s, int fd)
{
    for (int i = 0; i < 1000; i++) {
        struct pollfd p = { .fd = fd, .events = POLLIN };

        if (poll(&p, 1, 0) > 0)
            return true;
        server_run(s, MS);
    }
    return false;
}

static inline void server_accept(struct server *s)
{
    socklen_t len = sizeof(s->peer);
    int one = 1;

    if (s->fd >= 0)
        close(s->fd);
    assert_true(server_wait(s, s->listening));
    s->fd = accept4(s->listening, (struct sockaddr *)&s->peer, &len, SOCK_CLOEXEC);
    assert_true(s->fd >= 0);
    s->peer_port = ntohs(s->peer.sin_port);
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static inline void server_read_bytes(struct server *s, uint8_t *to, size_t len)
{
    while (len) {
        ssize_t got;

        assert_true(server_wait(s, s->fd));
        got = read(s->fd, to, len);
        assert_true(got > 0);
        to += got;
        len -= (size_t)got;
    }
}

/* The next call, into |record|; returns its XID. */
static inline uint32_t server_read(struct server *s)
{
    uint8_t mark[4];

    server_read_bytes(s, mark, 4);
    assert_true(mark[0] & 0x80);
    s->len = load_be32(mark) & 0x7fffffff;
    assert_in_range(s->len, 40, sizeof(s->record));
    server_read_bytes(s, s->record, s->len);
    assert_int_equal(load_be32(s->record + 4), 0); /* CALL */
    assert_int_equal(load_be32(s->record + 8), 2);
    return load_be32(s->record);
}

static inline void server_write(struct server *s, const void *data, size_t len)
{
    assert_int_equal(send(s->fd, data, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* A reply that was accepted with SUCCESS (RFC 5531 s9): 24 bytes, and the results. */
static inline uint32_t server_reply_bytes(uint8_t *to, uint32_t xid, struct bytes results)
{
    memset(to, 0, 24);
    store_be32(to, xid);
    store_be32(to + 4, 1);
    if (results.len)
        memcpy(to + 24, results.data, results.len);
    return 24 + results.len;
}

static inline void server_reply(struct server *s, uint32_t xid, struct bytes results)
{
    uint8_t reply[4 + 24 + 4096];
    uint32_t len;

    assert_true(results.len <= 4096);
    len = server_reply_bytes(reply + 4, xid, results);
    store_be32(reply, 0x80000000u | len);
    server_write(s, reply, len + 4);
}

/* UDP */
static inline uint32_t server_receive(struct server *s)
{
    socklen_t len = sizeof(s->peer);
    ssize_t got;

    assert_true(server_wait(s, s->listening));
    got =
        recvfrom(s->listening, s->record, sizeof(s->record), 0, (struct sockaddr *)&s->peer, &len);
    assert_true(got >= 40);
    s->len = (uint32_t)got;
    s->peer_port = ntohs(s->peer.sin_port);
    return load_be32(s->record);
}

static inline void server_send(struct server *s, const void *data, size_t len)
{
    assert_int_equal(
        sendto(s->listening, data, len, 0, (struct sockaddr *)&s->peer, sizeof(s->peer)),
        (ssize_t)len);
}

static inline void server_answer(struct server *s, uint32_t xid, struct bytes results)
{
    uint8_t reply[24 + 4096];

    server_send(s, reply, server_reply_bytes(reply, xid, results));
}

#endif
