/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/rpc_server_lab.h
 *
 * A server with one small program, and a client that writes and reads words by hand.
 */
#ifndef NFSDIGEST_TESTS_RPC_SERVER_LAB_H
#define NFSDIGEST_TESTS_RPC_SERVER_LAB_H

#include "net/rpc_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

/* The program, versions 2 to 3 and 5. */
enum {
    LAB_PROGRAM = 0x20000001,
    LAB_ECHO = 1, /* its arguments */
    LAB_KEEP,     /* detached: lab->kept */
    LAB_GARBAGE,  /* refuse */
    LAB_SYSTEM,
    LAB_WEAK,
    LAB_UNKNOWN,
    LAB_SILENT, /* no answer */
    LAB_TWICE,
    LAB_DROP,
    LAB_LONG,    /* a result of as many bytes as the first argument says */
    LAB_GIVE_UP, /* begins a result, then refuses */
    LAB_AGAIN,   /* answers with the bytes of the reply before */
    LAB_ERROR,   /* ends the server */
    LAB_PROCEDURES,
};

enum { LAB_KEPT_MAX = 256 };

struct lab {
    struct loop *loop;
    struct rpc_server *server;
    struct timer timer;
    struct rpc_call *kept[LAB_KEPT_MAX];
    uint32_t kept_count;
    struct rpc_call seen; /* the last one: only numbers in it are valid */
    uint8_t before[256];  /* the reply before */
    struct bytes sent;
};

static inline void lab_store(struct lab *lab, struct bytes sent)
{
    assert_in_range(sent.len, 0, sizeof(lab->before));
    memcpy(lab->before, sent.data, sent.len);
    lab->sent = (struct bytes){ lab->before, sent.len };
}

static inline int lab_echo(struct lab *lab, struct rpc_call *call, struct err *err)
{
    struct bytes sent;

    xdr_put_bytes(rpc_reply_begin(call), call->body.data, call->body.len);
    assert_int_equal(rpc_reply_end(call, &sent, err), 0);
    if (sent.len <= sizeof(lab->before))
        lab_store(lab, sent);
    return 0;
}

static inline int lab_call(void *ctx, struct rpc_call *call, struct err *err)
{
    struct lab *lab = ctx;
    static const enum rpc_status refusals[] = { [LAB_GARBAGE] = RPC_GARBAGE_ARGS,
                                                [LAB_SYSTEM] = RPC_SYSTEM_ERR,
                                                [LAB_UNKNOWN] = RPC_PROC_UNAVAIL };

    lab->seen = *call;
    switch (call->header.procedure) {
    case LAB_ECHO:
        return lab_echo(lab, call, err);
    case LAB_KEEP:
        assert_in_range(lab->kept_count, 0, LAB_KEPT_MAX - 1);
        lab->kept[lab->kept_count] = rpc_call_detach(call);
        assert_non_null(lab->kept[lab->kept_count++]);
        return 0;
    case LAB_WEAK:
        return rpc_reply_auth_error(call, RPC_AUTH_TOOWEAK, err);
    case LAB_SILENT:
        return 0;
    case LAB_TWICE:
        lab_echo(lab, call, err);
        return lab_echo(lab, call, err);
    case LAB_DROP:
        rpc_call_drop(call);
        return rpc_reply_status(call, RPC_SUCCESS, NULL, err); /* late */
    case LAB_LONG:
        xdr_put_zeros(rpc_reply_begin(call), load_be32(call->body.data));
        return rpc_reply_end(call, NULL, err);
    case LAB_GIVE_UP:
        xdr_put_u32(rpc_reply_begin(call), 0xdeadbeef);
        return rpc_reply_status(call, RPC_GARBAGE_ARGS, NULL, err);
    case LAB_AGAIN:
        return rpc_reply_again(call, lab->sent, err);
    case LAB_ERROR:
        return err_set(err, ERR_SYSTEM, "asked for");
    default:
        return rpc_reply_status(call, refusals[call->header.procedure], NULL, err);
    }
}

static inline int lab_stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

static inline void lab_begin_with(struct lab *lab, const struct rpc_server_limits *limits,
                                  const struct rpc_tap *tap)
{
    struct err err = { 0 };
    struct rpc_program program = { LAB_PROGRAM, 2, 3, LAB_PROCEDURES, lab_call, lab };

    memset(lab, 0, sizeof(*lab));
    lab->loop = loop_new(&err);
    assert_non_null(lab->loop);
    lab->server = rpc_server_new(lab->loop, limits, tap, &err);
    assert_non_null(lab->server);
    assert_int_equal(rpc_server_add(lab->server, &program, &err), 0);
    program.low = program.high = 5;
    assert_int_equal(rpc_server_add(lab->server, &program, &err), 0);
}

static inline void lab_begin(struct lab *lab)
{
    lab_begin_with(lab, &RPC_SERVER_LIMITS, NULL);
}

static inline void lab_end(struct lab *lab)
{
    rpc_server_free(lab->server);
    loop_free(lab->loop);
}

/* Runs the server for |ns|; 0: what is there now. */
static inline int lab_run_err(struct lab *lab, int64_t ns, struct err *err)
{
    int result;

    lab->timer = (struct timer){ .due = lab_stop, .ctx = lab->loop };
    assert_int_equal(loop_set(lab->loop, &lab->timer, loop_clock() + ns, err), 0);
    result = loop_run(lab->loop, err);
    loop_unset(lab->loop, &lab->timer);
    return result;
}

/* And some rounds more, if it takes time at all: on a busy machine the first may be the last. */
static inline void lab_run(struct lab *lab, int64_t ns)
{
    struct err err = { 0 };

    for (int rounds = ns ? 5 : 1; rounds; rounds--, ns = 0)
        if (lab_run_err(lab, ns, &err) < 0)
            fail_msg("%s", err.text);
}

/* A connection to it; the client's end. */
static inline int lab_connect(struct lab *lab)
{
    struct err err = { 0 };
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(rpc_server_adopt(lab->server, pair[0], &err), 0);
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    return pair[1];
}

static inline struct net_address lab_loopback(int family)
{
    struct net_address a;
    struct err err = { 0 };

    if (net_address_parse(family == AF_INET ? "127.0.0.1:0" : "[::1]:0", true, &a, &err) < 0)
        fail_msg("%s", err.text);
    return a;
}

static inline int lab_socket(int type, const struct net_address *to)
{
    int fd = socket(to->family, type | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, &to->any, net_address_size(to)), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* --- the client */

static inline void lab_write(int fd, const void *data, size_t len)
{
    assert_int_equal(write(fd, data, len), (ssize_t)len);
}

/* Words in network order; returns bytes. */
static inline size_t lab_words(uint8_t *to, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        store_be32(to + 4 * i, words[i]);
    return 4 * count;
}

/* A record of one call with AUTH_NONE and |body_words| words of arguments, all of value |xid|. */
static inline void lab_send(int fd, uint32_t xid, uint32_t procedure, uint32_t body_words)
{
    uint32_t words[64] = {
        0x80000000 | (40 + 4 * body_words), xid, 0, 2, LAB_PROGRAM, 3, procedure, 0, 0, 0, 0
    };
    uint8_t bytes[sizeof(words)];

    assert_in_range(body_words, 0, 50);
    for (uint32_t i = 0; i < body_words; i++)
        words[11 + i] = xid;
    lab_write(fd, bytes, lab_words(bytes, words, 11 + body_words));
}

static inline bool lab_is_closed(int fd)
{
    uint8_t byte;
    ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

    return got == 0 || (got < 0 && errno != EAGAIN);
}

/* Takes one record that is there, as words; 0: none. */
static inline size_t lab_receive(int fd, uint32_t *words, size_t most)
{
    uint8_t bytes[4096];
    uint32_t len;

    if (recv(fd, bytes, 4, MSG_DONTWAIT) != 4)
        return 0;
    len = load_be32(bytes) & 0x7fffffff;
    assert_true(load_be32(bytes) & 0x80000000);
    assert_in_range(len, 0, 4 * most);
    assert_in_range(len, 0, sizeof(bytes));
    assert_int_equal(recv(fd, bytes, len, MSG_DONTWAIT), (ssize_t)len);
    for (uint32_t i = 0; i < len / 4; i++)
        words[i] = load_be32(bytes + 4 * i);
    return len / 4;
}

/* The next record is an accepted reply to |xid| with |body_words| words of |xid|. */
static inline void lab_expect(int fd, uint32_t xid, uint32_t body_words)
{
    uint32_t words[64];

    assert_int_equal(lab_receive(fd, words, 64), 6 + body_words);
    assert_int_equal(words[0], xid);
    assert_int_equal(words[1], 1);
    for (int i = 2; i < 6; i++)
        assert_int_equal(words[i], 0);
    for (uint32_t i = 0; i < body_words; i++)
        assert_int_equal(words[6 + i], xid);
}

static inline void lab_expect_nothing(int fd)
{
    uint8_t byte;

    assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK), -1);
}

#endif
