/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_player_dumps.c
 *
 * live/player/player.h with two dumps in one run: on one server, in two trees, with equal numbers.
 */
#include "player_lab.h"

/* The steps from |from| on become a second dump, of the same server and another tree. */
static void lab_split(struct lab *l, uint32_t from)
{
    struct err err = { 0 };

    l->second_feed = l->feed;
    l->second_feed.steps += from;
    l->second_feed.count -= from;
    l->second_feed.fd = eventfd(0, EFD_NONBLOCK);
    l->feed.count = from;
    l->dump.operations = from;
    l->second = l->dump;
    l->second.feed = &l->second_feed;
    l->second.operations = l->count - from;
    l->second.objects = objects_open(&err);
    l->second.verdicts = &l->second_verdicts;
    l->second_verdicts = (struct verdicts){ &l->second_feed, l->second.objects };
    lab_object(l->second.objects, LAB_TREE, 0x55000000);
    l->setup.dump_count = 2;
}

/* Operations of each dump that make objects, and others that use them, under equal numbers. */
static void make_two(struct lab *l, uint32_t from)
{
    for (uint32_t i = 0; i < l->count; i++) {
        struct lab_step *s = &l->steps[i];
        uint32_t at = i < from ? i : i - from;

        s->step.time = (int64_t)at * 100000;
        s->step.client = 2 + i % 3;
        if (at % 4 == 0) {
            s->step.has = STEP_CHANGES;
            s->step.made = 10 + at;
        } else {
            lab_depends(i, at % 4);
            store_be32(s->arguments + 4, 10 + at - at % 4);
        }
    }
}

static void test_two_dumps(void **state)
{
    static const enum player_pace paces[] = { PACE_TRACE, PACE_ASAP, PACE_RATE };

    (void)state;
    for (int k = 0; k < 9; k++) {
        struct lab l;
        uint32_t from = 120;

        lab_begin(&l, 300, 32);
        lab_split(&l, from);
        make_two(&l, from);
        l.steps[from + 40].class = VERDICT_NEW_ERROR; /* of the second dump only */
        l.seed += (uint32_t)k * 7919;
        l.setup.pace = paces[k % 3];
        l.setup.rate = 20000;
        l.setup.order = k < 6 ? ORDER_DEPENDENCIES : ORDER_TRACE;
        l.setup.connections = (uint32_t)k / 3;
        l.setup.outstanding = k == 4 ? 3 : 0;
        l.dump.delay = lab_random(5000000);
        l.second.delay = lab_random(5000000);
        lab_run_all();
        for (uint32_t i = 0; i < l.count; i++) {
            const struct lab_step *s = &l.steps[i];
            uint32_t at = i < from ? i : i - from;
            int64_t delay = i < from ? l.dump.delay : l.second.delay;
            bool skipped = i > from + 40 && i < from + 44;

            assert_int_equal(s->got, i == from + 40 ? VERDICT_NEW_ERROR
                                     : skipped      ? VERDICT_SKIPPED
                                                    : VERDICT_AS_RECORDED);
            assert_int_equal(s->done.number, at);
            assert_int_equal(s->done.dump, i >= from);
            assert_true(skipped ? s->done.because == 40 : s->done.sent >= delay);
            if (l.setup.pace == PACE_TRACE)
                assert_int_equal(s->done.planned, delay + (int64_t)at * 100000);
            if (l.setup.pace == PACE_RATE)
                assert_int_equal(s->done.planned, delay + (2 * (int64_t)at + (i >= from)) * 50000);
        }
        lab_end();
    }
}

/* The warm-up of both is over before either plan begins; one ends early, then both do. */
static void test_two_dumps_ends(void **state)
{
    struct lab l;
    int64_t last = 0;

    (void)state;
    lab_begin(&l, 300, 32);
    lab_split(&l, 10);
    for (uint32_t i = 0; i < l.count; i++)
        l.steps[i].step.time = i < 100 ? 0 : INT64_C(3600000000000);
    l.setup.pace = PACE_TRACE;
    l.setup.warm_up = -1;
    l.setup.warm_up_operations = 20; /* more than the first dump has */
    l.setup.duration = 600000000;    /* progress is told twice */
    lab_run_all();
    for (uint32_t i = 0; i < l.count; i++) {
        assert_int_equal(l.steps[i].got, i < 100 ? VERDICT_AS_RECORDED : VERDICT_NOT_PLAYED);
        if (i < 30 && l.steps[i].done.answered > last)
            last = l.steps[i].done.answered;
        assert_int_equal(l.steps[i].done.warm_up, i < 30);
    }
    for (uint32_t i = 30; i < 100; i++)
        assert_true(l.steps[i].done.planned >= last);
    assert_int_equal(l.progress.total, 300);
    lab_end();

    lab_begin(&l, 200, 32); /* of one, nobody knows how long it is */
    lab_split(&l, 100);
    l.second.operations = 0;
    l.steps[150].mute = true;
    l.setup.duration = 300000000;
    lab_run_all();
    assert_int_equal(l.progress.total, 0);
    assert_int_equal(l.steps[150].got, VERDICT_UNANSWERED);
    lab_end();
}

/* The run begins later, as ranks agree: with a warm-up nothing is sent earlier either, so no time
 * is below 0. */
static void test_begins_later(void **state)
{
    struct lab l;

    (void)state;
    for (uint32_t warm = 0; warm <= 20; warm += 10) {
        lab_begin(&l, 100, 32);
        l.setup.pace = PACE_ASAP;
        l.setup.warm_up = -1;
        l.setup.warm_up_operations = warm;
        l.setup.begin = loop_clock() + 200000000;
        lab_run_all();
        for (uint32_t i = 0; i < l.count; i++) {
            assert_int_equal(l.steps[i].got, VERDICT_AS_RECORDED);
            assert_int_equal(l.steps[i].done.warm_up, i < warm);
            assert_true(l.steps[i].done.planned >= 0 && l.steps[i].done.sent >= 0);
        }
        lab_end();
    }
}

/* A warm-up without operations, as one up to a time before the first: the duration begins when the
 * run does. */
static void test_duration_begins_later(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, 100, 32);
    for (uint32_t i = 0; i < l.count; i++)
        l.steps[i].step.time += 2;
    l.setup.pace = PACE_ASAP;
    l.setup.warm_up = 1;
    l.setup.duration = INT64_C(2000000000);
    l.setup.begin = loop_clock() + INT64_C(2100000000);
    lab_run_all();
    for (uint32_t i = 0; i < l.count; i++) {
        assert_int_equal(l.steps[i].got, VERDICT_AS_RECORDED);
        assert_false(l.steps[i].done.warm_up);
    }
    lab_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_dumps),
        cmocka_unit_test(test_two_dumps_ends),
        cmocka_unit_test(test_begins_later),
        cmocka_unit_test(test_duration_begins_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
