/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/tap_ring.h"
#include "ring/ring_door.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    ENTRIES = 256, /* of a round */
    PAUSE = 1000000,
};

struct tap_ring {
    struct loop *loop;
    struct tap *tap;
    struct tap_ring_host host;
    struct ring_reader *reader;
    int fd;
    struct watch watch; /* of |fd|, until the relay is gone */
    struct timer look;
    int64_t pause, asked; /* ns; when an announcement was asked for */
    int64_t held, caught_up;
    bool wants, orphaned;
};

/* Without a relay, nobody overwrites what waits. */
static bool holds(const struct tap_ring *r)
{
    return r->host.is_full && r->host.is_full(r->host.ctx) &&
           (r->orphaned || ring_behind(r->reader) < ring_reader_size(r->reader) / 4);
}

/* Returns how many entries there were, at most |most|; fewer if the host |may_hold| them. */
static int read_some(struct tap_ring *r, int most, bool may_hold, struct err *err)
{
    struct ring_got got;
    int count = 0, result = 1;

    while (count < most && !(may_hold && holds(r)) &&
           (result = ring_read(r->reader, &got, err)) > 0) {
        count++;
        if (tap_entry(r->tap, &got, err) < 0)
            return -err->code;
    }
    return result < 0 ? result : count;
}

/* If the relay is gone, there is nobody to ask. */
static void ask(struct tap_ring *r)
{
    int64_t now = loop_now(r->loop);

    r->wants |= tap_wants_announcement(r->tap);
    if (!r->wants || r->orphaned || now < r->asked + RING_DOOR_PAUSE)
        return;
    r->wants = false;
    r->asked = now;
    ring_ask(r->fd, NULL);
}

static int on_look(void *ctx, struct err *err)
{
    struct tap_ring *r = ctx;
    int count = read_some(r, ENTRIES, true, err);
    bool waits = holds(r) && ring_behind(r->reader);

    if (count < 0)
        return count;
    if (!count && r->orphaned && !ring_behind(r->reader))
        return r->host.ended(r->host.ctx, err);
    ask(r);
    if (waits)
        r->held = loop_now(r->loop);
    else if (count < ENTRIES)
        r->caught_up = loop_now(r->loop);
    if (count == ENTRIES)
        r->pause = 0;
    else if (count || waits)
        r->pause = PAUSE;
    else
        r->pause = r->pause < PAUSE ? PAUSE : r->pause < TAP_PAUSE ? 2 * r->pause : TAP_PAUSE;
    return loop_set(r->loop, &r->look, loop_now(r->loop) + r->pause, err);
}

static int on_door(void *ctx, uint32_t events, struct err *err)
{
    struct tap_ring *r = ctx;

    (void)events, (void)err;
    if (ring_orphaned(r->fd)) {
        r->orphaned = true;
        loop_unwatch(r->loop, &r->watch);
    }
    return 0;
}

static int begin(struct tap_ring *r, const char *path, struct err *err)
{
    if (ring_attach(path, r->loop, &r->fd, &r->reader, err) < 0)
        return -err->code;
    r->watch.fd = r->fd;
    if (loop_watch(r->loop, &r->watch, EPOLLIN, err) < 0) {
        r->watch.fd = -1;
        return -err->code;
    }
    if (r->host.mark)
        ring_keep_mark(r->fd, r->host.mark);
    if (ring_ask(r->fd, err) < 0)
        return -err->code;
    r->asked = loop_clock();
    return loop_set(r->loop, &r->look, r->asked, err);
}

struct tap_ring *tap_ring_new(struct loop *loop, const char *path, struct tap *tap,
                              const struct tap_ring_host *host, struct err *err)
{
    struct tap_ring *r = calloc(1, sizeof(*r));

    if (!r) {
        err_memory(err, "a reader of the ring");
        return NULL;
    }
    *r = (struct tap_ring){ .loop = loop,
                            .tap = tap,
                            .host = *host,
                            .fd = -1,
                            .watch = { .fd = -1, .ready = on_door, .ctx = r },
                            .look = { .due = on_look, .ctx = r } };
    if (begin(r, path, err) < 0) {
        tap_ring_free(r);
        return NULL;
    }
    return r;
}

void tap_ring_free(struct tap_ring *r)
{
    if (!r)
        return;
    loop_unset(r->loop, &r->look);
    if (r->watch.fd >= 0)
        loop_unwatch(r->loop, &r->watch);
    if (r->reader)
        ring_reader_free(r->reader);
    if (r->fd >= 0)
        close(r->fd);
    free(r);
}

uint64_t tap_ring_size(const struct tap_ring *r)
{
    return ring_reader_size(r->reader);
}

int64_t tap_ring_held(const struct tap_ring *r)
{
    return r->held;
}

int64_t tap_ring_caught_up(const struct tap_ring *r)
{
    return r->caught_up;
}

int tap_ring_drain(struct tap_ring *r, struct err *err)
{
    uint64_t end = ring_reader_size(r->reader) / RING_ALIGN; /* whatever a busy writer adds */
    int count = 1;

    while (end && count > 0) {
        count = read_some(r, end < ENTRIES ? (int)end : ENTRIES, false, err);
        end -= count > 0 ? (uint64_t)count : 0;
    }
    return count < 0 ? count : 0;
}
