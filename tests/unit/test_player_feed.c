/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps come as the dump has them, stay as they are until they are released, and what is wrong with
 * a dump comes behind all that was right. */
#include "player_dump.h"
#include "player/feed.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

enum { OPERATIONS = 20000, HORIZON = 100, LISTS = 40, LONG = 1 << 20 };

static uint64_t seed;

static uint32_t random_below(uint32_t bound)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((seed >> 33) % bound);
}

/* Operation |n| of all dumps here: always the same. */
struct sample_operation {
    struct rdump_operation o;
    uint8_t arguments[300], texts[3][100];
    uint32_t lists[3][LISTS];
};

static struct bytes random_text(uint8_t *room, uint32_t most)
{
    struct bytes text = { room, random_below(3) ? 0 : random_below(most) };

    for (uint32_t i = 0; i < text.len; i++)
        room[i] = (uint8_t)random_below(256);
    return text;
}

static uint32_t random_list(uint32_t *list, uint32_t most)
{
    uint32_t count = most && !random_below(2) ? 1 + random_below(LISTS - 1) : 0, at = 0, used = 0;

    while (used < count && at < most)
        list[used++] = at += 1 + random_below(most - at);
    return used;
}

static void make_operation(struct sample_operation *s, uint64_t n)
{
    uint32_t back = n < HORIZON - 1 ? (uint32_t)n : HORIZON - 1, name = random_below(250);
    struct rdump_operation *o = &s->o;

    seed = n * 12345 + 1;
    name = random_below(4) ? random_below(20) : random_below(250);
    memset(s, 0, sizeof(*s));
    store_be32(s->arguments, 4);
    store_be32(s->arguments + 4, random_below(1000));
    store_be32(s->arguments + 8, name);
    memset(s->arguments + 12, 'n', name);
    o->arguments = (struct bytes){ s->arguments, 12 + (name + 3) / 4 * 4 };
    o->procedure = 3;
    o->source = (int64_t)n + 1;
    o->time = (int64_t)random_below(1000000) - 10;
    o->latency = (int64_t)random_below(1000) - 1;
    o->client = 1;
    o->server = 2;
    o->credential = random_below(2) ? 7 : 0;
    o->status = random_below(100);
    o->made = random_below(3) ? 0 : random_below(UINT32_MAX);
    o->mask = random_below(UINT32_MAX) & ~(uint32_t)RDUMP_EXPECT_ALL_LINKS;
    o->digest = random_below(2) ? seed : 0;
    o->dependency_count = random_list(s->lists[0], back);
    o->cookie_count = random_list(s->lists[1], 1000);
    o->forget_count = random_list(s->lists[2], UINT32_MAX);
    o->dependencies = s->lists[0];
    o->cookies = s->lists[1];
    o->forget = s->lists[2];
    o->cookie_from = random_below(2) ? 0 : random_below(back + 1);
    o->cookie_entries = random_below(10);
    if (random_below(2)) {
        o->mask |= RDUMP_EXPECT_LINKS << 6;
        o->links = (struct bytes){ s->texts[0], 4 };
        store_be32(s->texts[0], random_below(UINT32_MAX));
    }
    o->results = random_text(s->texts[1], sizeof(s->texts[1]));
    o->names = random_text(s->texts[2], sizeof(s->texts[2]));
}

static bool are(struct bytes a, struct bytes b)
{
    return a.len == b.len && (!a.len || !memcmp(a.data, b.data, a.len));
}

static bool are_numbers(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
    return a_count == b_count && (!a_count || !memcmp(a, b, a_count * sizeof(*a)));
}

static void compare(const struct step *step, uint64_t n)
{
    static const struct step_more none;
    const struct step_more *more = step->more ? step->more : &none;
    struct sample_operation s;
    const struct rdump_operation *o = &s.o;

    make_operation(&s, n);
    assert_int_equal(step->source, o->source);
    assert_int_equal(step->time, o->time);
    assert_int_equal(step->latency, o->latency);
    assert_int_equal(step->client, 1);
    assert_int_equal(step->server, 2);
    assert_int_equal(step->credential, o->credential ? 1 : 0);
    assert_int_equal(step->status, o->status);
    assert_int_equal(step->made, o->made);
    assert_int_equal(step->mask, o->mask);
    assert_int_equal(step->digest, o->digest);
    assert_int_equal(step->number, 3);
    assert_string_equal(step->procedure->name, "LOOKUP");
    assert_true(are(step->arguments, o->arguments));
    assert_true(are(more->links, o->links));
    assert_true(are(more->results, o->results));
    assert_true(are(more->names, o->names));
    assert_true(are_numbers(more->dependencies, more->dependency_count, o->dependencies,
                            o->dependency_count));
    assert_true(are_numbers(more->cookies, more->cookie_count, o->cookies, o->cookie_count));
    assert_true(are_numbers(more->forget, more->forget_count, o->forget, o->forget_count));
    assert_int_equal(more->cookie_from, o->cookie_from);
    assert_int_equal(more->cookie_entries, o->cookie_entries);
}

static void make_dump(struct dump *d, uint64_t operations)
{
    struct sample_operation s;

    dump_begin_small(d, HORIZON);
    for (uint64_t n = 0; n < operations; n++) {
        make_operation(&s, n);
        dump_put(d, RDUMP_OPERATION, &s.o);
    }
    dump_end(d);
}

struct played {
    struct script script;
    struct feed *feed;
};

static void play(struct played *p, const struct dump *d, struct feed_setup setup)
{
    struct err err = { 0 };

    if (script_open(&p->script, d->path, &err) < 0)
        fail_msg("%s", err.text);
    setup.script = &p->script;
    p->feed = feed_new(&setup, &err);
    assert_non_null(p->feed);
}

static void stop(struct played *p)
{
    feed_free(p->feed);
    script_close(&p->script);
}

static bool is_readable(int fd, int ms)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

    return poll(&poll_fd, 1, ms) == 1;
}

/* The next step, after waiting; 0 and negative as feed_next. */
static int next(struct played *p, const struct step **step, struct err *err)
{
    int result = feed_next(p->feed, step, err);

    while (result == FEED_WAIT) {
        assert_true(is_readable(feed_fd(p->feed), 20000));
        result = feed_next(p->feed, step, err);
        assert_false(is_readable(feed_fd(p->feed), 0));
    }
    return result;
}

/* Takes all steps and holds up to |most|; each is right when it comes and when it goes.  Returns
 * how many there were. */
static uint64_t take_all(struct played *p, uint32_t most, int expected, struct err *err)
{
    uint64_t taken = 0, released = 0, state = 99;
    const struct step *step;
    int result;

    while ((result = next(p, &step, err)) == FEED_STEP) {
        compare(step, taken);
        assert_ptr_equal(feed_step(p->feed, taken), step);
        taken++;
        state = state * UINT64_C(6364136223846793005) + 1;
        while (released < taken && (taken - released >= most || (state >>= 7) % 4 == 1)) {
            compare(feed_step(p->feed, released), released);
            feed_release(p->feed);
            released++;
        }
    }
    if (result != expected)
        fail_msg("%d, not %d: %s", result, expected, err->text);
    assert_int_equal(feed_next(p->feed, &step, err), expected); /* it stays so */
    for (; released < taken; released++) {
        compare(feed_step(p->feed, released), released);
        feed_release(p->feed);
    }
    assert_int_equal(feed_stats(p->feed).given, taken);
    assert_int_equal(feed_stats(p->feed).released, taken);
    return taken;
}

static void all_steps(void **state)
{
    static const uint64_t bytes[] = { 1, 5000, 1 << 16, 0 };
    static const uint32_t most[] = { 1, 10, HORIZON };
    struct err err = { 0 };
    struct played p;
    struct dump d;

    (void)state;
    make_dump(&d, OPERATIONS);
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
        for (size_t j = 0; j < sizeof(most) / sizeof(most[0]); j++) {
            if (bytes[i] == 1 && most[j] > 1)
                continue; /* the ring has not even room for two */
            play(&p, &d, (struct feed_setup){ .bytes = bytes[i] });
            assert_int_equal(take_all(&p, bytes[i] == 5000 ? 1 + most[j] % 2 : most[j], 0, &err),
                             OPERATIONS);
            assert_int_equal(feed_stats(p.feed).end.operations, OPERATIONS);
            assert_false(feed_stats(p.feed).damaged);
            stop(&p);
        }
    dump_free(&d);
}

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

static void stop_after(void **state)
{
    static const uint64_t counts[] = { 1, 31, 32, 33, 500 };
    struct err err = { 0 };
    struct played p;
    struct dump d;

    (void)state;
    make_dump(&d, 500);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        play(&p, &d, (struct feed_setup){ .stop_after = counts[i] });
        assert_int_equal(take_all(&p, 10, 0, &err), counts[i]);
        stop(&p);
    }
    dump_free(&d);
    make_dump(&d, 0);
    play(&p, &d, (struct feed_setup){ 0 });
    assert_int_equal(take_all(&p, 1, 0, &err), 0);
    stop(&p);
    dump_free(&d);
}

/* How many operations the reader has before the damage; -1: it does not come to them. */
static int64_t readable(const struct dump *d, size_t len)
{
    int fd = sample_file(d->data.data, len), result = 1;
    struct err err = { 0 };
    struct rdump_reader *r = rdump_reader_new(fd, "cut", &err);
    enum rdump_kind kind;
    const void *record;
    int64_t operations = -1;

    while (r && result > 0) {
        result = rdump_next(r, &kind, &record, &err);
        if (result > 0 && kind == RDUMP_OPERATION)
            operations += operations < 0 ? 2 : 1;
    }
    rdump_reader_free(r);
    close(fd);
    return operations;
}

static void damage(void **state)
{
    struct played p;
    struct dump d;
    uint32_t played = 0;

    (void)state;
    make_dump(&d, OPERATIONS);
    for (size_t len = 1000; len < d.data.len; len += 150001) {
        int64_t operations = readable(&d, len);
        struct err err = { 0 };

        close(d.fd);
        dump_cut(&d, len);
        if (operations < 0) {
            assert_int_equal(script_open(&p.script, d.path, &err), -ERR_INPUT);
            continue;
        }
        play(&p, &d, (struct feed_setup){ 0 });
        assert_int_equal(take_all(&p, 50, -ERR_INPUT, &err), operations);
        assert_non_null(strstr(err.text, "truncated"));
        assert_false(feed_stats(p.feed).damaged);
        stop(&p);
        play(&p, &d, (struct feed_setup){ .partial = true });
        assert_int_equal(take_all(&p, 50, 0, &err), operations);
        assert_true(feed_stats(p.feed).damaged);
        assert_non_null(strstr(feed_stats(p.feed).damage, "truncated"));
        assert_int_equal(feed_stats(p.feed).end.operations, 0);
        stop(&p);
        played++;
    }
    assert_true(played > 5);
    dump_free(&d);
}

/* One operation right, then |o|: refused with these words. */
static void refuses(const struct rdump_operation *o, const char *words)
{
    struct sample_operation first;
    struct err err = { 0 };
    struct played p;
    struct dump d;

    make_operation(&first, 0);
    dump_begin_small(&d, HORIZON);
    dump_put(&d, RDUMP_OPERATION, &first.o);
    dump_put(&d, RDUMP_OPERATION, o);
    dump_end(&d);
    play(&p, &d, (struct feed_setup){ 0 });
    assert_int_equal(take_all(&p, 1, -ERR_INPUT, &err), 1);
    if (!strstr(err.text, words) || !strstr(err.text, ": operation 1: "))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    stop(&p);
    dump_free(&d);
}

static void wrong_operations(void **state)
{
    static const uint32_t itself[] = { 0 }, before_all[] = { 2 };
    struct sample_operation s;

    (void)state;
#define REFUSES(words, ...)                                                                        \
    do {                                                                                           \
        make_operation(&s, 1);                                                                     \
        __VA_ARGS__;                                                                               \
        refuses(&s.o, words);                                                                      \
    } while (0)
    REFUSES("hosts 3 and 2 of 2", s.o.client = 3);
    REFUSES("hosts 1 and 3 of 2", s.o.server = 3);
    REFUSES("credential 6", s.o.credential = 6);
    REFUSES("credential 8", s.o.credential = 8);
    REFUSES("copy 1 of 1", s.o.copy = 1);
    REFUSES("depends on what is 0", s.o.dependencies = itself, s.o.dependency_count = 1);
    REFUSES("depends on what is 2", s.o.dependencies = before_all, s.o.dependency_count = 1);
    REFUSES("continues what is 2", s.o.cookie_from = 2);
    REFUSES("0 bytes of link counts, not 4", s.o.links.len = 0, s.o.mask = RDUMP_EXPECT_LINKS);
    REFUSES("procedure 99", s.o.procedure = 99);
    REFUSES("not those of LOOKUP", s.o.arguments.len -= 4);
}

/* Distances of the horizon and above are refused as well, and a total that is wrong. */
static void wrong_distances_and_totals(void **state)
{
    const struct rdump_end end = { .operations = 3 };
    static const uint32_t far[] = { 2 };
    struct sample_operation s;
    struct err err = { 0 };
    struct played p;
    struct dump d;

    (void)state;
    dump_begin_small(&d, 2);
    make_operation(&s, 0);
    for (int i = 0; i < 4; i++) {
        s.o.dependencies = far;
        s.o.dependency_count = i == 3;
        dump_put(&d, RDUMP_OPERATION, &s.o);
    }
    dump_end(&d);
    play(&p, &d, (struct feed_setup){ 0 });
    for (const struct step *step; next(&p, &step, &err) == FEED_STEP;)
        feed_release(p.feed);
    assert_int_equal(feed_stats(p.feed).given, 3);
    assert_non_null(strstr(err.text, "depends on what is 2"));
    stop(&p);
    dump_free(&d);
    dump_begin_small(&d, 2);
    make_operation(&s, 0);
    dump_put(&d, RDUMP_OPERATION, &s.o);
    dump_put(&d, RDUMP_END, &end);
    dump_cut(&d, d.data.len);
    play(&p, &d, (struct feed_setup){ 0 });
    assert_int_equal(take_all(&p, 1, -ERR_INPUT, &err), 1);
    assert_non_null(strstr(err.text, "says 3 operations, there were 1"));
    stop(&p);
    dump_free(&d);
}

/* A step that is longer than the ring stands alone. */
static void a_long_step(void **state)
{
    uint8_t *text = malloc(LONG);
    struct err err = { 0 };
    struct sample_operation s;
    const struct step *step;
    struct played p;
    struct dump d;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', LONG);
    dump_begin_small(&d, HORIZON);
    for (uint32_t n = 0; n < 30; n++) {
        make_operation(&s, n);
        if (n % 3 == 1)
            s.o.results = (struct bytes){ text, LONG - n };
        dump_put(&d, RDUMP_OPERATION, &s.o);
    }
    dump_end(&d);
    play(&p, &d, (struct feed_setup){ .bytes = 4096 });
    for (uint32_t n = 0; n < 30; n++) {
        assert_int_equal(next(&p, &step, &err), FEED_STEP);
        if (n % 3 == 1) {
            assert_int_equal(step->more->results.len, LONG - n);
            assert_memory_equal(step->more->results.data, text, LONG - n);
        } else {
            compare(step, n);
        }
        feed_release(p.feed);
    }
    assert_int_equal(next(&p, &step, &err), FEED_END);
    stop(&p);
    dump_free(&d);
    free(text);
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
            assert_true(feed_stats(p.feed).waits > 0);
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
        cmocka_unit_test(all_steps),        cmocka_unit_test(the_horizon),
        cmocka_unit_test(stop_after),       cmocka_unit_test(damage),
        cmocka_unit_test(wrong_operations), cmocka_unit_test(wrong_distances_and_totals),
        cmocka_unit_test(a_long_step),      cmocka_unit_test(from_a_pipe),
        cmocka_unit_test(ends_early),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
