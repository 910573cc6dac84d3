/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Popularities are the sums of decayed accesses that popularity.h describes, and the queue gives
 * objects in their order, as a plain search finds them. */
/* links: room_live_mirror */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mirror/popularity.h"

#include "live/mirror/mirror_parts.h"

enum { OBJECTS = 80, SEEDS = 60, STEPS = 600 };

static const int64_t second = 1000000000;
static uint64_t seed = 1;

static uint32_t random_below(uint32_t bound)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((seed >> 33) % bound);
}

static double two_to(int n)
{
    double value = 1;

    for (; n > 0; n--)
        value *= 2;
    for (; n < 0; n++)
        value /= 2;
    return value;
}

/* Counted from the beginning of the test, so that sums stay in the range of doubles. */
static double weight(int64_t half_life, int64_t time)
{
    int64_t whole = time / half_life;

    return two_to((int)whole) * (1 + (double)(time % half_life) / (double)half_life);
}

static struct mirror_object *add(struct mirror *m, uint32_t n)
{
    uint8_t room[4];
    struct err err;

    store_be32(room, n);
    return mirror_add(m, (struct bytes){ room, 4 }, &err);
}

static bool is_near(double a, double b)
{
    double apart = a > b ? a - b : b - a;

    return apart <= 1e-6 * (a > b ? a : b);
}

struct lab {
    struct mirror *m;
    struct mirror_object *objects[OBJECTS];
    uint32_t parent[OBJECTS]; /* below its own; 0 is the root */
    double sums[OBJECTS];
    uint64_t queued[OBJECTS]; /* when, from 1 on; 0: is not */
    uint64_t clock;
    int64_t half_life, now;
    bool in_order;
};

static void start(struct lab *lab)
{
    struct err err;

    *lab = (struct lab){ .half_life = second + random_below(5) * (second / 3) };
    lab->m = mirror_open((uint64_t)lab->half_life, &err);
    assert_non_null(lab->m);
    if (random_below(4) == 0)
        lab->m->arrivals = UINT32_MAX - random_below(200);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        lab->objects[i] = add(lab->m, i);
        lab->parent[i] = i ? random_below(i) : 0;
        if (i)
            assert_int_equal(mirror_add_name(lab->m, lab->objects[i], lab->objects[lab->parent[i]],
                                             (struct bytes){ (const uint8_t *)"x", 1 }, &err),
                             0);
    }
}

static uint64_t popularity(const struct lab *lab, uint32_t n)
{
    return popularity_of(lab->m, lab->objects[n]);
}

/* The one that should be first, by the table's own numbers, which check_sums compares. */
static struct mirror_object *expected_first(const struct lab *lab)
{
    uint32_t best = OBJECTS;

    for (uint32_t i = 0; i < OBJECTS; i++) {
        if (!lab->queued[i])
            continue;
        if (best == OBJECTS || (!lab->in_order && popularity(lab, i) > popularity(lab, best)) ||
            ((lab->in_order || popularity(lab, i) == popularity(lab, best)) &&
             lab->queued[i] < lab->queued[best]))
            best = i;
    }
    return best == OBJECTS ? NULL : lab->objects[best];
}

static void check_sums(const struct lab *lab)
{
    double now = weight(lab->half_life, lab->now);
    uint32_t a = random_below(OBJECTS), b = random_below(OBJECTS);

    for (uint32_t i = 0; i < OBJECTS; i++) {
        double got = mirror_popularity(lab->m, lab->objects[i], lab->now);

        assert_true(is_near(got, lab->sums[i] / now) ||
                    (got == 0 && lab->sums[i] / now < two_to(-62)));
    }
    if (!is_near(lab->sums[a], lab->sums[b]))
        assert_int_equal(lab->sums[a] > lab->sums[b], popularity(lab, a) > popularity(lab, b));
}

static void access_one(struct lab *lab, uint32_t n)
{
    int64_t back = random_below(8) == 0 ? (int64_t)random_below(1000000000) : 0;
    int64_t time = back < lab->now ? lab->now - back : lab->now;

    mirror_accessed(lab->m, lab->objects[n], time);
    for (;; n = lab->parent[n]) {
        lab->sums[n] += weight(lab->half_life, time);
        if (!n)
            break;
    }
}

static void step(struct lab *lab)
{
    uint32_t n = random_below(OBJECTS), what = random_below(10);
    struct mirror_object *first;
    struct err err;

    if (what < 4) {
        lab->now += random_below(4) ? 0 : (int64_t)random_below(2000000000);
        access_one(lab, n);
    } else if (what < 7) {
        assert_int_equal(mirror_set_state(lab->m, lab->objects[n], MIRROR_QUEUED, &err), 0);
        if (!lab->queued[n])
            lab->queued[n] = ++lab->clock;
    } else if (what == 7) {
        assert_int_equal(mirror_set_state(lab->m, lab->objects[n], MIRROR_GONE, &err), 0);
        lab->queued[n] = 0;
    } else if (what == 8) {
        first = expected_first(lab);
        assert_ptr_equal(mirror_take_first(lab->m), first);
        if (first) {
            assert_int_equal(first->state, MIRROR_COPYING);
            for (uint32_t i = 0; i < OBJECTS; i++)
                if (lab->objects[i] == first)
                    lab->queued[i] = 0;
        }
    } else if (random_below(8) == 0) {
        lab->in_order = !lab->in_order;
        mirror_set_order(lab->m, !lab->in_order);
    }
    assert_ptr_equal(mirror_first(lab->m), expected_first(lab));
}

static void test_random(void **state)
{
    static struct lab lab;

    (void)state;
    for (uint64_t own = 1; own <= SEEDS; own++) {
        seed = own;
        start(&lab);
        for (uint32_t i = 0; i < STEPS; i++) {
            step(&lab);
            if (i % 20 == 0)
                check_sums(&lab);
        }
        while (expected_first(&lab)) { /* to the last one */
            struct mirror_object *first = mirror_take_first(lab.m);

            assert_ptr_equal(first, expected_first(&lab));
            for (uint32_t i = 0; i < OBJECTS; i++)
                if (lab.objects[i] == first)
                    lab.queued[i] = 0;
        }
        assert_null(mirror_take_first(lab.m));
        mirror_close(lab.m);
    }
}

static void test_decay(void **state)
{
    struct err err;
    struct mirror *m = mirror_open(10 * UINT64_C(1000000000), &err);
    struct mirror_object *a = add(m, 1), *b = add(m, 2), *late = add(m, 3), *old = add(m, 4);
    int64_t now = INT64_C(1700000000) * second;

    (void)state;
    assert_true(mirror_popularity(m, a, now) == 0);
    mirror_accessed(m, a, now);
    mirror_accessed(m, a, now);
    assert_true(mirror_popularity(m, a, now) == 2);
    assert_true(mirror_popularity(m, a, now + 10 * second) == 1);
    assert_true(mirror_popularity(m, a, now + 100 * second) == 2. / 1024);
    assert_true(mirror_popularity(m, a, now + 10000 * second) == 0);
    /* two accesses weigh less than one that is more than a half-life later */
    mirror_accessed(m, b, now + 11 * second);
    assert_true(b->popularity > a->popularity);
    mirror_accessed(m, a, now + 11 * second);
    assert_true(b->popularity < a->popularity);
    /* the ends of time */
    mirror_accessed(m, old, INT64_MIN);
    assert_true(mirror_popularity(m, old, -5) == 1);
    for (int i = 0; i < 1000; i++)
        mirror_accessed(m, late, INT64_MAX);
    assert_true(is_near(mirror_popularity(m, late, INT64_MAX), 1000));
    mirror_close(m);
}

/* Nobody counts times that are beyond the numbers: all weigh the same there. */
static void test_saturation(void **state)
{
    struct err err;
    struct mirror *m = mirror_open((uint64_t)second, &err);
    struct mirror_object *a = add(m, 1), *earlier = add(m, 2);
    uint64_t before = 0;

    (void)state;
    mirror_accessed(m, earlier, INT64_C(4100000000) * second);
    before = earlier->popularity;
    for (int i = 0; i < 100; i++) {
        mirror_accessed(m, a, INT64_MAX);
        assert_true(a->popularity >= before && a->popularity > 0);
        before = a->popularity;
    }
    mirror_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_decay),
        cmocka_unit_test(test_saturation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
