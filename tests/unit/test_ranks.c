/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages between the ranks of a replay, and who plays what. */
#include "player/tally.h"
#include "ranks/outcomes.h"
#include "ranks/owners.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* --- outcomes */

enum { MANY = 2000 };

static uint64_t some(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 20;
}

static struct player_outcome random_outcome(uint64_t *seed, uint64_t number, const uint8_t *lesson)
{
    struct player_outcome o = { .number = number,
                                .dump = some(seed) % 8 ? 0 : (uint32_t)(some(seed) % 300),
                                .tainted = some(seed) % 4 == 0,
                                .chain = (int64_t)(some(seed) % 100000000000) };

    if (o.tainted)
        o.because = some(seed) % 2 ? number : some(seed) % 3 ? some(seed) : UINT64_MAX;
    if (some(seed) % 4 == 0)
        o.lesson = (struct bytes){ lesson, 1 + (uint32_t)(some(seed) % 300) };
    return o;
}

static void assert_same(const struct player_outcome *a, const struct player_outcome *b)
{
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->dump, b->dump);
    assert_int_equal(a->tainted, b->tainted);
    assert_true(a->because == b->because);
    assert_int_equal(a->chain, b->chain);
    assert_int_equal(a->lesson.len, b->lesson.len);
    if (a->lesson.len)
        assert_memory_equal(a->lesson.data, b->lesson.data, a->lesson.len);
}

static void outcomes_come_back(void **state)
{
    struct outcomes all = { 0 };
    struct outcomes_reader reader;
    static struct player_outcome sent[MANY];
    struct player_outcome got;
    uint8_t lesson[300];
    uint64_t seed = 1, number = 0;
    struct err err;

    (void)state;
    for (unsigned i = 0; i < sizeof(lesson); i++)
        lesson[i] = (uint8_t)i;
    for (unsigned i = 0; i < MANY; i++) {
        number = i % 100 == 99 ? some(&seed) << 20 : number + some(&seed) % 64 - 20;
        sent[i] = random_outcome(&seed, number, lesson);
        assert_int_equal(outcomes_add(&all, &sent[i], &err), 0);
    }
    reader = (struct outcomes_reader){ .left = { all.bytes.data, (uint32_t)all.bytes.len } };
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(outcomes_next(&reader, &got, &err), 1);
        assert_same(&sent[i], &got);
    }
    assert_int_equal(outcomes_next(&reader, &got, &err), 0);
    outcomes_clear(&all);
    assert_int_equal(outcomes_add(&all, &sent[7], &err), 0);
    reader = (struct outcomes_reader){ .left = { all.bytes.data, (uint32_t)all.bytes.len } };
    assert_int_equal(outcomes_next(&reader, &got, &err), 1);
    assert_same(&sent[7], &got);
    outcomes_free(&all);
}

/* Every cut of a message is whole outcomes, or refused. */
static void cut_outcomes_are_refused(void **state)
{
    const struct player_outcome o = { .number = 300,
                                      .dump = 2,
                                      .tainted = true,
                                      .because = 7,
                                      .chain = 123456789,
                                      .lesson = { (const uint8_t *)"lesson", 6 } };
    struct outcomes all = { 0 };
    struct err err;

    (void)state;
    assert_int_equal(outcomes_add(&all, &o, &err), 0);
    for (size_t len = 1; len < all.bytes.len; len++) {
        uint8_t *copy = malloc(len); /* of its own size, for ASan */
        struct outcomes_reader reader = { .left = { copy, (uint32_t)len } };
        struct player_outcome got;

        memcpy(copy, all.bytes.data, len);
        assert_int_equal(outcomes_next(&reader, &got, &err), -ERR_INPUT);
        free(copy);
    }
    outcomes_free(&all);
}

static void assert_refused(const uint8_t *data, uint32_t len)
{
    struct outcomes_reader reader = { .left = { data, len } };
    struct player_outcome got;
    struct err err;

    assert_int_equal(outcomes_next(&reader, &got, &err), -ERR_INPUT);
}

static void bad_outcomes_are_refused(void **state)
{
    (void)state;
    assert_refused((const uint8_t[]){ 16, 0, 0 }, 3);                /* a bit that is not known */
    assert_refused((const uint8_t[]){ 2, 0, 0, 1 }, 4);              /* because, and not tainted */
    assert_refused((const uint8_t[]){ 4, 0, 0, 0 }, 4);              /* a lesson of no bytes */
    assert_refused((const uint8_t[]){ 4, 0, 0, 255, 255, 3, 1 }, 7); /* one beyond the end */
    assert_refused((const uint8_t[]){ 8, 255, 255, 255, 255, 31, 0, 0 }, 8); /* dump 2^33 - 1 */
    assert_refused((const uint8_t[]){ 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2, 0 }, 12);
    assert_refused((const uint8_t[]){ 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 }, 12);
}

/* --- owners */

static void owners_have_equal_loads(void **state)
{
    static const uint64_t loads[] = { 0, 100, 50, 40, 30, 20, 10, 0, 5, 5 };
    const uint32_t hosts[] = { 6, 2 };
    struct owners o;
    struct err err;

    (void)state;
    assert_int_equal(owners_new(&o, 2, hosts, 2, &err), 0);
    assert_int_equal(owners_hosts(&o), 10);
    memcpy(o.load, loads, sizeof(loads));
    assert_int_equal(owners_assign(&o, &err), 0);
    assert_int_equal(owners_load(&o, 0, 0) + owners_load(&o, 1, 0), 130);
    assert_int_equal(owners_load(&o, 0, 1) + owners_load(&o, 1, 1), 130);
    assert_int_equal(owners_of(&o, 0, 1), 0);
    assert_int_equal(owners_of(&o, 0, 2), 1);
    assert_int_equal(owners_of(&o, 0, 99), owners_of(&o, 0, 0)); /* no host of the dump */
    assert_int_equal(owners_idle(&o), 0);
    owners_free(&o);
    assert_int_equal(owners_new(&o, 5, hosts, 2, &err), 0);
    o.load[1] = o.load[9] = 3;
    owners_copy(&o, 1, 0);
    assert_int_equal(o.load[8], 3); /* host 1 of both */
    assert_int_equal(o.load[9], 0);
    assert_int_equal(owners_assign(&o, &err), 0);
    assert_int_equal(owners_idle(&o), 3);
    owners_free(&o);
}

/* --- tallies */

struct made {
    struct step step;
    struct verdict verdict;
    struct procedure procedure;
};

static void add(struct tally *t, uint64_t number, uint64_t *seed)
{
    struct made m = { 0 };
    int64_t planned = (int64_t)(some(seed) % 3000000000);
    struct done d = { .number = number,
                      .dump = (uint32_t)(number / 1000),
                      .step = &m.step,
                      .verdict = &m.verdict,
                      .planned = planned,
                      .entered = planned / 2,
                      .ready = planned + (int64_t)(some(seed) % 1000),
                      .chain = (int64_t)(some(seed) % 100000) };
    struct err err;

    m.step.number = (uint8_t)(number % 5);
    m.step.latency = (int64_t)(some(seed) % 1000000);
    m.step.status = 0xffffffff;
    m.verdict.class = number % 7 ? VERDICT_AS_RECORDED : (enum verdict_class)(some(seed) % 10);
    m.verdict.status = UINT32_MAX;
    m.verdict.rule_count = number % 9 == 0;
    m.verdict.rules[0] = 1 + (uint32_t)(number % 2);
    snprintf(m.verdict.text, sizeof(m.verdict.text), "of %u", (unsigned)number);
    d.allowed = d.ready + 5;
    d.sent = d.allowed + (int64_t)(some(seed) % 5000);
    d.answered = d.sent + (int64_t)(some(seed) % 90000000);
    d.resent = number % 11 == 0;
    assert_int_equal(tally_add(t, &d, &err), 0);
}

static struct tally *empty(void)
{
    struct err err;
    struct tally *t = tally_new(&err);

    assert_int_equal(tally_rules(t, 2, &err), 0);
    return t;
}

/* What several players have shown is what one shows who plays all of it; as bytes, too. */
static void tallies_add_up(void **state)
{
    enum { PARTS = 3, OPERATIONS = 3000 };
    struct tally *one = empty(), *parts[PARTS], *sum = empty();
    struct buf alone = { 0 }, together = { 0 };
    uint64_t seeds = 5;
    struct err err;

    (void)state;
    for (unsigned i = 0; i < PARTS; i++)
        parts[i] = empty();
    for (uint64_t n = 0; n < OPERATIONS; n++) {
        uint64_t seed = some(&seeds), same = seed;

        add(one, n, &seed);
        add(parts[n / 7 % PARTS], n, &same);
    }
    one->cpu_user = 6;
    one->writes = 12;
    for (unsigned i = 0; i < PARTS; i++) {
        struct tally *copy = empty();
        struct buf bytes = { 0 };

        parts[i]->cpu_user = 2;
        parts[i]->writes = 4;
        assert_int_equal(tally_write(parts[i], &bytes, &err), 0);
        assert_int_equal(tally_read(copy, (struct bytes){ bytes.data, (uint32_t)bytes.len }, &err),
                         0);
        assert_int_equal(tally_merge(sum, copy, &err), 0);
        tally_free(copy);
        tally_free(parts[i]);
        buf_free(&bytes);
    }
    assert_int_equal(tally_write(one, &alone, &err), 0);
    assert_int_equal(tally_write(sum, &together, &err), 0);
    assert_int_equal(alone.len, together.len);
    assert_memory_equal(alone.data, together.data, alone.len);
    buf_free(&alone);
    buf_free(&together);
    tally_free(one);
    tally_free(sum);
}

static void damaged_tallies_are_refused(void **state)
{
    struct tally *t = empty();
    struct buf bytes = { 0 };
    uint64_t seed = 1;
    struct err err;

    (void)state;
    for (uint64_t n = 0; n < 50; n++)
        add(t, n, &seed);
    assert_int_equal(tally_write(t, &bytes, &err), 0);
    for (size_t len = 0; len < bytes.len; len += 1 + len / 16) {
        struct tally *copy = empty();
        uint8_t *part = malloc(len + !len);

        memcpy(part, bytes.data, len);
        assert_int_equal(tally_read(copy, (struct bytes){ part, (uint32_t)len }, &err), -ERR_INPUT);
        free(part);
        tally_free(copy);
    }
    tally_free(t);
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_come_back),       cmocka_unit_test(cut_outcomes_are_refused),
        cmocka_unit_test(bad_outcomes_are_refused), cmocka_unit_test(owners_have_equal_loads),
        cmocka_unit_test(tallies_add_up),           cmocka_unit_test(damaged_tallies_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
