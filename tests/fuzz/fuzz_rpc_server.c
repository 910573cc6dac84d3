/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_rpc_server.c
 *
 * Any bytes from a client of an RPC server over TCP, in any pieces.  Held to: the bytes that come
 * back are those of a second, simple server below, whatever the pieces; a connection is closed when
 * that one gives up.
 *
 * Input: how the bytes are cut (1), bytes.
 */
#include "net/rpc_server.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PROGRAM = 100003, LOW = 2, HIGH = 3, RECORD_MAX = 2048, REPLY_MAX = 1024 };
enum { INPUT_MAX = 16 << 10, OUTPUT_MAX = 128 << 10, ROUNDS_MAX = 100000, KEPT_MAX = 4 };
/* Echo, echo by a detached call, kept for a round and never answered, answered twice, dropped,
 * refused, not registered. */
enum { ECHO = 1, LATER, NEVER, TWICE, DROP, GARBAGE, PROCEDURES };

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* --- the simple server */

struct model {
    uint8_t out[OUTPUT_MAX];
    size_t len;
    bool over; /* it closes */
};

static void say(struct model *m, const uint32_t *words, uint32_t count, struct bytes body)
{
    uint32_t size = 4 * count + body.len;

    require(m->len + 4 + size <= sizeof(m->out));
    store_be32(m->out + m->len, 0x80000000 | size);
    for (uint32_t i = 0; i < count; i++)
        store_be32(m->out + m->len + 4 + 4 * i, words[i]);
    if (body.len)
        memcpy(m->out + m->len + 4 + 4 * count, body.data, body.len);
    m->len += 4 + size;
}

#define SAY(m, body, ...)                                                                          \
    say(m, (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4, body)

static const struct bytes nothing;

static void model_program(struct model *m, const struct rpc_header *h, struct bytes body)
{
    for (int times = h->procedure == TWICE ? 2 : 1; times; times--) {
        if (h->procedure == NEVER)
            return;
        if (h->procedure == DROP)
            m->over = true;
        else if (h->procedure == GARBAGE)
            SAY(m, nothing, h->xid, 1, 0, 0, 0, RPC_GARBAGE_ARGS);
        else if (body.len + 24 > REPLY_MAX)
            SAY(m, nothing, h->xid, 1, 0, 0, 0, RPC_SYSTEM_ERR);
        else
            SAY(m, body, h->xid, 1, 0, 0, 0, RPC_SUCCESS);
    }
}

static void model_call(struct model *m, struct bytes message)
{
    struct rpc_header h;
    enum rpc_result result = rpc_parse(message.data, message.len, message.len, &h);
    struct bytes body = { message.data + h.body, h.body_len };

    if (message.len >= 12 && load_be32(message.data + 4) == 0 && load_be32(message.data + 8) != 2)
        SAY(m, nothing, load_be32(message.data), 1, 1, 0, 2, 2);
    else if (result != RPC_OK || h.direction != RPC_CALL)
        m->over = true;
    else if (h.credential.flavor > 1)
        SAY(m, nothing, h.xid, 1, 1, 1, RPC_AUTH_REJECTEDCRED);
    else if (!h.credential.valid)
        SAY(m, nothing, h.xid, 1, 1, 1, RPC_AUTH_BADCRED);
    else if (h.verifier.flavor)
        SAY(m, nothing, h.xid, 1, 1, 1, RPC_AUTH_BADVERF);
    else if (h.program != PROGRAM)
        SAY(m, nothing, h.xid, 1, 0, 0, 0, RPC_PROG_UNAVAIL);
    else if (h.version < LOW || h.version > HIGH)
        SAY(m, nothing, h.xid, 1, 0, 0, 0, RPC_PROG_MISMATCH, LOW, HIGH);
    else if (h.procedure == 0)
        SAY(m, nothing, h.xid, 1, 0, 0, 0, RPC_SUCCESS);
    else if (h.procedure >= PROCEDURES)
        SAY(m, nothing, h.xid, 1, 0, 0, 0, RPC_PROC_UNAVAIL);
    else
        model_program(m, &h, body);
}

static void model_run(struct model *m, const uint8_t *data, size_t size)
{
    uint8_t record[RECORD_MAX];
    uint32_t len = 0;

    m->len = 0;
    m->over = false;
    while (!m->over && size >= 4) {
        uint32_t mark = load_be32(data), more = mark & 0x7fffffff;

        if (more > RECORD_MAX - len) {
            m->over = true;
            return;
        }
        if (more > size - 4)
            return;
        memcpy(record + len, data + 4, more);
        len += more;
        data += 4 + more;
        size -= 4 + more;
        if (mark & 0x80000000) {
            model_call(m, (struct bytes){ record, len });
            len = 0;
        }
    }
}

/* --- the real one */

static struct loop *loop;
static struct rpc_server *server;
static struct rpc_call *kept[KEPT_MAX];
static uint32_t kept_count;

static int echo(struct rpc_call *call, struct err *err)
{
    xdr_put_bytes(rpc_reply_begin(call), call->body.data, call->body.len);
    return rpc_reply_end(call, NULL, err);
}

static int on_call(void *ctx, struct rpc_call *call, struct err *err)
{
    struct rpc_call *later;

    (void)ctx;
    switch (call->header.procedure) {
    case LATER:
        later = rpc_call_detach(call);
        require(later && later->header.xid == call->header.xid);
        memset((void *)(uintptr_t)call->body.data, 0xee, call->body.len);
        require(echo(later, err) == 0);
        rpc_call_free(later);
        return 0;
    case NEVER:
        require(kept_count < KEPT_MAX); /* the bound on calls in progress */
        kept[kept_count] = rpc_call_detach(call);
        require(kept[kept_count++]);
        return 0;
    case TWICE:
        require(echo(call, err) == 0);
        return echo(call, err);
    case DROP:
        rpc_call_drop(call);
        return 0;
    case GARBAGE:
        xdr_put_u32(rpc_reply_begin(call), 1);
        return rpc_reply_status(call, RPC_GARBAGE_ARGS, NULL, err);
    default:
        return echo(call, err);
    }
}

static int on_stop(void *ctx, struct err *err)
{
    (void)ctx;
    (void)err;
    while (kept_count)
        rpc_call_free(kept[--kept_count]);
    loop_stop(loop);
    return 0;
}

static void begin(void)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    struct rpc_program program = { PROGRAM, LOW, HIGH, PROCEDURES, on_call, NULL };
    struct err err;

    limits.record_max = RECORD_MAX;
    limits.reply_max = REPLY_MAX;
    limits.connection_calls = KEPT_MAX;
    limits.slow = limits.idle = 0;
    loop = loop_new(&err);
    require(loop != NULL);
    server = rpc_server_new(loop, &limits, NULL, &err);
    require(server && rpc_server_add(server, &program, &err) == 0);
}

static void run_round(void)
{
    static struct timer stop = { .due = on_stop };
    struct err err;

    require(loop_set(loop, &stop, loop_clock(), &err) == 0);
    require(loop_run(loop, &err) == 0);
}

struct got {
    uint8_t bytes[OUTPUT_MAX];
    size_t len;
    bool closed;
};

/* Whether anything came. */
static bool take(int fd, struct got *got)
{
    ssize_t n = recv(fd, got->bytes + got->len, sizeof(got->bytes) - got->len, MSG_DONTWAIT);

    if (n > 0)
        got->len += (size_t)n;
    if (n == 0)
        got->closed = true;
    return n > 0;
}

static void run(const uint8_t *data, size_t size, uint32_t cut, struct got *got)
{
    struct err err;
    int pair[2];
    uint64_t calls, rounds = 0;

    got->len = 0;
    got->closed = false;
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    require(rpc_server_adopt(server, pair[0], &err) == 0);
    for (size_t at = 0; at < size && !got->closed;) {
        size_t piece = cut ? 1 + (cut >> 16) % ((cut & 0xff) + 1) : size;

        cut = cut ? (cut & 0xff) | (cut * 1664525 + 1013904223) << 8 : 0;
        piece = piece < size - at ? piece : size - at;
        if (send(pair[1], data + at, piece, MSG_NOSIGNAL) != (ssize_t)piece)
            break;
        at += piece;
        run_round();
        take(pair[1], got);
    }
    do { /* what was held */
        calls = rpc_server_counts(server)->calls;
        run_round();
        run_round();
        require(++rounds < ROUNDS_MAX);
    } while (take(pair[1], got) || rpc_server_counts(server)->calls != calls);
    if (!got->closed) {
        shutdown(pair[1], SHUT_WR);
        run_round();
        while (take(pair[1], got))
            ;
        require(got->closed);
        got->closed = false; /* by the client's wish */
    }
    close(pair[1]);
    run_round();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model model;
    static struct got got;

    if (size < 1 || size > INPUT_MAX)
        return 0;
    if (!server)
        begin();
    model_run(&model, data + 1, size - 1);
    for (uint32_t way = 0; way < 2; way++) {
        run(data + 1, size - 1, way ? data[0] | 1u << 20 : 0, &got);
        require(got.closed == model.over);
        /* replies of the round in which it gives up are lost */
        require(model.over ? got.len <= model.len : got.len == model.len);
        require(memcmp(got.bytes, model.out, got.len) == 0);
    }
    return 0;
}
