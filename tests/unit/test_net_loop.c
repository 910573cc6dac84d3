/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_loop.c
 *
 * live/net/loop.h: the order of timers, what callbacks may take off, idle work, ends, and that
 * looking for events without sleeping, or gathering them, changes none of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/loop.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)

struct world;

struct mark {
    struct world *w;
    char letter;
};

struct world {
    struct loop *loop;
    char seen[200];
    struct timer timers[5], end;
    struct watch watch;
    struct idle idle;
    struct mark dot; /* of |idle| */
    int pipe[2];
    int64_t spin;
};

static int note(void *ctx, struct err *err)
{
    const struct mark *mark = ctx;
    size_t len = strlen(mark->w->seen);

    (void)err;
    assert_true(len + 1 < sizeof(mark->w->seen));
    mark->w->seen[len] = mark->letter;
    mark->w->seen[len + 1] = '\0';
    return 0;
}

static int end_it(void *ctx, struct err *err)
{
    struct world *w = ctx;

    (void)err;
    loop_stop(w->loop);
    return 0;
}

static void begin(struct world *w, int64_t spin)
{
    memset(w, 0, sizeof(*w));
    w->loop = loop_new(NULL);
    assert_non_null(w->loop);
    loop_spin(w->loop, spin);
    w->end = (struct timer){ .due = end_it, .ctx = w };
    assert_int_equal(pipe(w->pipe), 0);
    w->watch = (struct watch){ .fd = -1 };
}

static void run_for(struct world *w, int64_t ns)
{
    assert_int_equal(loop_set(w->loop, &w->end, loop_clock() + ns, NULL), 0);
    assert_int_equal(loop_run(w->loop, NULL), 0);
}

static void end_world(struct world *w)
{
    if (w->watch.fd >= 0)
        loop_unwatch(w->loop, &w->watch);
    loop_free(w->loop);
    close(w->pipe[0]);
    close(w->pipe[1]);
}

/* Each test runs without spinning and with spans shorter and longer than its own times. */
static const int64_t spins[] = { 0, 50000, 20 * MS };
enum { SPINS = sizeof(spins) / sizeof(spins[0]) };

static void timers(void **state)
{
    (void)state;
    for (int s = 0; s < SPINS; s++) {
        struct world w;
        struct mark marks[5];
        static const int64_t at[] = { 5, 1, 4, 2, 3 };
        int64_t begun = loop_clock();

        begin(&w, spins[s]);
        for (int i = 0; i < 5; i++) {
            marks[i] = (struct mark){ &w, (char)('a' + at[i]) };
            w.timers[i] = (struct timer){ .due = note, .ctx = &marks[i] };
            assert_int_equal(loop_set(w.loop, &w.timers[i], begun + at[i] * MS, NULL), 0);
        }
        loop_unset(w.loop, &w.timers[2]);                                          /* 4 */
        assert_int_equal(loop_set(w.loop, &w.timers[1], begun + 6 * MS, NULL), 0); /* 1, later */
        run_for(&w, 10 * MS);
        assert_string_equal(w.seen, "cdfb");
        assert_true(loop_clock() - begun >= 10 * MS);
        end_world(&w);
    }
}

/* Far timers: those that come first, are set again or unset, and events between them. */
static void far_timers(void **state)
{
    (void)state;
    for (int s = 0; s < SPINS; s++) {
        struct world w;
        struct mark marks[4];
        static const int64_t at[] = { 400, 60, 5000 };
        int64_t begun = loop_clock();

        begin(&w, spins[s]);
        for (int i = 0; i < 4; i++) {
            marks[i] = (struct mark){ &w, (char)('a' + i) };
            w.timers[i] = (struct timer){ .due = note, .ctx = &marks[i] };
        }
        for (int i = 0; i < 3; i++) /* the first of them gets earlier */
            assert_int_equal(loop_set(w.loop, &w.timers[i], begun + at[i] * MS, NULL), 0);
        run_for(&w, 25 * MS);
        assert_string_equal(w.seen, "");
        assert_int_equal(loop_set(w.loop, &w.timers[3], begun + 55 * MS, NULL), 0);
        loop_unset(w.loop, &w.timers[1]); /* its time wakes the loop for nothing */
        run_for(&w, 40 * MS);
        assert_string_equal(w.seen, "d");
        run_for(&w, 400 * MS);
        assert_string_equal(w.seen, "da");
        end_world(&w);
    }
}

static int read_one(void *ctx, uint32_t events, struct err *err)
{
    struct world *w = ctx;
    char letter;

    (void)err;
    assert_true(events & EPOLLIN);
    assert_int_equal(read(w->pipe[0], &letter, 1), 1);
    note(&(struct mark){ w, letter }, NULL);
    loop_idle(w->loop, &w->idle);
    loop_idle(w->loop, &w->idle); /* once is enough */
    if (letter == 'x')
        loop_unwatch(w->loop, &w->watch);
    return letter == '!' ? -ERR_INPUT : 0;
}

/* Each letter of |text| is read in a round of its own, and asks for idle work. */
static void begin_reading(struct world *w, int64_t spin, const char *text)
{
    begin(w, spin);
    w->dot = (struct mark){ w, '.' };
    w->idle = (struct idle){ .run = note, .ctx = &w->dot };
    w->watch = (struct watch){ .fd = w->pipe[0], .ready = read_one, .ctx = w };
    assert_int_equal(loop_watch(w->loop, &w->watch, EPOLLIN, NULL), 0);
    assert_int_equal(write(w->pipe[1], text, strlen(text)), (ssize_t)strlen(text));
}

/* Idle work comes at the end of the round that asked for it; a watch that is off is not called. */
static void events(void **state)
{
    (void)state;
    for (int s = 0; s < SPINS; s++) {
        struct world w;

        begin_reading(&w, spins[s], "abxd");
        for (int i = 0; i < 4; i++) /* a run may have but one round, on a busy machine */
            run_for(&w, MS);
        assert_string_equal(w.seen, "a.b.x.");
        end_world(&w);
    }
}

static void failing(void **state)
{
    (void)state;
    for (int s = 0; s < SPINS; s++) {
        struct world w;

        begin_reading(&w, spins[s], "a!b");
        assert_int_equal(loop_run(w.loop, NULL), -ERR_INPUT);
        assert_string_equal(w.seen, "a.!");
        end_world(&w);
    }
}

/* Without events it sleeps: spinning takes a small part of the time. */
static void sleeps(void **state)
{
    struct world w;
    struct timespec before, after;
    int64_t used;

    (void)state;
    begin(&w, 50000);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (int i = 0; i < 100; i++)
        run_for(&w, 2 * MS);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    used = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    assert_true(used < 50 * MS); /* of 200 */
    end_world(&w);
}

/* Events wait while it gathers; a timer and idle work do not. */
static void gathers(void **state)
{
    (void)state;
    for (int s = 0; s < SPINS; s++) {
        struct world w;
        int64_t begun = loop_clock();
        struct mark tick = { &w, 't' };

        begin_reading(&w, spins[s], "ab!");
        w.timers[0] = (struct timer){ .due = note, .ctx = &tick };
        assert_int_equal(loop_set(w.loop, &w.timers[0], begun + 5 * MS, NULL), 0);
        loop_gather(w.loop, 20000 * MS); /* for one round */
        assert_int_equal(loop_run(w.loop, NULL), -ERR_INPUT);
        /* not earlier than the timer, and in the same round */
        assert_string_equal(w.seen, "at.b.!");
        assert_true(loop_clock() - begun >= 5 * MS);
        end_world(&w);
        begin_reading(&w, spins[s], "!");
        loop_idle(w.loop, &w.idle);
        loop_gather(w.loop, INT64_MAX / 4);
        assert_int_equal(loop_run(w.loop, NULL), -ERR_INPUT); /* it ends */
        end_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers),  cmocka_unit_test(far_timers), cmocka_unit_test(events),
        cmocka_unit_test(failing), cmocka_unit_test(sleeps),     cmocka_unit_test(gathers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
