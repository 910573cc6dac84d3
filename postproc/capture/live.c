/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/live.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int live_rest(struct live *live, struct err *err)
{
    if (!live->due || !live->due(live->ctx))
        return 0;
    if (live->drain && live->drain(live->worker, err) < 0)
        return -err->code;
    return live->rest(live->ctx, err);
}

void live_end(struct live_read *r)
{
    struct stat st;

    if (r->ending)
        return;
    r->ending = true;
    r->limit = UINT64_MAX;
    if (fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode))
        r->limit = (uint64_t)st.st_size;
    r->ends = now_ms() + LIVE_DRAIN_MS;
}

/* Nothing to read: 1 to try again, 0 at the end. */
static int wait_more(struct live_read *r, struct err *err)
{
    int more;

    if (live_rest(r->live, err) < 0)
        return -err->code;
    more = r->live->still(r->live->ctx, err);
    if (more == 0)
        live_end(r);
    return more < 0 ? more : 1;
}

/* 1: it can be read. */
static int wait_pipe(struct live_read *r, struct err *err)
{
    struct pollfd p = { .fd = r->fd, .events = POLLIN };

    for (;;) {
        int n = poll(&p, 1, r->ending ? LIVE_QUIET_MS : LIVE_POLL_MS), more;

        if (n < 0 && errno != EINTR)
            return err_set(err, ERR_SYSTEM, "poll: %s", strerror(errno));
        /* a named pipe that had no writer yet hangs up only after one came and went */
        if (n > 0)
            return !r->ending || now_ms() < r->ends;
        if (r->ending)
            return 0;
        more = wait_more(r, err);
        if (more < 0)
            return more;
    }
}

/* A file that became shorter begins anew: what follows is not of this capture. */
static bool was_truncated(const struct live_read *r)
{
    struct stat st;

    return fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size < r->at;
}

static ssize_t read_some(struct live_read *r, void *data, size_t len, struct err *err)
{
    ssize_t n;

    do
        n = read(r->fd, data, len);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(err, ERR_SYSTEM, "read: %s", strerror(errno));
    r->at += (uint64_t)n;
    if (n)
        r->live->came(r->live->ctx);
    return n;
}

static ssize_t read_file(struct live_read *r, void *data, size_t len, struct err *err)
{
    const struct timespec pause = { .tv_nsec = LIVE_POLL_MS * 1000000L };

    for (;;) {
        ssize_t n;
        int more;

        if (r->ending && len > r->limit - (r->at < r->limit ? r->at : r->limit))
            len = (size_t)(r->limit - (r->at < r->limit ? r->at : r->limit));
        n = len ? read_some(r, data, len, err) : 0;
        if (n != 0 || r->ending)
            return n;
        if (was_truncated(r)) {
            live_end(r);
            return 0;
        }
        more = wait_more(r, err);
        if (more < 0)
            return more;
        if (!r->ending)
            nanosleep(&pause, NULL);
    }
}

ssize_t live_read(struct live_read *r, void *data, size_t len, struct err *err)
{
    struct stat st;
    int ready;

    if (r->live->stopped(r->live->ctx))
        live_end(r);
    if (fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode))
        return read_file(r, data, len, err);
    ready = wait_pipe(r, err);
    return ready <= 0 ? ready : read_some(r, data, len, err);
}
