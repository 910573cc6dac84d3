/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/player_feed_case.h
 *
 * Operations that are always the same, dumps of them, and a player that only looks at them: for the
 * tests of live/player/feed.h.
 */
#ifndef NFSDIGEST_TESTS_PLAYER_FEED_CASE_H
#define NFSDIGEST_TESTS_PLAYER_FEED_CASE_H

#include "player_dump.h"
#include "player/feed.h"

#include <poll.h>

enum { OPERATIONS = 20000, HORIZON = 100, LISTS = 40 };

static uint64_t seed;

static inline uint32_t random_below(uint32_t bound)
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

static inline struct bytes random_text(uint8_t *room, uint32_t most)
{
    struct bytes text = { room, random_below(3) ? 0 : random_below(most) };

    for (uint32_t i = 0; i < text.len; i++)
        room[i] = (uint8_t)random_below(256);
    return text;
}

static inline uint32_t random_list(uint32_t *list, uint32_t most)
{
    uint32_t count = most && !random_below(2) ? 1 + random_below(LISTS - 1) : 0, at = 0, used = 0;

    while (used < count && at < most)
        list[used++] = at += 1 + random_below(most - at);
    return used;
}

static inline void make_operation(struct sample_operation *s, uint64_t n)
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

static inline bool are(struct bytes a, struct bytes b)
{
    return a.len == b.len && (!a.len || !memcmp(a.data, b.data, a.len));
}

static inline bool are_numbers(const uint32_t *a, uint32_t a_count, const uint32_t *b,
                               uint32_t b_count)
{
    return a_count == b_count && (!a_count || !memcmp(a, b, a_count * sizeof(*a)));
}

static inline void compare(const struct step *step, uint64_t n)
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

static inline void make_dump(struct dump *d, uint64_t operations)
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

static inline void play(struct played *p, const struct dump *d, struct feed_setup setup)
{
    struct err err = { 0 };

    if (script_open(&p->script, d->path, &err) < 0)
        fail_msg("%s", err.text);
    setup.script = &p->script;
    p->feed = feed_new(&setup, &err);
    assert_non_null(p->feed);
}

static inline void stop(struct played *p)
{
    feed_free(p->feed);
    script_close(&p->script);
}

static inline bool is_readable(int fd, int ms)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

    return poll(&poll_fd, 1, ms) == 1;
}

/* The next step, after waiting; 0 and negative as feed_next. */
static inline int next(struct played *p, const struct step **step, struct err *err)
{
    static uint32_t times;
    int result = feed_next(p->feed, step, err);
    uint64_t count;

    while (result == FEED_WAIT) {
        assert_true(is_readable(feed_fd(p->feed), 20000));
        if (++times % 2) /* it may be empty already */
            assert_int_equal(read(feed_fd(p->feed), &count, sizeof(count)), sizeof(count));
        result = feed_next(p->feed, step, err);
        assert_false(is_readable(feed_fd(p->feed), 0));
    }
    return result;
}

/* Takes all steps and holds up to |most|; each is right when it comes and when it goes.  Returns
 * how many there were. */
static inline uint64_t take_all(struct played *p, uint32_t most, int expected, struct err *err)
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

/* How many operations the reader has before the damage; -1: it does not come to them. */
static inline int64_t readable(const struct dump *d, size_t len)
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

#endif
