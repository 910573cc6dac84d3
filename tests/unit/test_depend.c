/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Direct dependencies against an oracle that compares all pairs of uses. Where nothing is joined,
 * the edges must be the very same; else everything that conflicts must be in order, with no edge
 * that others imply. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "depend_oracle.h"
#include "depend/depend_parts.h"

#include <stdlib.h>
#include <string.h>

enum { OPERATIONS = 400, USES = 8, WORDS = (OPERATIONS + 63) / 64 };

static struct err err;

struct trace {
    uint32_t operations, horizon;
    struct use uses[OPERATIONS][USES];
    uint32_t count[OPERATIONS];
    uint64_t reach[OPERATIONS][WORDS]; /* by the edges that were given */
    uint64_t edges[OPERATIONS][WORDS];
    struct depend_counts counts;
};
static struct trace t;

static uint64_t state;
static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % below);
}

static bool bit(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> i % 64 & 1;
}
static void set_bit(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << i % 64;
}

static bool conflict(uint32_t p, uint32_t q)
{
    if (q - p >= t.horizon)
        return false;
    for (uint32_t i = 0; i < t.count[p]; i++)
        for (uint32_t k = 0; k < t.count[q]; k++)
            if (uses_meet(&t.uses[p][i], &t.uses[q][k]))
                return true;
    for (uint32_t k = 0; k < t.count[q]; k++)
        if (use_asks(&t.uses[q][k], q - p))
            return true;
    return false;
}

/* What is left of |relation|'s row |q| without what the rest of it implies. */
static void reduced(uint64_t reach[][WORDS], uint32_t q, const uint64_t *relation, uint64_t *direct)
{
    memset(reach[q], 0, sizeof(reach[q]));
    memset(direct, 0, sizeof(reach[q]));
    for (uint32_t p = q; p-- > 0;) {
        if (!bit(relation, p) || bit(reach[q], p))
            continue;
        set_bit(direct, p);
        set_bit(reach[q], p);
        for (uint32_t w = 0; w < WORDS; w++)
            reach[q][w] |= reach[p][w];
    }
}

static void run(void)
{
    struct depend *d = depend_new(t.horizon, &err);
    const uint32_t *distances;

    assert_non_null(d);
    memset(t.edges, 0, sizeof(t.edges));
    for (uint32_t q = 0; q < t.operations; q++) {
        int64_t count = depend_next(d, t.uses[q], t.count[q], &distances, &err);

        assert_true(count >= 0);
        for (int64_t i = 0; i < count; i++) {
            assert_true(distances[i] > 0 && distances[i] <= q && distances[i] < t.horizon);
            assert_true(i == 0 || distances[i] > distances[i - 1]);
            set_bit(t.edges[q], q - distances[i]);
        }
    }
    t.counts = *depend_counts(d);
    depend_free(d);
}

static void check_same(void)
{
    uint64_t direct[WORDS], relation[WORDS], edges = 0;

    assert_int_equal(t.counts.joined, 0);
    assert_int_equal(t.counts.kept, 0);
    assert_int_equal(t.counts.operations, t.operations);
    for (uint32_t q = 0; q < t.operations; q++) {
        memset(relation, 0, sizeof(relation));
        for (uint32_t p = 0; p < q; p++)
            if (conflict(p, q))
                set_bit(relation, p);
        reduced(t.reach, q, relation, direct);
        assert_memory_equal(direct, t.edges[q], sizeof(direct));
        for (uint32_t w = 0; w < WORDS; w++)
            edges += (uint64_t)__builtin_popcountll(direct[w]);
    }
    assert_int_equal(t.counts.edges, edges);
}

static void check_order(void)
{
    uint64_t direct[WORDS];

    assert_int_equal(t.counts.kept, 0);
    for (uint32_t q = 0; q < t.operations; q++) {
        reduced(t.reach, q, t.edges[q], direct);
        assert_memory_equal(direct, t.edges[q], sizeof(direct));
        for (uint32_t p = 0; p < q; p++)
            if (conflict(p, q))
                assert_true(bit(t.reach[q], p));
    }
}

struct shape {
    uint32_t objects, names, bytes;
    uint32_t changes;    /* of 16 uses */
    uint32_t kinds;      /* enum thing as bits, but THING_AFTER */
    uint32_t everything; /* of 16 ranges, have no end */
    uint32_t after;      /* of so many operations, one asks for an earlier one; 0: none */
};

static void fill(const struct shape *s, uint32_t operations)
{
    t.operations = operations;
    for (uint32_t q = 0; q < operations; q++) {
        t.count[q] = draw(USES + 1);
        for (uint32_t i = 0; i < t.count[q]; i++) {
            struct use *u = &t.uses[q][i];
            uint8_t thing;

            do
                thing = (uint8_t)draw(THING_AFTER);
            while (!(s->kinds >> thing & 1));
            *u = (struct use){ .thing = thing, .object = draw(s->objects), .name = draw(s->names) };
            u->changes = thing != THING_NAMES && draw(16) < s->changes;
            u->start = draw(s->bytes);
            u->end = u->start + draw(s->bytes / 2 + 1);
            if (draw(16) < s->everything)
                u->end = UINT64_MAX;
        }
        if (s->after && t.count[q] && draw(s->after) == 0)
            t.uses[q][0] = (struct use){ .thing = THING_AFTER, .start = 1 + draw(t.horizon + 9) };
    }
}

#define BIT(thing) (1u << (thing))
enum { EVERY_THING = BIT(THING_AFTER) - 1, NAMES_ONLY = BIT(THING_NAME) | BIT(THING_NAMES) };

static void random_traces(void **unused)
{
    static const struct shape shapes[] = {
        { 2, 3, 12, 8, EVERY_THING, 2 },
        { 6, 5, 30, 4, EVERY_THING, 1 },
        { 30, 8, 40, 5, EVERY_THING, 1 },
        { 6, 5, 30, 4, EVERY_THING, 1, 3 },
        { 1, 8, 1, 8, NAMES_ONLY, 0 },
        { 2, 2, 1, 4, NAMES_ONLY, 0 },
        { 1, 40, 1, 13, NAMES_ONLY, 0 },
        { 1, 1, 40, 4, BIT(THING_DATA), 1 },
        { 1, 1, 60, 12, BIT(THING_DATA), 0 },
        { 3, 1, 10, 6, BIT(THING_DATA) | BIT(THING_SIZE), 4 },
        { 8, 1, 1, 3, BIT(THING_LIFE) | BIT(THING_MODE) | BIT(THING_NLINK), 0 },
    };

    (void)unused;
    state = 1;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        for (t.horizon = 4; t.horizon <= 1024; t.horizon *= 2)
            for (int n = 0; n < 12; n++) {
                fill(&shapes[i], 20 + draw(n == 0 ? OPERATIONS - 20 : 100));
                run();
                check_same();
            }
}

/* Phases of many small changes and of large reads, with a little of everything between. */
static void random_joins(void **unused)
{
    static const struct shape shapes[] = {
        { 1, 300, 1, 8, NAMES_ONLY, 0 },
        { 1, 1, 4000, 8, BIT(THING_DATA), 2 },
        { 1, 300, 3000, 8, NAMES_ONLY | BIT(THING_DATA) | BIT(THING_SIZE), 1 },
    };
    uint64_t joined[3] = { 0 };

    (void)unused;
    state = 2;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        for (t.horizon = 64; t.horizon <= 1024; t.horizon *= 4)
            for (int n = 0; n < 6; n++) {
                fill(&shapes[i], OPERATIONS);
                for (uint32_t q = 0; q < t.operations; q++) {
                    struct use *u = t.uses[q];
                    bool writes = (q / 200 + (uint32_t)n) % 2;

                    t.count[q] = 1 + draw(200) / 199;
                    if (draw(150) == 0)
                        continue;
                    if (u->thing >= THING_NAME)
                        u->thing = writes ? THING_NAME : THING_NAMES;
                    u->changes = writes;
                    if (writes)
                        u->end = u->start + 1 + draw(6);
                }
                run();
                check_order();
                joined[i] += t.counts.joined;
            }
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        assert_true(joined[i] > 80);
}

static void put(struct use use)
{
    t.uses[t.operations][0] = use;
    t.count[t.operations++] = 1;
}

static uint32_t edges_of(uint32_t q)
{
    uint32_t count = 0;

    for (uint32_t w = 0; w < WORDS; w++)
        count += (uint32_t)__builtin_popcountll(t.edges[q][w]);
    return count;
}

static void large_directory(void **unused)
{
    const uint32_t creators = DEPEND_MANY + 36;

    (void)unused;
    t.horizon = 1024;
    t.operations = 0;
    for (uint32_t i = 0; i < creators; i++)
        put((struct use){ .thing = THING_NAME, .changes = true, .name = i });
    for (int i = 0; i < 3; i++)
        put((struct use){ .thing = THING_NAMES });
    put((struct use){ .thing = THING_NAME, .changes = true, .name = 5 });
    put((struct use){ .thing = THING_NAME, .changes = true, .name = 6 });
    put((struct use){ .thing = THING_NAMES });
    run();
    assert_int_equal(edges_of(creators), creators);
    /* the second and third listing wait for the first one */
    for (uint32_t q = creators + 1; q < creators + 3; q++) {
        assert_int_equal(edges_of(q), 1);
        assert_true(bit(t.edges[q], creators));
    }
    assert_int_equal(t.counts.joined, 2);
    assert_int_equal(t.counts.most, creators);
    assert_int_equal(edges_of(creators + 3), 2);
    assert_int_equal(edges_of(creators + 4), 2);
    assert_int_equal(edges_of(creators + 5), 2);
    check_order();
}

static void many_listings(void **unused)
{
    const uint32_t listings = DEPEND_MANY + 1;

    (void)unused;
    t.horizon = 1024;
    t.operations = 0;
    for (uint32_t i = 0; i < listings; i++)
        put((struct use){ .thing = THING_NAMES });
    for (uint32_t i = 0; i < 3; i++)
        put((struct use){ .thing = THING_NAME, .changes = true, .name = i });
    run();
    assert_int_equal(edges_of(listings), listings);
    assert_int_equal(edges_of(listings + 1), 1);
    assert_int_equal(edges_of(listings + 2), 1);
    assert_true(bit(t.edges[listings + 2], listings));
    assert_int_equal(t.counts.joined, 2);
    check_order();
}

static void few_are_not_joined(void **unused)
{
    (void)unused;
    t.horizon = 1024;
    t.operations = 0;
    for (uint32_t i = 0; i < DEPEND_MANY; i++)
        put((struct use){ .thing = THING_NAME, .changes = true, .name = i });
    for (uint32_t i = 0; i < DEPEND_MANY; i++)
        put((struct use){ .thing = THING_NAMES });
    for (uint32_t i = 0; i < 4; i++)
        put((struct use){ .thing = THING_NAME, .changes = true, .name = 100 + i });
    run();
    check_same();
    assert_int_equal(t.counts.most, DEPEND_MANY);
}

/* Readers of a whole file, then writes of its pieces. */
static void many_readers(void **unused)
{
    const uint32_t readers = DEPEND_MANY + 20;

    (void)unused;
    t.horizon = 1024;
    t.operations = 0;
    for (uint32_t i = 0; i < readers; i++)
        put((struct use){ .thing = THING_DATA, .start = 0, .end = 1 << 20 });
    put((struct use){ .thing = THING_DATA, .changes = true, .start = 4096, .end = 8192 });
    put((struct use){ .thing = THING_DATA, .changes = true, .start = 65536, .end = 73728 });
    put((struct use){ .thing = THING_DATA, .start = 0, .end = 4096 });
    put((struct use){ .thing = THING_DATA, .changes = true, .start = 0, .end = 4096 });
    run();
    assert_int_equal(edges_of(readers), readers);
    assert_int_equal(edges_of(readers + 1), 1);
    assert_int_equal(edges_of(readers + 2), 0); /* reads only what nobody wrote */
    assert_int_equal(edges_of(readers + 3), 2);
    assert_int_equal(t.counts.joined, 2);
    check_order();
}

static void many_pieces(void **unused)
{
    (void)unused;
    t.horizon = 1024;
    t.operations = 0;
    for (uint32_t i = 0; i <= DEPEND_MANY; i++)
        put((struct use){
            .thing = THING_DATA, .changes = true, .start = i * 4096, .end = i * 4096 + 4096 });
    put((struct use){ .thing = THING_DATA, .start = 0, .end = 1 << 20 });
    put((struct use){ .thing = THING_DATA, .start = 0, .end = 1 << 20 });
    put((struct use){ .thing = THING_DATA, .changes = true, .start = 0, .end = 1 });
    run();
    assert_int_equal(edges_of(DEPEND_MANY + 1), DEPEND_MANY + 1);
    assert_int_equal(edges_of(DEPEND_MANY + 2), 1);
    assert_int_equal(t.counts.joined, 1);
    check_order();
}

/* What is kept must not grow with the trace, nor with its objects, names or pieces. */
static void bounded(void **unused)
{
    enum { HORIZON = 256, LENGTH = 200000 };
    struct depend *d = depend_new(HORIZON, &err);
    const uint32_t *distances;

    (void)unused;
    state = 3;
    assert_non_null(d);
    for (uint32_t n = 0; n < LENGTH; n++) {
        const struct use uses[] = {
            { .thing = THING_MODE, .object = 1 },
            { .thing = THING_LIFE, .changes = true, .object = n + 10 },
            { .thing = THING_NAME, .changes = n % 3 == 0, .object = 1, .name = n },
            { .thing = THING_DATA, .changes = n % 2, .object = 2, .start = n, .end = n + 1 },
            { .thing = n % 50 ? THING_NLINK : THING_NAMES, .object = 1 },
            { .thing = THING_DATA, .object = n + 10, .start = 0, .end = 10 },
        };

        assert_true(depend_next(d, uses, 6, &distances, &err) >= 0);
    }
    assert_true(d->holders.count <= POOL_CHUNK && d->names.count <= POOL_CHUNK);
    assert_true(d->files.count <= POOL_CHUNK && d->directories.count <= POOL_CHUNK);
    assert_true(d->by_object.used <= HORIZON + 2 && d->by_name.used <= HORIZON);
    assert_true(d->marks_end - d->marks_begin <= HORIZON * 6);
    assert_true(d->marks_mask < 2 * HORIZON * 6 && d->edges_mask < 8 * HORIZON);
    assert_true(
        ((struct file *)pool_at(&d->files, holder_at(d, depend_holder_of(d, 2))->file))->pieces <=
        3 * HORIZON);
    depend_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces),      cmocka_unit_test(random_joins),
        cmocka_unit_test(large_directory),    cmocka_unit_test(many_listings),
        cmocka_unit_test(few_are_not_joined), cmocka_unit_test(many_readers),
        cmocka_unit_test(many_pieces),        cmocka_unit_test(bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
