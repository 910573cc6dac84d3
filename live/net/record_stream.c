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
#include "base/grow.h"
#include "wire/rpc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MARK = 4, PIECES_AT_ONCE = 128, TAIL_COPIED = 1024 };

struct chunk {
    uint32_t len, pieces; /* |pieces| of the queue that lie in it */
    uint8_t data[];
};

/* Bytes to be sent, in a chunk or somewhere else (chunk NULL). */
struct piece {
    const uint8_t *data;
    uint32_t len;
    struct chunk *chunk;
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
    struct piece *out; /* those from |out_at| to |out_end| wait */
    uint32_t out_at, out_end, out_cap;
    struct chunk *filling; /* takes the next copies; NULL if nothing waits */
    uint64_t output, copies, writes;
    uint32_t busy; /* functions of this file that are under way */
    bool held, over, dead;
};

/* --- ends */

/* A piece of the chunk is gone. */
static void leave_chunk(struct record_stream *s, struct chunk *chunk)
{
    if (chunk && --chunk->pieces == 0 && chunk != s->filling)
        free(chunk);
}

static void dispose(struct record_stream *s)
{
    for (uint32_t i = s->out_at; i < s->out_end; i++)
        leave_chunk(s, s->out[i].chunk);
    free(s->filling);
    free(s->out);
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
    uint32_t events = (may_read(s) ? EPOLLIN : 0) | (s->output ? EPOLLOUT : 0);

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

/* The chunk for |len| more bytes. */
static struct chunk *chunk_for(struct record_stream *s, uint32_t len)
{
    struct chunk *old = s->filling, *chunk = old;

    if (chunk && chunk->len + len <= RECORD_WRITE)
        return chunk;
    chunk = malloc(sizeof(*chunk) + (len > RECORD_WRITE ? len : RECORD_WRITE));
    if (!chunk)
        return NULL;
    *chunk = (struct chunk){ 0 };
    s->filling = chunk;
    if (old && !old->pieces)
        free(old);
    return chunk;
}

/* Room for the three pieces of a record. */
static int reserve_pieces(struct record_stream *s)
{
    if (s->out_at && s->out_end + 3 > s->out_cap) {
        memmove(s->out, s->out + s->out_at, (s->out_end - s->out_at) * sizeof(*s->out));
        s->out_end -= s->out_at;
        s->out_at = 0;
    }
    return GROW_TO(s->out, (uint64_t)s->out_end + 3, s->out_cap);
}

static void queue_piece(struct record_stream *s, const uint8_t *data, uint32_t len,
                        struct chunk *chunk)
{
    struct piece *last = s->out_end > s->out_at ? &s->out[s->out_end - 1] : NULL;

    s->output += len;
    if (chunk)
        s->copies += len;
    if (chunk && last && last->chunk == chunk) {
        last->len += len; /* they are neighbours: chunks fill up in order */
        return;
    }
    s->out[s->out_end++] = (struct piece){ data, len, chunk };
    if (chunk)
        chunk->pieces++;
}

static void copy_piece(struct record_stream *s, const void *data, uint32_t len)
{
    struct chunk *chunk = s->filling;

    memcpy(chunk->data + chunk->len, data, len);
    queue_piece(s, chunk->data + chunk->len, len, chunk);
    chunk->len += len;
}

int record_stream_send_with(struct record_stream *s, const struct iovec *pieces, int count,
                            struct bytes tail, struct err *err)
{
    uint64_t copied = MARK, padding = -tail.len & 3u, len = tail.len + padding;
    uint8_t mark[MARK];

    for (int i = 0; i < count; i++)
        copied += pieces[i].iov_len;
    len += copied - MARK;
    if (len >= RPC_LAST_FRAGMENT - RECORD_WRITE)
        return err_set(err, ERR_USAGE, "a record of %llu bytes does not fit into a fragment",
                       (unsigned long long)len);
    if (s->over)
        return 0;
    copied += padding + (tail.len <= TAIL_COPIED ? tail.len : 0);
    if (reserve_pieces(s) < 0 || !chunk_for(s, (uint32_t)copied))
        return err_memory(err, "records to be sent");
    store_be32(mark, (uint32_t)len | RPC_LAST_FRAGMENT);
    copy_piece(s, mark, MARK);
    for (int i = 0; i < count; i++)
        if (pieces[i].iov_len)
            copy_piece(s, pieces[i].iov_base, (uint32_t)pieces[i].iov_len);
    if (tail.len > TAIL_COPIED)
        queue_piece(s, tail.data, tail.len, NULL);
    else if (tail.len)
        copy_piece(s, tail.data, tail.len);
    if (padding)
        copy_piece(s, "\0\0\0", (uint32_t)padding);
    loop_idle(s->loop, &s->flush);
    return 0;
}

int record_stream_send(struct record_stream *s, const struct iovec *pieces, int count,
                       struct err *err)
{
    return record_stream_send_with(s, pieces, count, (struct bytes){ 0 }, err);
}

static void sent(struct record_stream *s, size_t len)
{
    s->writes++;
    s->output -= len;
    while (len) {
        struct piece *piece = &s->out[s->out_at];
        uint32_t part = len < piece->len ? (uint32_t)len : piece->len;

        if (piece->chunk)
            s->copies -= part;
        piece->data += part;
        piece->len -= part;
        len -= part;
        if (!piece->len) {
            s->out_at++;
            leave_chunk(s, piece->chunk);
        }
    }
    if (!s->output) {
        s->out_at = s->out_end = 0;
        free(s->filling);
        s->filling = NULL;
    }
}

/* Sends what the socket takes. */
static int flush(struct record_stream *s, struct err *err)
{
    while (s->output) {
        struct iovec pieces[PIECES_AT_ONCE];
        struct msghdr message = { .msg_iov = pieces };
        ssize_t done;

        for (uint32_t i = s->out_at; i < s->out_end && message.msg_iovlen < PIECES_AT_ONCE; i++)
            pieces[message.msg_iovlen++] = (struct iovec){ (void *)s->out[i].data, s->out[i].len };
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

uint64_t record_stream_copies(const struct record_stream *s)
{
    return s->copies;
}

uint64_t record_stream_writes(const struct record_stream *s)
{
    return s->writes;
}

int record_stream_fd(const struct record_stream *s)
{
    return s->watch.fd;
}
