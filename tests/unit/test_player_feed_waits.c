/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The player waits for the feed, and the feed for the player: each goes on as soon as it can, and
 * both can end at any time. */
/* links: room_live_player */
#include "player_feed_case.h"
#include "player/feed_parts.h"
#include "record/nfsr.h"

#include <fcntl.h>
#include <pthread.h>

enum { LONG = 1 << 20 };

static void the_horizon(void **state)
{
    struct err err = { 0 };
    const struct step *step;
    struct played p;
    struct dump d;

    (void)state;
    make_dump(&d, 10 * HORIZON);
    play(&p, &d, (struct feed_setup){ 0 });
    for (uint32_t n = 0; n < HORIZON; n++)
        assert_int_equal(next(&p, &step, &err), FEED_STEP);
    for (uint32_t n = HORIZON; n < 10 * HORIZON; n++) {
        assert_int_equal(feed_next(p.feed, &step, &err), FEED_WAIT);
        feed_release(p.feed);
        assert_int_equal(next(&p, &step, &err), FEED_STEP);
        compare(step, n);
    }
    stop(&p);
    dump_free(&d);
}

/* |count| times the same operation, with |len| bytes as results. */
static void make_same(struct dump *d, uint32_t count, const uint8_t *text, uint32_t len)
{
    struct sample_operation s;

    dump_begin_small(d, HORIZON);
    make_operation(&s, 0);
    s.o.results = (struct bytes){ text, len };
    for (uint32_t n = 0; n < count; n++)
        dump_put(d, RDUMP_OPERATION, &s.o);
    dump_end(d);
}

/* Each step that is longer than the ring stands alone. */
static void long_steps(void **state)
{
    uint8_t *text = malloc(LONG);
    struct err err = { 0 };
    const struct step *step;
    struct played p;
    struct dump d;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', LONG);
    make_same(&d, 10, text, LONG);
    play(&p, &d, (struct feed_setup){ .bytes = 4096 });
    for (uint32_t n = 0; n < 10; n++) {
        assert_int_equal(next(&p, &step, &err), FEED_STEP);
        assert_int_equal(step->more->results.len, LONG);
        assert_memory_equal(step->more->results.data, text, LONG);
        if (n < 3) { /* the next one does not come */
            assert_int_equal(feed_next(p.feed, &step, &err), FEED_WAIT);
            assert_false(is_readable(feed_fd(p.feed), 30));
            assert_memory_equal(feed_step(p.feed, n)->more->results.data, text, LONG);
        }
        feed_release(p.feed);
    }
    assert_int_equal(next(&p, &step, &err), FEED_END);
    stop(&p);
    dump_free(&d);
    free(text);
}

/* The ring of a feed with few |bytes|: steps are in it, too. */
static uint32_t ring_of(uint32_t bytes)
{
    uint32_t ring = 1;

    while (ring * 2 <= bytes + HORIZON * FEED_STEP_BYTES)
        ring *= 2;
    return ring;
}

/* How many steps like this one a ring has room for. */
static uint32_t room_for(const struct step *step, uint32_t ring)
{
    const struct step_more *more = step->more;
    uint32_t numbers = more->dependency_count + more->cookie_count + more->forget_count;
    uint32_t size = step->arguments.len + (uint32_t)sizeof(*more) + numbers * 4 + more->links.len +
                    more->results.len + more->names.len + FEED_STEP_BYTES;

    return ring / ((size + 7) / 8 * 8);
}

/* When the ring is full, and the player has nothing to do, each release lets one more step in. */
static void little_room(void **state)
{
    static const uint8_t text[400];
    enum { RING = 4096, STEPS = 60 };
    struct err err = { 0 };
    const struct step *step;
    uint32_t taken, room;
    struct played p;
    struct dump d;

    (void)state;
    make_same(&d, STEPS, text, sizeof(text));
    play(&p, &d, (struct feed_setup){ .bytes = RING });
    assert_int_equal(next(&p, &step, &err), FEED_STEP);
    room = room_for(step, ring_of(RING));
    assert_in_range(room, 5, 20);
    for (taken = 1; taken < room; taken++)
        assert_int_equal(next(&p, &step, &err), FEED_STEP);
    for (; taken < STEPS; taken++) {
        assert_int_equal(feed_next(p.feed, &step, &err), FEED_WAIT);
        feed_release(p.feed);
        assert_true(is_readable(feed_fd(p.feed), 20000)); /* it need not ask again */
        assert_int_equal(next(&p, &step, &err), FEED_STEP);
    }
    stop(&p);
    dump_free(&d);
}

/* A step that has no bytes, made while the ring is full, keeps no room when those before it go. */
static void without_bytes(void **state)
{
    enum { RING = 1024, EACH = 64 };
    const uint32_t full_ring = ring_of(RING) / (EACH + FEED_STEP_BYTES);
    struct rdump_operation nothing = { .source = 1, .client = 1, .server = 2 };
    struct rdump_operation full = nothing;
    struct err err = { 0 };
    uint8_t arguments[EACH] = { 0 };
    const struct step *step;
    struct played p;
    struct dump d;

    (void)state;
    store_be32(arguments, 4);
    store_be32(arguments + 8, EACH - 12);
    memset(arguments + 12, 'n', EACH - 12);
    full.arguments = (struct bytes){ arguments, EACH };
    full.procedure = 3;
    dump_begin_small(&d, HORIZON);
    for (uint32_t n = 0; n < 2 * full_ring; n++)
        dump_put(&d, RDUMP_OPERATION, n == full_ring ? &nothing : &full);
    dump_end(&d);
    play(&p, &d, (struct feed_setup){ .bytes = RING });
    for (uint32_t n = 0; n < full_ring; n++)
        assert_int_equal(next(&p, &step, &err), FEED_STEP);
    usleep(20000); /* the thread makes what it can */
    for (uint32_t n = 0; n < full_ring; n++)
        feed_release(p.feed);
    for (uint32_t n = full_ring; n < 2 * full_ring; n++) {
        assert_int_equal(next(&p, &step, &err), FEED_STEP);
        assert_int_equal(step->number, n == full_ring ? 0 : 3);
        assert_memory_equal(step->arguments.data, arguments, step->arguments.len);
    }
    stop(&p);
    dump_free(&d);
}

static void wait_until_shown(struct feed *feed, uint64_t steps)
{
    for (int i = 0;
         i < 20000 && (atomic_load(&feed->shown) < steps || !atomic_load(&feed->thread_waits)); i++)
        usleep(1000);
    assert_int_equal(atomic_load(&feed->shown), steps);
    assert_true(atomic_load(&feed->thread_waits));
}

/* However long the horizon is, the thread is no more than FEED_AHEAD steps before the player, and
 * goes on when three quarters of them were taken. */
static void not_far_ahead(void **state)
{
    enum { FAR = 8192, TAKEN = FEED_AHEAD / 4 * 3 };
    struct rdump_operation nothing = { .source = 1, .client = 1, .server = 2 };
    struct err err = { 0 };
    const struct step *step;
    struct played p;
    struct dump d;

    (void)state;
    dump_begin_small(&d, FAR);
    for (uint32_t n = 0; n < FAR; n++)
        dump_put(&d, RDUMP_OPERATION, &nothing);
    dump_end(&d);
    play(&p, &d, (struct feed_setup){ 0 });
    wait_until_shown(p.feed, FEED_AHEAD);
    for (uint32_t n = 0; n < TAKEN - 1; n++)
        assert_int_equal(next(&p, &step, &err), FEED_STEP);
    usleep(20000);
    wait_until_shown(p.feed, FEED_AHEAD);
    assert_int_equal(next(&p, &step, &err), FEED_STEP);
    wait_until_shown(p.feed, FEED_AHEAD + TAKEN);
    assert_int_equal(feed_stats(p.feed).waits, 0);
    stop(&p);
    dump_free(&d);
}

/* What is released soon needs little of a long ring. */
static void short_laps(void **state)
{
    static const uint8_t text[400];
    enum { RING = 32 << 20, LAP = RING / 32, STEPS = 20000 };
    const uint8_t *first = NULL, *last = NULL;
    struct err err = { 0 };
    const struct step *step;
    struct played p;
    struct dump d;

    (void)state;
    make_same(&d, STEPS, text, sizeof(text));
    play(&p, &d, (struct feed_setup){ .bytes = RING });
    for (uint32_t n = 0; n < STEPS; n++) {
        const uint8_t *at;

        assert_int_equal(next(&p, &step, &err), FEED_STEP);
        at = (const uint8_t *)step->more;
        first = !first || at < first ? at : first;
        last = at > last ? at : last;
        feed_release(p.feed);
    }
    assert_in_range(last - first, LAP / 2, 3 * LAP);
    assert_int_equal(next(&p, &step, &err), FEED_END);
    stop(&p);
    dump_free(&d);
}

struct late {
    const struct buf *data;
    int fd;
};

static void *write_late(void *ctx)
{
    struct late *late = ctx;
    size_t at = 0;

    while (at < late->data->len) {
        size_t len = late->data->len - at < 50000 ? late->data->len - at : 50000;
        ssize_t n = write(late->fd, late->data->data + at, len);

        assert_true(n > 0);
        at += (size_t)n;
        usleep(200);
    }
    close(late->fd);
    return NULL;
}

/* A pipe that stalls behind a block hides no step of it. */
static void before_a_stall(void **state)
{
    static const uint8_t text[1037];
    struct err err = { 0 };
    const struct step *step;
    struct played p;
    struct dump d, pipe_dump = { .fd = -1 };
    struct buf part;
    struct late late;
    pthread_t thread;
    int fds[2];
    int64_t steps;

    (void)state;
    make_same(&d, 600, text, sizeof(text));
    part.data = d.data.data;
    part.len = NFSR_BLOCK_TARGET; /* the second block begins behind it */
    part.len = (size_t)((uint8_t *)memmem(part.data + part.len, d.data.len - part.len, "NFDB", 4) -
                        part.data);
    steps = readable(&d, part.len);
    assert_in_range(steps, 100, 500);
    assert_int_not_equal(steps % 32, 0);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    late = (struct late){ &part, dup(fds[1]) };
    snprintf(pipe_dump.path, sizeof(pipe_dump.path), "/proc/self/fd/%d", fds[0]);
    assert_int_equal(pthread_create(&thread, NULL, write_late, &late), 0);
    play(&p, &pipe_dump, (struct feed_setup){ 0 });
    pthread_join(thread, NULL);
    usleep(30000); /* the thread waits for more */
    for (int64_t n = 0; n < steps; n++) {
        assert_int_equal(next(&p, &step, &err), FEED_STEP);
        feed_release(p.feed);
    }
    assert_int_equal(feed_next(p.feed, &step, &err), FEED_WAIT);
    assert_true(feed_stats(p.feed).waits > 0);
    stop(&p);
    close(fds[0]);
    close(fds[1]);
    dump_free(&d);
}

/* The player is faster than the pipe; then it stops while the pipe has nothing. */
static void from_a_pipe(void **state)
{
    const struct timespec moment = { .tv_nsec = 20000000 };
    struct err err = { 0 };
    const struct step *step;
    struct late late;
    struct played p;
    struct dump d, pipe_dump = { .fd = -1 };
    uint8_t rest[4096];
    struct buf part;
    pthread_t thread;
    int fds[2];

    (void)state;
    make_dump(&d, OPERATIONS);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        snprintf(pipe_dump.path, sizeof(pipe_dump.path), "/proc/self/fd/%d", fds[0]);
        part = (struct buf){ .data = d.data.data, .len = round ? 600000 : d.data.len };
        late = (struct late){ &part, round ? dup(fds[1]) : fds[1] };
        assert_int_equal(pthread_create(&thread, NULL, write_late, &late), 0);
        play(&p, &pipe_dump, (struct feed_setup){ 0 });
        if (round) {
            assert_int_equal(next(&p, &step, &err), FEED_STEP);
            feed_release(p.feed);
            nanosleep(&moment, NULL); /* probably long enough to wait for the pipe or for room */
        } else {
            assert_int_equal(take_all(&p, 90, 0, &err), OPERATIONS);
        }
        feed_free(p.feed);
        if (round)
            close(fds[1]);
        while (read(fds[0], rest, sizeof(rest)) > 0) /* let the writer end */
            ;
        pthread_join(thread, NULL);
        script_close(&p.script);
        close(fds[0]);
    }
    dump_free(&d);
}

/* At whatever point the thread is. */
static void ends_early(void **state)
{
    struct err err = { 0 };
    const struct step *step;
    struct played p;
    struct dump d;

    (void)state;
    make_dump(&d, 3000);
    for (uint32_t taken = 0; taken < 90; taken++) {
        play(&p, &d, (struct feed_setup){ .bytes = taken % 2 ? 60000 : 0 });
        for (uint32_t n = 0; n < taken; n++)
            assert_int_equal(next(&p, &step, &err), FEED_STEP);
        if (taken % 3 == 0)
            feed_next(p.feed, &step, &err);
        stop(&p);
    }
    dump_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_horizon),    cmocka_unit_test(long_steps),
        cmocka_unit_test(little_room),    cmocka_unit_test(without_bytes),
        cmocka_unit_test(before_a_stall), cmocka_unit_test(from_a_pipe),
        cmocka_unit_test(ends_early),     cmocka_unit_test(not_far_ahead),
        cmocka_unit_test(short_laps),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
