/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_feed.c
 *
 * What it costs to read a dump ahead of the player (live/player/feed.h): takes all steps of DUMP,
 * holds HELD of them, and fills in the arguments of each.
 *
 *     bench_feed DUMP [HELD [ROUNDS]]
 *
 * Prints CPU time of both threads for each operation, in ns: of the feed, and of the player's side.
 */
#include "player/feed.h"
#include "player/fill_in.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double clock_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Every object of the tree has a handle; those that are made get theirs when they are made. */
static int know(struct objects *objects, uint32_t number, struct err *err)
{
    struct object *object = objects_add(objects, number, err);
    uint8_t handle[32] = { 0 };

    store_be32(handle, number);
    return object ? objects_set_handle(objects, 1, object, (struct bytes){ handle, sizeof(handle) },
                                       err)
                  : -err->code;
}

struct bench {
    struct feed *feed;
    struct objects *objects;
    struct buf sent;
    uint64_t bytes, missing;
};

static int take(struct bench *b, const struct step *step, struct err *err)
{
    const struct fill_in with = { .has_ctime = true };
    struct xdr_put put = xdr_put_to(&b->sent, XDR_PUT_ANY_LENGTH);
    uint32_t missing;

    if (step->unplayable)
        return 0;
    b->sent.len = 0;
    b->missing += fill_in(step, b->objects, &with, &put, &missing) != FILL_IN_DONE;
    b->bytes += b->sent.len;
    return step->made ? know(b->objects, step->made, err) : 0;
}

static int play(struct bench *b, uint64_t held, struct err *err)
{
    struct pollfd wait = { .fd = feed_fd(b->feed), .events = POLLIN };
    uint64_t taken = 0, released = 0;
    const struct step *step;
    int result;

    while ((result = feed_next(b->feed, &step, err)) != FEED_END) {
        if (result < 0)
            return result;
        if (result == FEED_WAIT) {
            poll(&wait, 1, -1);
            continue;
        }
        if (take(b, step, err) < 0)
            return -err->code;
        for (taken++; taken - released >= held; released++)
            feed_release(b->feed);
    }
    return 0;
}

static int run(const char *path, uint64_t held, struct err *err)
{
    struct script script;
    struct bench b = { .objects = objects_open(err) };
    double all, own, before;
    int result = b.objects ? script_open(&script, path, err) : -err->code;

    if (result < 0)
        return result;
    for (uint32_t n = 1; result == 0 && n <= script.object_count; n++)
        result = know(b.objects, n, err);
    script_drop_tree(&script);
    before = clock_of(CLOCK_MONOTONIC);
    all = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    own = clock_of(CLOCK_THREAD_CPUTIME_ID);
    b.feed = result < 0 ? NULL : feed_new(&(struct feed_setup){ .script = &script }, err);
    result = b.feed ? play(&b, held, err) : -err->code;
    if (result == 0) {
        const struct feed_stats stats = feed_stats(b.feed);
        double count = (double)stats.given;

        own = clock_of(CLOCK_THREAD_CPUTIME_ID) - own;
        all = clock_of(CLOCK_PROCESS_CPUTIME_ID) - all;
        printf("%.0f operations in %.2f s: feed %.0f ns, player's side %.0f ns, %.0f bytes each, "
               "%llu without a handle, waited %llu times\n",
               count, (clock_of(CLOCK_MONOTONIC) - before) / 1e9, (all - own) / count, own / count,
               (double)b.bytes / count, (unsigned long long)b.missing,
               (unsigned long long)stats.waits);
    }
    feed_free(b.feed);
    script_close(&script);
    objects_close(b.objects);
    buf_free(&b.sent);
    return result;
}

int main(int argc, char **argv)
{
    uint64_t held = argc > 2 ? strtoull(argv[2], NULL, 10) : 1024;
    int rounds = argc > 3 ? atoi(argv[3]) : 3, result = argc < 2 ? -ERR_USAGE : 0;
    struct err err = { 0 };

    wire_init();
    if (result < 0 || !held)
        fprintf(stderr, "usage: bench_feed DUMP [HELD [ROUNDS]]\n");
    for (int i = 0; result == 0 && i < rounds; i++)
        result = run(argv[1], held, &err);
    if (err.code)
        fprintf(stderr, "bench_feed: %s\n", err.text);
    return -result;
}
