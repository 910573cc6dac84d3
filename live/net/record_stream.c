/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/record_stream.c
 *
 * Input is one buffer.  A record begins at |record|; its fragments are moved together behind its
 * first mark as they become complete, so that it is delivered in place.  |next| is where the next
 * mark is expected.
 *
 *     0 ... record: mark | assembled bytes | (gap of merged marks) | next: mark | bytes | end
 */
#include "net/record_stream.h"
#include "wire/rpc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MARK = 4, CHUNKS_AT_ONCE = 64 };

struct chunk {
    struct chunk *next;
    uint32_t len, sent;
    uint8_t data[];
};

struct record_stream {
    struct loop *loop;
    struct record_limits limits;
    struct record_host host;
    struct watch watch;
    struct idle flush;
    struct buf in;
    size_t record, next;
    uint32_t assembled;
    struct chunk *out, **out_tail;
    struct chunk *last; /* of |out| */
    uint64_t output;
    uint32_t busy; /* functions of this file that are under way */
    bool held, over, dead;
};

/* --- ends */

static void dispose(struct record_stream *s)
{
    while (s->out) {
        struct chunk *next = s->out->next;

        free(s->out);
        s->out = next;
    }
    buf_free(&s->in);
    free(s);
}

void record_stream_free(struct record_stream *s)
{
    int fd;

    if (!s)
        return;
    fd = s->watch.fd;
    loop_unidle(s->loop, &s->flush);
    loop_unwatch(s->loop, &s->watch);
    if (fd >= 0)
        close(fd);
    s->over = true;
    if (s->busy)
        s->dead = true;
    else
        dispose(s);
}

/* The owner may free the stream in a callback: what this file still needs of it lives until leave.
 */
static int leave(struct record_stream *s, int result)
{
    if (--s->busy == 0 && s->dead)
        dispose(s);
    return result;
}

static int end(struct record_stream *s, enum record_end why, int errno_value, struct err *err)
{
    if (s->over)
        return 0;
    s->over = true;
    loop_unidle(s->loop, &s->flush);
    return s->host.over(s->host.ctx, why, errno_value, err);
}

static bool may_read(const struct record_stream *s)
{
    return !s->held && !s->over && s->output <= s->limits.output_stop;
}

static int set_events(struct record_stream *s, struct err *err)
{
    uint32_t events = (may_read(s) ? EPOLLIN : 0) | (s->out ? EPOLLOUT : 0);

    return s->over ? 0 : loop_change(s->loop, &s->watch, events, err);
}

/* --- input */

/* Moves what is not delivered to the front, and gives memory back that a long record needed.  Marks
 * of fragments that were merged go, too: a record of any number of them takes no more than its
 * bytes. */
static void compact(struct record_stream *s)
{
    size_t whole = s->record + MARK + s->assembled, kept;

    if (s->next > whole) {
        memmove(s->in.data + whole, s->in.data + s->next, s->in.len - s->next);
        s->in.len -= s->next - whole;
        s->next = whole;
    }
    kept = s->in.len - s->record;
    if (kept == 0 && s->in.cap > 2 * RECORD_READ) {
        buf_free(&s->in);
    } else if (s->record) {
        memmove(s->in.data, s->in.data + s->record, kept);
        s->in.len = kept;
    }
    s->next -= s->record;
    s->record = 0;
}

/* 1: a whole record stands at |record|; 0: not yet; or -1: it is too long. */
static int assemble(struct record_stream *s)
{
    while (s->in.len - s->next >= MARK) {
        uint8_t *at = s->in.data + s->next;
        uint32_t mark = load_be32(at), len = mark & ~RPC_LAST_FRAGMENT;

        if (len > s->limits.record_max - s->assembled)
            return -1;
        if (s->in.len - s->next - MARK < len)
            return 0;
        memmove(s->in.data + s->record + MARK + s->assembled, at + MARK, len);
        s->assembled += len;
        s->next += MARK + len;
        if (mark & RPC_LAST_FRAGMENT)
            return 1;
    }
    return 0;
}

/* Delivers whole records while the owner takes them. */
static int deliver(struct record_stream *s, struct err *err)
{
    int whole, result = 0;

    while (result == 0 && may_read(s) && (whole = assemble(s)) != 0) {
        const uint8_t *data = s->in.data + s->record + MARK;
        uint32_t len = s->assembled;

        if (whole < 0)
            return end(s, RECORD_TOO_LONG, 0, err);
        s->record = s->next;
        s->assembled = 0;
        result = s->host.record(s->host.ctx, data, len, err);
    }
    compact(s);
    return result;
}

/* --- output */

static struct chunk *chunk_for(struct record_stream *s, uint32_t len)
{
    struct chunk *chunk = s->last;

    if (chunk && chunk->len + len <= RECORD_WRITE)
        return chunk;
    chunk = malloc(sizeof(*chunk) + (len > RECORD_WRITE ? len : RECORD_WRITE));
    if (!chunk)
        return NULL;
    *chunk = (struct chunk){ 0 };
    *s->out_tail = chunk;
    s->out_tail = &chunk->next;
    s->last = chunk;
    return chunk;
}

int record_stream_send(struct record_stream *s, const struct iovec *pieces, int count,
                       struct err *err)
{
    uint64_t len = 0;
    struct chunk *chunk;

    for (int i = 0; i < count; i++)
        len += pieces[i].iov_len;
    if (len >= RPC_LAST_FRAGMENT - RECORD_WRITE)
        return err_set(err, ERR_USAGE, "a record of %llu bytes does not fit into a fragment",
                       (unsigned long long)len);
    if (s->over)
        return 0;
    chunk = chunk_for(s, (uint32_t)len + MARK);
    if (!chunk)
        return err_memory(err, "records to be sent");
    store_be32(chunk->data + chunk->len, (uint32_t)len | RPC_LAST_FRAGMENT);
    chunk->len += MARK;
    for (int i = 0; i < count; i++) {
        memcpy(chunk->data + chunk->len, pieces[i].iov_base, pieces[i].iov_len);
        chunk->len += (uint32_t)pieces[i].iov_len;
    }
    s->output += len + MARK;
    loop_idle(s->loop, &s->flush);
    return 0;
}

static void sent(struct record_stream *s, size_t len)
{
    s->output -= len;
    while (len) {
        struct chunk *chunk = s->out;
        uint32_t left = chunk->len - chunk->sent;

        if (len < left) {
            chunk->sent += (uint32_t)len;
            return;
        }
        len -= left;
        s->out = chunk->next;
        if (!s->out) {
            s->out_tail = &s->out;
            s->last = NULL;
        }
        free(chunk);
    }
}

/* Sends what the socket takes. */
static int flush(struct record_stream *s, struct err *err)
{
    while (s->out) {
        struct iovec pieces[CHUNKS_AT_ONCE];
        struct msghdr message = { .msg_iov = pieces };
        ssize_t done;

        for (struct chunk *c = s->out; c && message.msg_iovlen < CHUNKS_AT_ONCE; c = c->next)
            pieces[message.msg_iovlen++] = (struct iovec){ c->data + c->sent, c->len - c->sent };
        done = sendmsg(s->watch.fd, &message, MSG_NOSIGNAL);
        if (done >= 0)
            sent(s, (size_t)done);
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            return end(s, RECORD_FAILED, errno, err);
    }
    return set_events(s, err);
}

/* The peer sends no more, but may still read what waits for it. */
static int finish(struct record_stream *s, struct err *err)
{
    enum record_end why = s->in.len > s->record ? RECORD_CUT : RECORD_CLOSED;
    int result = flush(s, err);

    return result < 0 ? result : end(s, why, 0, err);
}

static int read_more(struct record_stream *s, struct err *err)
{
    ssize_t got;

    if (buf_reserve(&s->in, RECORD_READ) < 0)
        return end(s, RECORD_FAILED, ENOMEM, err);
    got = recv(s->watch.fd, s->in.data + s->in.len, RECORD_READ, 0);
    if (got > 0) {
        s->in.len += (size_t)got;
        return deliver(s, err);
    }
    if (got == 0)
        return finish(s, err);
    return errno == EAGAIN || errno == EINTR ? 0 : end(s, RECORD_FAILED, errno, err);
}

/* --- the loop */

static int on_flush(void *ctx, struct err *err)
{
    struct record_stream *s = ctx;
    int result;

    s->busy++;
    result = flush(s, err);
    /* records may wait that were not delivered while too much output did */
    if (result == 0 && s->in.len > s->next) {
        result = deliver(s, err);
        if (result == 0)
            result = set_events(s, err);
    }
    return leave(s, result);
}

static int on_ready(void *ctx, uint32_t events, struct err *err)
{
    struct record_stream *s = ctx;
    int result = 0;

    if (s->over)
        return 0;
    s->busy++;
    if (events & EPOLLOUT)
        loop_idle(s->loop, &s->flush);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && may_read(s)) {
        result = read_more(s, err);
        if (result == 0)
            result = set_events(s, err);
    } else if (events & (EPOLLHUP | EPOLLERR)) {
        /* both directions are over: nobody is left who reads what waits */
        result = end(s, RECORD_FAILED, ECONNRESET, err);
    }
    return leave(s, result);
}

/* --- owners */

struct record_stream *record_stream_new(struct loop *loop, int fd,
                                        const struct record_limits *limits,
                                        const struct record_host *host, struct err *err)
{
    struct record_stream *s = calloc(1, sizeof(*s));

    if (!s) {
        err_memory(err, "a connection");
        close(fd);
        return NULL;
    }
    s->loop = loop;
    s->limits = *limits;
    s->host = *host;
    s->out_tail = &s->out;
    s->flush = (struct idle){ .run = on_flush, .ctx = s };
    s->watch = (struct watch){ .fd = fd, .ready = on_ready, .ctx = s };
    if (loop_watch(loop, &s->watch, EPOLLIN, err) < 0) {
        s->watch.fd = -1;
        close(fd);
        record_stream_free(s);
        return NULL;
    }
    return s;
}

void record_stream_hold(struct record_stream *s)
{
    s->held = true;
    loop_idle(s->loop, &s->flush);
}

int record_stream_resume(struct record_stream *s, struct err *err)
{
    (void)err;
    s->held = false;
    loop_idle(s->loop, &s->flush);
    return 0;
}

void record_stream_trim(struct record_stream *s)
{
    if (!s->busy && s->in.len == 0)
        buf_free(&s->in);
}

uint64_t record_stream_output(const struct record_stream *s)
{
    return s->output;
}

uint64_t record_stream_input(const struct record_stream *s)
{
    return s->in.len - s->record;
}

int record_stream_fd(const struct record_stream *s)
{
    return s->watch.fd;
}
