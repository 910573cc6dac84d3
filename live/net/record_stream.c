/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/record_stream.c
 *
 * Input is one buffer.  A record begins at |record|; its fragments are moved together behind its
 * first mark as they become complete, so that it is delivered in place.  |next| is where the next
 * mark is expected.
 *
 *     0 ... record: mark | assembled bytes | (gap of merged marks) | next: mark | bytes | end
 */
#include "net/record_stream_parts.h"
#include "wire/rpc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MARK = RECORD_MARK, PIECES_AT_ONCE = 128, CAP_FIRST = 256 };

/* --- ends */

/* Makes |in| hold |cap| bytes, at least those that are in it. */
static int resize(struct record_stream *s, size_t cap)
{
    size_t old = s->in.cap;

    if (!cap) {
        buf_free(&s->in);
    } else {
        uint8_t *data = realloc(s->in.data, cap);

        if (!data)
            return -ERR_SYSTEM;
        s->in.data = data;
        s->in.cap = cap;
    }
    if (cap > old)
        budget_take(&s->memory_in, cap - old);
    else
        budget_give(&s->memory_in, old - cap);
    return 0;
}

static void dispose(struct record_stream *s)
{
    record_stream_lose(s);
    resize(s, 0);
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
    budget_leave(&s->memory_in);
    budget_leave(&s->memory_out);
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

bool record_stream_is_stopped(const struct record_stream *s)
{
    return s->output > s->limits.output_stop ||
           (s->memory_out.held > RECORD_FLOOR && budget_crowded(&s->memory_out));
}

static bool may_read(const struct record_stream *s)
{
    return !s->held && !s->over && !record_stream_is_stopped(s) && !budget_waits(&s->memory_in) &&
           !budget_waits(&s->memory_out);
}

/* Output that nobody has tried to send yet is sent at the end of the round. */
static int set_events(struct record_stream *s, struct err *err)
{
    bool waits = s->output && !s->flush.self;
    uint32_t events = (may_read(s) ? EPOLLIN : 0) | (waits ? EPOLLOUT : 0);

    return s->over ? 0 : loop_change(s->loop, &s->watch, events, err);
}

/* --- input */

/* Frees memory that is not needed for |kept| bytes: above |idle|, if there are none; and where
 * memory is short, down to the floor. */
static void shrink(struct record_stream *s, size_t kept, size_t idle)
{
    bool crowded = budget_crowded(&s->memory_in);

    if (kept == 0 && (s->in.cap > idle || crowded))
        resize(s, 0);
    else if (crowded && kept <= RECORD_FLOOR && s->in.cap > RECORD_FLOOR)
        resize(s, RECORD_FLOOR); /* if that fails, it stays long */
}

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
    if (s->record) {
        memmove(s->in.data, s->in.data + s->record, kept);
        s->in.len = kept;
    }
    s->next -= s->record;
    s->record = s->announced = 0;
    s->ahead = 0;
    shrink(s, kept, 2 * RECORD_READ);
}

/* 1: a whole record stands at |record|; 0: not yet; or -1: it is too long. */
static int assemble(struct record_stream *s)
{
    while (s->in.len - s->next >= MARK) {
        uint8_t *at = s->in.data + s->next, *to = s->in.data + s->record + s->assembled;
        uint32_t mark = load_be32(at), len = mark & ~RPC_LAST_FRAGMENT;

        if (len > s->limits.record_max - s->assembled)
            return -1;
        if (s->in.len - s->next - MARK < len)
            return 0;
        if (to != at) /* the first fragment is where it should be */
            memmove(to + MARK, at + MARK, len);
        s->assembled += len;
        s->next += MARK + len;
        if (mark & RPC_LAST_FRAGMENT)
            return 1;
    }
    return 0;
}

/* Tells the owner which records are there: those of one fragment, as nearly all are. */
static void announce(struct record_stream *s)
{
    const uint8_t *at, *end = s->in.data + s->in.len;

    if (s->announced < s->next) {
        s->announced = s->next;
        s->ahead = 0;
    }
    for (at = s->in.data + s->announced; s->ahead < RECORD_SOON && end - at >= MARK; s->ahead++) {
        uint32_t mark = load_be32(at), len = mark & ~RPC_LAST_FRAGMENT;

        if (!(mark & RPC_LAST_FRAGMENT) || end - at - MARK < len)
            break;
        s->host.soon(s->host.ctx, at + MARK, len);
        at += MARK + len;
    }
    s->announced = (size_t)(at - s->in.data);
}

/* The length of the record at |next| if it is of one fragment, as nearly all are, and whole: there
 * is nothing to assemble.  Else a length that no record has. */
static inline uint32_t single(const struct record_stream *s)
{
    size_t left = s->in.len - s->next;
    uint32_t mark, len;

    if (s->record != s->next || left < MARK)
        return UINT32_MAX;
    mark = load_be32(s->in.data + s->next);
    len = mark & ~RPC_LAST_FRAGMENT;
    return mark & RPC_LAST_FRAGMENT && len <= s->limits.record_max && len <= left - MARK
               ? len
               : UINT32_MAX;
}

/* Delivers the record of |len| bytes at |record|. */
static inline int hand_over(struct record_stream *s, uint32_t len, struct err *err)
{
    const uint8_t *data = s->in.data + s->record + MARK;

    s->record = s->next;
    s->ahead -= s->ahead > 0;
    return s->host.record(s->host.ctx, data, len, err);
}

/* Delivers whole records while the owner takes them, and while there is memory for what it sends.
 */
static int deliver(struct record_stream *s, struct err *err)
{
    int result = 0;

    while (result == 0 && may_read(s)) {
        uint32_t len = single(s);
        int whole;

        if (s->host.soon && s->record == s->next)
            announce(s);
        if (len == UINT32_MAX) {
            whole = s->whole ? 1 : assemble(s);
            if (whole < 0)
                return end(s, RECORD_TOO_LONG, 0, err);
            s->whole = whole;
            if (!whole)
                break;
        }
        if (!budget_ask(&s->memory_out, (uint64_t)s->limits.answer + RECORD_WRITE))
            break;
        if (len == UINT32_MAX) {
            len = s->assembled;
            s->assembled = 0;
            s->whole = false;
        } else {
            s->next += MARK + len;
        }
        result = hand_over(s, len, err);
    }
    budget_settle(&s->memory_out);
    compact(s);
    return result;
}

/* Sends what the socket takes. */
static int flush(struct record_stream *s, struct err *err)
{
    while (s->output) {
        struct iovec pieces[PIECES_AT_ONCE];
        struct msghdr message = { .msg_iov = pieces };
        ssize_t done;

        message.msg_iovlen = record_stream_waiting(s, pieces, PIECES_AT_ONCE);
        done = sendmsg(s->watch.fd, &message, MSG_NOSIGNAL);
        if (done >= 0)
            record_stream_sent(s, (size_t)done);
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

/* Bytes to be read at most.  Where memory is short, those of the fragment that is under way: a
 * stream asks for all of it at once, so that few hold memory and wait for more, and it has no more
 * than its floor when its record is complete. */
static size_t reach(const struct record_stream *s)
{
    size_t come = s->in.len - s->next, len;

    if (!budget_crowded(&s->memory_in))
        return RECORD_READ;
    if (come < MARK)
        return RECORD_FLOOR - come;
    len = MARK + (load_be32(s->in.data + s->next) & ~RPC_LAST_FRAGMENT);
    if (len <= come || len > MARK + s->limits.record_max) /* not assembled yet */
        return RECORD_FLOOR;
    return len - come;
}

/* Makes room for bytes to be read.  Returns how many, 0 if there is no memory for them now, or a
 * negative code. */
static ssize_t make_room(struct record_stream *s)
{
    size_t want = reach(s), left = s->in.cap - s->in.len, need = s->in.len + want, cap;
    int result;

    if (left >= want)
        return (ssize_t)want;
    if (budget_crowded(&s->memory_in)) {
        if (left)
            return (ssize_t)left;
        cap = need < RECORD_FLOOR ? RECORD_FLOOR : need;
    } else {
        for (cap = s->in.cap ? s->in.cap : CAP_FIRST; cap < need;)
            cap *= 2;
    }
    if (!budget_ask(&s->memory_in, cap - s->in.cap))
        return 0;
    result = resize(s, cap);
    budget_settle(&s->memory_in);
    return result < 0 ? result : (ssize_t)want;
}

static int read_more(struct record_stream *s, struct err *err)
{
    ssize_t room = make_room(s), got;

    if (room < 0)
        return end(s, RECORD_FAILED, ENOMEM, err);
    if (room == 0)
        return 0;
    got = recv(s->watch.fd, s->in.data + s->in.len, (size_t)room, 0);
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
    if (result == 0 && (s->whole || s->in.len > s->next)) {
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

/* There is memory now. */
static void wake(void *ctx)
{
    struct record_stream *s = ctx;

    loop_idle(s->loop, &s->flush);
}

/* --- owners */

void record_stream_allow(struct record_stream *s, uint32_t record_max)
{
    s->limits.record_max = record_max;
}

int record_memory_init(struct record_memory *memory, uint64_t total, uint32_t connections,
                       const struct record_limits *limits, struct err *err)
{
    uint64_t floors = (uint64_t)connections * 2 * RECORD_FLOOR;
    /* what a favoured stream can hold, and what a record makes before the answers' bound is seen */
    uint64_t in = 2 * ((uint64_t)limits->record_max + RECORD_READ);
    uint64_t out = (uint64_t)limits->output_stop + 2 * ((uint64_t)limits->answer + RECORD_WRITE);
    uint64_t least = floors + 2 * (in + out), rest;

    if (total < least)
        return err_set(err, ERR_USAGE, "%u connections need %llu MiB of memory or more",
                       connections, (unsigned long long)(least >> 20) + 1);
    memset(memory, 0, sizeof(*memory));
    memory->in.floor = memory->out.floor = RECORD_FLOOR;
    rest = total - floors - in - out;
    memory->out.limit = rest / 3;
    memory->in.limit = rest - memory->out.limit;
    return 0;
}

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
    s->memory_in = s->memory_out = (struct budget_user){ .wake = wake, .ctx = s };
    if (limits->memory) {
        s->memory_in.budget = &limits->memory->in;
        s->memory_out.budget = &limits->memory->out;
    }
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
    if (!s->busy)
        shrink(s, s->in.len, 0);
}

bool record_stream_is_waiting(const struct record_stream *s)
{
    return budget_waits(&s->memory_in) || budget_waits(&s->memory_out);
}

bool record_stream_hoards(const struct record_stream *s)
{
    return budget_hoards(&s->memory_in) || budget_hoards(&s->memory_out);
}

uint64_t record_stream_input(const struct record_stream *s)
{
    return s->in.len - s->record;
}

int record_stream_fd(const struct record_stream *s)
{
    return s->watch.fd;
}
