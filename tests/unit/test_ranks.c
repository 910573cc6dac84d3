/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages between the ranks of a replay, and who plays what. */
#include "fill/fill.h"
#include "player/player_parts.h"
#include "player/verdict_lesson.h"
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

static void a_tally_that_was_read_goes_on(void **state)
{
    struct tally *t = empty(), *copy = empty();
    struct buf bytes = { 0 };
    struct err err;

    (void)state;
    histogram_add(&t->late_all, 5);
    assert_int_equal(tally_write(t, &bytes, &err), 0);
    assert_int_equal(tally_read(copy, (struct bytes){ bytes.data, (uint32_t)bytes.len }, &err), 0);
    histogram_add(&copy->late_all, 0);
    assert_int_equal(copy->late_all.least, 0);
    assert_int_equal(copy->late_all.most, 5);
    buf_free(&bytes);
    tally_free(copy);
    tally_free(t);
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

/* --- operations of other ranks in the player */

static bool owns_client_1(void *ctx, uint32_t dump, uint32_t client)
{
    (void)ctx;
    (void)dump;
    return client == 1;
}

/* A player without a run: a ring of 64 operations. */
struct other_lab {
    struct player player;
    struct playing dump;
    struct player_others others;
    struct step steps[64];
};

static void other_begin(struct other_lab *l)
{
    struct err err;

    memset(l, 0, sizeof(*l));
    l->others.owns = owns_client_1;
    l->player.setup.others = &l->others;
    l->player.setup.dump_count = 1;
    l->player.setup.loop = loop_new(&err);
    l->player.dumps = &l->dump;
    l->dump.player = &l->player;
    l->dump.mask = 63;
    l->dump.horizon = 64;
    l->dump.ring = calloc(64, sizeof(*l->dump.ring));
    l->dump.setup.objects = objects_open(&err);
    assert_int_equal(other_open(&l->dump, &err), 0);
}

static void other_end(struct other_lab *l)
{
    other_close(&l->dump);
    loop_unidle(l->player.setup.loop, &l->player.round);
    loop_free(l->player.setup.loop);
    objects_close(l->dump.setup.objects);
    free(l->dump.ring);
    free(l->dump.wakes);
}

/* The feed gives the next operation, of another rank or of this one. */
static struct play *other_enter(struct other_lab *l, bool other)
{
    uint64_t number = l->dump.given++;
    struct play *play = &l->dump.ring[number & 63];

    *play = (struct play){ .step = &l->steps[number & 63],
                           .in = &l->dump,
                           .waiters = PLAY_NONE,
                           .next = PLAY_NONE,
                           .state = PLAY_WAITS,
                           .flags = other ? PLAY_OTHER : 0 };
    return play;
}

static int told(struct other_lab *l, uint64_t number, uint64_t because)
{
    const struct player_outcome o = {
        .number = number, .tainted = because != number, .because = because, .chain = 100
    };
    struct err err;

    return player_outcome(&l->player, &o, &err);
}

static void outcomes_wait_for_their_operations(void **state)
{
    struct other_lab l;
    struct play *early, *away, *ours;
    struct err err;

    (void)state;
    other_begin(&l);
    assert_int_equal(told(&l, 0, 77), 0); /* before the feed has given it */
    assert_int_equal(told(&l, 127, 127), 0);
    assert_int_equal(told(&l, 128, 128), 1);      /* beyond two horizons */
    assert_int_equal(told(&l, 0, 0), -ERR_INPUT); /* twice */
    l.steps[0].made = 9;
    early = other_enter(&l, true);
    assert_int_equal(other_ready(&l.player, early, &err), 0);
    assert_int_equal(early->state, PLAY_DONE);
    assert_true(early->flags & PLAY_TAINTED);
    assert_int_equal(early->because, 77);
    assert_int_equal(early->chain, 100);
    assert_int_equal(objects_find(l.dump.setup.objects, 9)->maker, 77);
    assert_int_equal(told(&l, 0, 0), -ERR_INPUT); /* it has ended */

    away = other_enter(&l, true);
    assert_int_equal(told(&l, 1, 1), 0); /* what it depends on has not ended here */
    assert_int_equal(away->state, PLAY_WAITS);
    assert_int_equal(other_ready(&l.player, away, &err), 0);
    assert_int_equal(away->state, PLAY_DONE);
    away = other_enter(&l, true);
    assert_int_equal(other_ready(&l.player, away, &err), 0);
    assert_int_equal(away->state, PLAY_AWAY);
    assert_int_equal(told(&l, 2, 2), 0);
    assert_int_equal(away->state, PLAY_DONE);
    assert_false(away->flags & PLAY_TAINTED);

    ours = other_enter(&l, false);
    assert_int_equal(told(&l, 3, 3), -ERR_INPUT); /* this rank plays it */
    assert_int_equal(ours->state, PLAY_WAITS);
    l.dump.base = 3;
    assert_int_equal(told(&l, 2, 2), -ERR_INPUT); /* released */
    assert_int_equal(told(&l, 128, 128), 0);      /* there is room now */
    other_end(&l);
}

/* --- lessons */

struct lesson_lab {
    struct script script;
    struct objects *objects;
    struct verdicts *verdicts;
};

static void lesson_begin(struct lesson_lab *l)
{
    struct verdict_setup setup = { .script = &l->script, .fill = true };
    struct err err;

    *l = (struct lesson_lab){ .script = { .trace = { .copies = 1, .horizon = 64 } } };
    setup.objects = l->objects = objects_open(&err);
    l->verdicts = verdicts_new(&setup, &err);
    assert_non_null(l->verdicts);
}

static void lesson_end(struct lesson_lab *l)
{
    verdicts_free(l->verdicts);
    objects_close(l->objects);
}

/* The handle of a new object, and the bytes of a WRITE. */
static void handles_and_sizes_are_taught(void **state)
{
    uint8_t offset[20] = { 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 16, 0 };
    struct procedure make = { .action = ACTION_MAKE }, writes = { .action = ACTION_WRITE };
    struct step step = { .procedure = &make, .server = 2, .made = 5 };
    struct step write = { .procedure = &writes,
                          .has = STEP_CHANGES | STEP_HAS_DATA,
                          .value_at = 8,
                          .arguments = { offset, sizeof(offset) } };
    struct verdict found = { .found = 5, .learned = true };
    struct verdict wrote = { .bytes = 4000, .learned_contents = true };
    const struct verdict nothing = { 0 };
    struct lesson_lab a, b;
    struct object *object;
    struct bytes lesson;
    struct err err;

    (void)state;
    lesson_begin(&a);
    lesson_begin(&b);
    object = objects_add(a.objects, 5, &err);
    object->type = NF3REG;
    assert_int_equal(objects_set_handle(a.objects, 2, object,
                                        (struct bytes){ (const uint8_t *)"handle-5", 8 }, &err),
                     0);
    assert_int_equal(verdict_lesson(a.verdicts, 1, &step, &nothing, &lesson, &err), 0);
    assert_int_equal(lesson.len, 0);
    assert_int_equal(verdict_lesson(a.verdicts, 1, &step, &found, &lesson, &err), 0);
    for (uint32_t len = 0; len < lesson.len; len++) /* cut */
        assert_int_equal(
            verdict_taught(b.verdicts, 1, &step, (struct bytes){ lesson.data, len }, &err),
            -ERR_INPUT);
    assert_int_equal(verdict_taught(b.verdicts, 1, &step, lesson, &err), 0);
    object = objects_find(b.objects, 5);
    assert_int_equal(object->type, NF3REG);
    assert_int_equal(objects_number(b.objects, 2, (struct bytes){ (const uint8_t *)"handle-5", 8 }),
                     5);
    assert_int_equal(verdict_lesson(a.verdicts, 2, &write, &wrote, &lesson, &err), 0);
    assert_int_equal(lesson.len, 9);
    assert_int_equal(verdict_taught(b.verdicts, 2, &write, lesson, &err), 0);
    assert_int_equal(object->size, 4096 + 4000);
    assert_int_equal(object->hole_to, 4096);
    assert_int_equal(verdict_taught(b.verdicts, 2, &step, lesson, &err), -ERR_INPUT);
    lesson_end(&a);
    lesson_end(&b);
}

/* Where another rank's listing can be continued. */
static void cookies_are_taught(void **state)
{
    static const uint32_t places[] = { 4, 9 };
    const struct step_more gives = { .cookies = places, .cookie_count = 2 };
    const struct step_more on = { .cookie_from = 3, .cookie_entries = 9 };
    struct procedure lists = { .action = ACTION_LIST };
    struct step step = { .procedure = &lists, .has = STEP_LISTS, .more = &gives };
    struct step next = { .procedure = &lists, .has = STEP_LISTS | STEP_CONTINUES, .more = &on };
    const struct verdict nothing = { 0 };
    uint8_t bytes[1 + 12 + 2 * 33] = { LESSON_COOKIES, 'v', 'e', 'r', 'i', 'f', 'i', 'e', 'r' };
    struct bytes lesson = { bytes, sizeof(bytes) }, again;
    struct fill_in with = { 0 };
    struct lesson_lab l;
    struct err err;

    (void)state;
    store_be32(bytes + 9, 2);
    for (unsigned i = 0; i < 2; i++) {
        store_be32(bytes + 13 + 33 * i, places[i]);
        store_be64(bytes + 17 + 33 * i, 1000 + places[i]);
    }
    lesson_begin(&l);
    for (uint32_t len = 0; len < lesson.len; len++)
        assert_int_equal(verdict_taught(l.verdicts, 7, &step, (struct bytes){ bytes, len }, &err),
                         -ERR_INPUT);
    assert_int_equal(verdict_taught(l.verdicts, 7, &next, lesson, &err), -ERR_INPUT);
    assert_false(verdict_cookie(l.verdicts, 10, &next, &with));
    assert_int_equal(verdict_taught(l.verdicts, 7, &step, lesson, &err), 0);
    assert_true(verdict_cookie(l.verdicts, 10, &next, &with));
    assert_int_equal(with.cookie, 1009);
    assert_memory_equal(with.verifier, "verifier", 8);
    assert_int_equal(verdict_lesson(l.verdicts, 7, &step, &nothing, &again, &err), 0);
    assert_int_equal(again.len, lesson.len);
    assert_memory_equal(again.data, bytes, lesson.len);
    lesson_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_come_back),
        cmocka_unit_test(cut_outcomes_are_refused),
        cmocka_unit_test(bad_outcomes_are_refused),
        cmocka_unit_test(owners_have_equal_loads),
        cmocka_unit_test(tallies_add_up),
        cmocka_unit_test(a_tally_that_was_read_goes_on),
        cmocka_unit_test(damaged_tallies_are_refused),
        cmocka_unit_test(outcomes_wait_for_their_operations),
        cmocka_unit_test(handles_and_sizes_are_taught),
        cmocka_unit_test(cookies_are_taught),
    };

    wire_init();
    fill_at(0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
