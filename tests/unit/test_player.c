/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_player.c
 *
 * live/player/player.h against random operations: that each is sent once, after what it depends on,
 * within horizon and limits, and that failures are contained as an oracle says that looks at the
 * whole graph.  test_player_run.c has plans, follow-ups and lost connections.
 */
#include "player_lab.h"
#include "player/play_queue.c"

/* --- queues */

static void test_queue(void **state)
{
    struct play_queue q = { 0 };
    int64_t keys[500], got;
    uint32_t count = 0, seed = 5;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        if (count < 500 && seed >> 30) {
            int64_t key = (seed >> 8) % 4 ? i : (int64_t)((seed >> 10) % 20000);

            keys[count++] = key;
            assert_int_equal(play_queue_add(&q, key, (struct play *)(uintptr_t)(key + 1), NULL), 0);
        } else if (count) {
            uint32_t least = 0;

            for (uint32_t k = 1; k < count; k++)
                if (keys[k] < keys[least])
                    least = k;
            assert_int_equal(play_queue_first(&q)->key, keys[least]);
            got = (int64_t)(uintptr_t)play_queue_take(&q) - 1;
            assert_int_equal(got, keys[least]);
            keys[least] = keys[--count];
        }
        assert_int_equal(play_queue_count(&q), count);
    }
    play_queue_free(&q);
}

/* --- random graphs */

/* The object that operation |i| makes. */
static uint32_t made_by(uint32_t i)
{
    return LAB_TREE + 1 + i;
}

static void make_graph(uint32_t horizon)
{
    for (uint32_t i = 0; i < lab->count; i++) {
        struct lab_step *s = &lab->steps[i];
        uint32_t most = horizon - 1 < i ? horizon - 1 : i, maker = 0;

        s->step.client = 2 + lab_random(4);
        if (lab_random(3) == 0)
            s->step.has |= STEP_CHANGES;
        if (lab_random(4) == 0)
            s->step.made = made_by(i);
        if (lab_random(10) == 0)
            s->class = 1 + lab_random(4); /* NEW_ERROR to DIFFERENT_RESULT */
        if (lab_random(20) == 0)
            s->step.unplayable = 1;
        for (uint32_t back = 1 + lab_random(4);
             back <= most && s->more.dependency_count < LAB_DEPENDENCIES; back += 1 + lab_random(9))
            if (lab_random(2))
                lab_depends(i, back);
        /* use what one of them made */
        for (uint32_t k = 0; k < s->more.dependency_count; k++)
            if (lab->steps[i - s->dependencies[k]].step.made)
                maker = made_by(i - s->dependencies[k]);
        if (maker)
            store_be32(s->arguments + 4, maker);
    }
}

/* What must become of an operation, looking back over all of them. */
struct fate {
    enum verdict_class class;
    bool tainted, has_object;
    uint64_t because;
};

static void tell_fates(struct fate *fates, bool ordered)
{
    for (uint32_t i = 0; i < lab->count; i++) {
        struct lab_step *s = &lab->steps[i];
        struct fate *f = &fates[i];
        uint32_t object = load_be32(s->arguments + 4);

        *f = (struct fate){ .class = s->class, .because = UINT64_MAX };
        for (uint32_t k = 0; ordered && k < s->more.dependency_count; k++) {
            const struct fate *other = &fates[i - s->dependencies[k]];

            if (other->tainted && other->because < f->because)
                f->because = other->because;
            f->tainted = f->tainted || other->tainted;
        }
        if (s->step.unplayable) {
            f->class = VERDICT_UNPLAYABLE;
            continue;
        }
        if (!f->tainted && object != LAB_TREE && !fates[object - LAB_TREE - 1].has_object) {
            const struct fate *maker = &fates[object - LAB_TREE - 1];

            f->tainted = true;
            f->because = maker->class == VERDICT_SKIPPED ? maker->because : object - LAB_TREE - 1;
        }
        if (f->tainted) {
            f->class = VERDICT_SKIPPED;
            continue;
        }
        f->has_object = s->step.made;
        if (s->step.has & STEP_CHANGES && f->class >= VERDICT_NEW_ERROR &&
            f->class <= VERDICT_DIFFERENT_ERROR) {
            f->tainted = true;
            f->because = i;
        }
    }
}

/* When an operation came to the server, all that it depends on had been answered, and those before
 * the horizon, too: their places in the order of receiving say it only together with the replies,
 * so the times of the player are compared. */
static void check_order(uint32_t horizon)
{
    for (uint32_t i = 0; i < lab->count; i++) {
        const struct lab_step *s = &lab->steps[i];

        if (s->done.sent < 0) {
            assert_int_equal(s->received, 0);
            continue;
        }
        assert_int_equal(s->received, 1);
        assert_true(s->done.entered <= s->done.ready && s->done.ready <= s->done.allowed &&
                    s->done.allowed <= s->done.sent && s->done.sent < s->done.answered);
        for (uint32_t k = 0; k < s->more.dependency_count; k++) {
            const struct lab_step *other = &lab->steps[i - s->dependencies[k]];

            if (other->done.answered >= 0)
                assert_true(other->done.answered <= s->done.sent);
            assert_true(s->done.chain >= other->done.chain + s->done.answered - s->done.sent);
        }
        for (uint32_t n = 0; n + horizon <= i; n++)
            assert_true(lab->steps[n].done.answered <= s->done.sent);
    }
}

static void test_graphs(void **state)
{
    static const uint32_t horizons[] = { 1, 2, 7, 30, 64, 300 };

    (void)state;
    for (uint32_t run = 0; run < 60; run++) {
        uint32_t horizon = horizons[run % 6];
        struct fate fates[LAB_STEPS];
        struct lab l;

        lab_begin(&l, 50 + run * 5, horizon);
        l.seed += run * 77;
        make_graph(horizon);
        l.setup.pick = run / 6 % 3;
        l.setup.connections = run % 4;
        l.setup.outstanding_each = run % 5 ? 0 : 1 + run % 3;
        l.setup.outstanding = run % 7 ? 0 : 1 + run % 4;
        lab_run_all();
        tell_fates(fates, true);
        for (uint32_t i = 0; i < l.count; i++) {
            if (l.steps[i].got != fates[i].class)
                fail_msg("run %u, operation %u: %d, not %d", run, i, l.steps[i].got,
                         fates[i].class);
            if (fates[i].class == VERDICT_SKIPPED)
                assert_int_equal(l.steps[i].done.because, fates[i].because);
        }
        check_order(horizon);
        if (l.setup.outstanding)
            assert_true(l.kept_most <= l.setup.outstanding);
        lab_end();
    }
}

/* Thousands that wait in a chain for one that fails: they are skipped without recursion, and all
 * because of the first. */
static void test_long_chain(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, LAB_STEPS, LAB_STEPS);
    l.steps[0].step.has = STEP_CHANGES;
    l.steps[0].class = VERDICT_NEW_ERROR;
    for (uint32_t i = 1; i < l.count; i++)
        lab_depends(i, 1);
    lab_run_all();
    for (uint32_t i = 1; i < l.count; i++) {
        assert_int_equal(l.steps[i].got, VERDICT_SKIPPED);
        assert_int_equal(l.steps[i].done.because, 0);
    }
    lab_end();
}

/* --- orders */

static void test_order_trace(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, 200, 50);
    make_graph(50);
    for (uint32_t i = 0; i < l.count; i++)
        l.steps[i].class = VERDICT_AS_RECORDED;
    l.setup.order = ORDER_TRACE;
    l.setup.connections = 1;
    l.setup.outstanding_each = 4;
    lab_run_all();
    for (uint32_t i = 1; i < l.order_count; i++)
        assert_true(l.order[i] > l.order[i - 1]);
    check_order(50);
    lab_end();
}

static void test_order_none(void **state)
{
    struct lab l;
    uint32_t early = 0;

    (void)state;
    lab_begin(&l, 100, 50);
    for (uint32_t i = 1; i < l.count; i++)
        lab_depends(i, 1);
    l.steps[0].class = VERDICT_NEW_ERROR;
    l.steps[0].step.has = STEP_CHANGES;
    l.setup.order = ORDER_NONE;
    lab_run_all();
    for (uint32_t i = 1; i < l.count; i++) {
        assert_int_equal(l.steps[i].got, VERDICT_AS_RECORDED);
        early += l.steps[i].done.sent < l.steps[i - 1].done.answered;
    }
    assert_true(early > 10);
    lab_end();
}

/* All are ready at once, one may go at a time: the order is that of picking. */
static void test_pick(void **state)
{
    struct lab l;
    uint32_t orders[2][40];

    (void)state;
    for (int pick = PICK_OLDEST; pick <= PICK_RANDOM; pick++) {
        for (int seed = 0; seed < 2; seed++) {
            lab_begin(&l, 40, 64);
            for (uint32_t i = 1; i < l.count; i++)
                lab_depends(i, i); /* on the first */
            l.setup.pick = pick;
            l.setup.seed = (uint64_t)seed;
            l.setup.outstanding_each = 1;
            l.feed.steady = true;
            lab_run_all();
            assert_int_equal(l.order_count, l.count);
            memcpy(orders[seed], l.order, sizeof(orders[0]));
            lab_end();
        }
        for (uint32_t i = 1; i < 40 && pick != PICK_RANDOM; i++)
            assert_int_equal(orders[0][i], pick == PICK_OLDEST ? i : 40 - i);
        assert_int_equal(memcmp(orders[0], orders[1], sizeof(orders[0])) == 0, pick != PICK_RANDOM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue),      cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_long_chain), cmocka_unit_test(test_order_trace),
        cmocka_unit_test(test_order_none), cmocka_unit_test(test_pick),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
