/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_player_run.c
 *
 * live/player/player.h: plans and warm-up, further calls for an operation, lost connections, silent
 * servers, and the ways in which a run ends.  No assertion is about how fast this machine is.
 */
#include "player_lab.h"

/* A busy machine may take all the time that something has.  So what needs some is done again with
 * more of it. */
enum { TIMES = 4, TIMES_MOST = TIMES * TIMES * TIMES };

/* --- plans */

/* The plan's time of each operation, by the pace; nothing is sent before it. */
static void check_plan(const struct lab *l, uint32_t from, int64_t first, int64_t step)
{
    for (uint32_t i = from; i < l->count; i++) {
        const struct done *done = &l->steps[i].done;

        assert_int_equal(done->planned, first + (int64_t)(i - from) * step);
        assert_true(done->sent >= done->planned);
        assert_false(done->warm_up);
    }
}

/* Plays operations every half millisecond, |times| as slowly.  Returns if the one that is due later
 * than those behind it was sent with them. */
static bool trace(struct lab *l, int64_t times)
{
    lab_begin(l, 50, 64);
    for (uint32_t i = 0; i < l->count; i++) {
        l->steps[i].step.time = i * 2000000 * times;
        if (i % 7 == 3)
            lab_depends(i, 2);
    }
    l->steps[10].step.time = 60000000 * times;
    l->setup.pace = PACE_TRACE;
    l->setup.scale = 4;
    l->dump.delay = 3000000;
    lab_run_all();
    return l->steps[10].received_at <= l->steps[11].received_at;
}

static void test_pace_trace(void **state)
{
    struct lab l;
    int64_t times = 1, step;

    (void)state;
    while (trace(&l, times) && times < TIMES_MOST) {
        lab_end();
        times *= TIMES;
    }
    step = 500000 * times;
    assert_int_equal(l.steps[10].done.planned, 3000000 + 30 * step);
    assert_true(l.steps[10].received_at > l.steps[11].received_at);
    l.steps[10].done = l.steps[9].done;
    l.steps[10].done.planned += step;
    l.steps[10].done.sent += step;
    check_plan(&l, 0, 3000000, step);
    lab_end();
}

static void test_pace_rate(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, 40, 64);
    l.setup.pace = PACE_RATE;
    l.setup.rate = 2000;
    l.setup.spin = true;
    lab_run_all();
    check_plan(&l, 0, 0, 500000);
    /* No limit was reached, so whatever was late, was the player's own. */
    for (uint32_t i = 0; i < l.count; i++)
        assert_int_equal(l.steps[i].done.allowed, l.steps[i].done.ready);
    assert_int_equal(l.setup.tally->late[LATE_OUTSTANDING].count, 0);
    lab_end();
}

/* The warm-up has no plan; the plan begins when it is done. */
static void test_warm_up(void **state)
{
    (void)state;
    for (int by_time = 0; by_time < 2; by_time++) {
        struct lab l;
        int64_t last = 0;

        lab_begin(&l, 60, 64);
        for (uint32_t i = 0; i < l.count; i++)
            l.steps[i].step.time = i * 1000000;
        l.steps[21].step.time = 0; /* before, but behind the first one that is measured */
        for (uint32_t i = 1; i <= 20; i++)
            lab_depends(i, 1);
        l.setup.pace = PACE_TRACE;
        l.setup.scale = 2;
        l.setup.warm_up = by_time ? 20000000 : -1;
        l.setup.warm_up_operations = 20;
        lab_run_all();
        for (uint32_t i = 0; i < 20; i++) {
            assert_true(l.steps[i].done.warm_up);
            assert_int_equal(l.steps[i].done.planned, l.steps[i].done.ready);
            if (l.steps[i].done.answered > last)
                last = l.steps[i].done.answered;
        }
        assert_true(l.steps[20].done.planned >= last);
        assert_int_equal(l.steps[20].done.planned, l.steps[20].done.measured);
        for (uint32_t i = 0; i < l.count; i++) {
            const struct done *d = &l.steps[i].done;

            assert_int_equal(d->chain, i < 20 ? 0 : d->answered - d->sent);
        }
        assert_int_equal(l.steps[21].done.planned, l.steps[20].done.planned);
        l.steps[21].done = l.steps[20].done;
        l.steps[21].done.planned += 500000;
        l.steps[21].done.sent += 500000;
        check_plan(&l, 20, l.steps[20].done.planned, 500000);
        lab_end();
    }
}

/* --- further calls */

static void test_follow_ups(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, 8, 16);
    l.steps[0].next = NEXT_AGAIN;
    l.steps[0].nexts = 3;
    lab_depends(1, 1);
    l.steps[2].next = NEXT_LIST_ON;
    l.steps[2].nexts = 2;
    l.steps[2].step.has = STEP_LISTS;
    l.steps[3].next = NEXT_LOOKUP; /* the reply has no handle: whoever needs it waits */
    l.steps[3].nexts = 1;
    l.steps[3].step.made = 5;
    l.steps[3].step.procedure = procedure_find(100003, 3, 8);
    store_be32(l.steps[3].arguments + LAB_HANDLE, 3);
    memcpy(l.steps[3].arguments + 12, "nam", 4); /* the lab's number is its length */
    l.steps[3].step.arguments.len = 16;
    lab_depends(4, 1);
    store_be32(l.steps[4].arguments + 4, 5);
    l.steps[5].step.has = STEP_GUARDED | STEP_CHANGES;
    l.steps[6].step.has = STEP_CONTINUES | STEP_LISTS;
    l.steps[6].more.cookie_from = 1;
    lab_depends(6, 1);
    lab_run_all();
    for (uint32_t i = 0; i < l.count; i++)
        assert_int_equal(l.steps[i].got, VERDICT_AS_RECORDED);
    assert_int_equal(l.steps[0].received, 4);
    assert_true(l.steps[1].done.sent >= l.steps[0].done.answered);
    assert_true(l.steps[0].done.answered >= l.steps[0].done.sent + 3 * 1000000);
    assert_int_equal(l.steps[2].received, 3);
    assert_int_equal(l.steps[2].listed_on, 2);
    assert_int_equal(l.steps[3].received, 1);
    assert_int_equal(l.steps[3].looked_up, 1);
    assert_int_equal(l.steps[5].learned, 1);
    assert_int_equal(l.steps[5].received, 1);
    assert_int_equal(l.steps[6].listed_on, 1);
    lab_end();
}

/* An operation that waits to be asked again keeps its place among those under way. */
static void test_busy(void **state)
{
    (void)state;
    for (uint32_t places = 1; places <= 2; places++) {
        struct lab l;

        lab_begin(&l, 4, 16);
        for (uint32_t i = 0; i < l.count; i++)
            l.steps[i].step.time = i * 400000; /* so the player wakes while it waits */
        l.setup.pace = PACE_TRACE;
        l.setup.scale = 1;
        l.setup.outstanding = places;
        l.steps[0].next = NEXT_AGAIN;
        l.steps[0].nexts = 3;
        lab_run_all();
        assert_int_equal(l.steps[0].received, 4);
        for (uint32_t i = 1; i < l.count && places == 1; i++)
            assert_true(l.steps[i].done.sent >= l.steps[i - 1].done.answered);
        if (places == 2)
            assert_true(l.steps[1].done.sent < l.steps[0].done.answered);
        lab_end();
    }
}

/* A listing that cannot go on, and a handle that nobody has. */
static void test_skipped(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, 5, 16);
    l.steps[0].class = VERDICT_NEW_ERROR; /* a listing changes nothing */
    l.steps[1].step.has = STEP_CONTINUES | STEP_LISTS;
    l.steps[1].more.cookie_from = 1;
    lab_depends(1, 1);
    store_be32(l.steps[2].arguments + 4, 99);
    l.steps[3].step.server = 2; /* not played */
    lab_run_all();
    assert_int_equal(l.steps[1].got, VERDICT_SKIPPED);
    assert_int_equal(l.steps[1].done.because, 0);
    assert_int_equal(l.steps[2].got, VERDICT_SKIPPED);
    assert_true(l.steps[2].done.because == UINT64_MAX);
    assert_int_equal(l.steps[3].got, VERDICT_UNPLAYABLE);
    assert_int_equal(l.steps[4].got, VERDICT_AS_RECORDED);
    lab_end();
}

/* --- connections */

/* The connection ends after a CREATE was executed; sent again, it finds its own file. */
static void test_lost_connection(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, 30, 8);
    for (uint32_t i = 0; i < l.count; i++) {
        struct lab_step *s = &l.steps[i];

        s->step.has = STEP_CHANGES;
        s->step.procedure = procedure_find(100003, 3, i % 2 ? 8 : 1);
        s->drops = i == 11 || i == 20;
        s->class = i == 11 || i == 20 ? VERDICT_NEW_ERROR : VERDICT_AS_RECORDED;
        if (i)
            lab_depends(i, 1);
    }
    l.steps[11].step.made = 50;
    memcpy(l.steps[11].arguments + 12, "elevenbytes", 12);
    l.steps[11].step.arguments.len = 24;
    store_be32(l.steps[12].arguments + 4, 50);
    lab_run_all();
    for (uint32_t i = 0; i < l.count; i++)
        assert_int_equal(l.steps[i].got, i == 11   ? VERDICT_UNCERTAIN
                                         : i == 20 ? VERDICT_NEW_ERROR /* GETATTR */
                                         : i < 20  ? VERDICT_AS_RECORDED
                                                   : VERDICT_SKIPPED);
    assert_int_equal(l.steps[11].looked_up, 1);
    assert_int_equal(l.steps[11].received, 2);
    assert_int_equal(l.steps[11].done.resent, 1);
    assert_int_equal(l.tally.lost_connections, 2);
    assert_int_equal(l.tally.outages, 2);
    assert_int_equal(l.notes, 2);
    assert_true(l.tally.outages_ns > 0);
    lab_end();
}

static uint32_t connections_of(const struct lab *l, uint32_t server)
{
    uint32_t different = 0;

    for (uint32_t i = 0; i < l->count; i++) {
        const struct lab_step *s = &l->steps[i];
        bool is_new = s->step.server == server;

        for (uint32_t k = 0; k < i && is_new; k++)
            is_new = l->steps[k].step.server != server || l->steps[k].connection != s->connection;
        different += is_new;
    }
    return different;
}

/* With more connections than the trace has clients, operations take turns on them: those of two
 * servers, too, of which each has each second operation. */
static void test_turns(void **state)
{
    (void)state;
    for (uint32_t connections = 1; connections <= 16; connections *= 4)
        for (uint32_t servers = 1; servers <= 2; servers++) {
            struct lab l;

            lab_begin(&l, 180, 16);
            for (uint32_t i = 0; i < l.count; i++)
                l.steps[i].step.server = i % servers ? 3 : 1;
            for (uint32_t i = 3; i <= 8; i++) /* 1 and 2 are left */
                l.hosts[i].is_server = true;
            l.setup.connections = connections;
            lab_run_all();
            for (uint32_t i = 0; i < l.count; i++)
                assert_int_equal(l.steps[i].got, VERDICT_AS_RECORDED);
            assert_int_equal(connections_of(&l, 1), connections);
            assert_int_equal(connections_of(&l, 3), servers == 1 ? 0 : connections);
            lab_end();
        }
}

/* A server with several connections, which falls silent, has one outage.  It is one also if it is
 * given up before anybody was told of the silence. */
static void test_silent_connections(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, 60, 32);
    for (uint32_t i = 8; i < l.count; i++)
        l.steps[i].mute = true;
    l.setup.connections = 5;
    l.setup.give_up = 400000000;
    lab_run_all();
    assert_int_equal(l.steps[59].got, VERDICT_NOT_PLAYED);
    assert_int_equal(l.tally.outages, 1);
    assert_true(l.tally.outages_ns >= l.setup.give_up);
    lab_end();
}

/* Contents of WRITEs, short ones, those that are sent from where they are, and those that are too
 * long for it; also sent again. */
static void test_contents(void **state)
{
    static const uint32_t lengths[] = { 0, 1, 1023, 1025, 4096, 65537, FILL_RUN, FILL_RUN + 5001 };
    struct lab l;

    (void)state;
    lab_begin(&l, 24, 24);
    for (uint32_t i = 0; i < l.count; i++) {
        struct lab_step *s = &l.steps[i];

        s->step.has = STEP_CHANGES | STEP_HAS_DATA;
        s->step.data_len = lengths[i % 8];
        s->step.value_at = 12;
        store_be64(s->arguments + 12, i * UINT64_C(123456789));
        s->step.arguments.len = 20;
        s->drops = i == 9 || i == 14 || i == 15;
    }
    l.setup.connections = 1;
    lab_run_all();
    for (uint32_t i = 0; i < l.count; i++) {
        assert_int_equal(l.steps[i].got, VERDICT_AS_RECORDED);
        assert_true(l.steps[i].received >= (l.steps[i].drops ? 2 : 1));
    }
    lab_end();
}

/* Plays 20 operations, of which one is never answered.  Returns if others were late, too. */
static bool silence(struct lab *l, int64_t times)
{
    lab_begin(l, 20, 8);
    l->steps[5].mute = true;
    l->steps[5].step.source = 4711;
    l->setup.timeout = 10000000 * times;
    l->setup.give_up = 300000000 * times;
    lab_run_all();
    return l->steps[12].got != VERDICT_AS_RECORDED || !strstr(l->first_note, "operation 5 ");
}

/* One operation is never answered: it is named, then the run ends. */
static void test_silence(void **state)
{
    struct lab l;

    (void)state;
    for (int64_t times = 1; silence(&l, times) && times < TIMES_MOST; times *= TIMES)
        lab_end();
    assert_true(l.notes >= 1);
    assert_int_equal(l.steps[5].got, VERDICT_UNANSWERED);
    for (uint32_t i = 0; i < l.count; i++)
        if (i != 5) /* 8 is the horizon */
            assert_int_equal(l.steps[i].got, i < 5 + 8 ? VERDICT_AS_RECORDED : VERDICT_NOT_PLAYED);
    assert_string_equal(l.tally.ended_early, "the server answered no more");
    assert_non_null(strstr(l.first_note, "operation 5 (GETATTR, id 4711)"));
    assert_int_equal(l.tally.outages, 1);
    assert_true(l.tally.outages_ns >= l.setup.give_up);
    lab_end();
}

/* What was sent again counts, also if there is no answer to that. */
static void test_silence_again(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, 20, 8);
    l.steps[5].mute = l.steps[5].drops = true;
    l.setup.give_up = 2000000000;
    lab_run_all();
    assert_int_equal(l.steps[5].got, VERDICT_UNANSWERED);
    assert_int_equal(l.steps[5].received, 2);
    assert_int_equal(l.steps[5].done.resent, 1);
    lab_end();
}

/* --- ends */

static void test_stop(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, 300, 64);
    for (uint32_t i = 1; i < l.count; i++)
        lab_depends(i, 1);
    l.stop_after = 100;
    lab_run_all();
    for (uint32_t i = 0; i < l.count; i++) /* also those beyond the horizon */
        assert_int_equal(l.steps[i].got, i < 100 ? VERDICT_AS_RECORDED : VERDICT_NOT_PLAYED);
    assert_int_equal(l.steps[299].done.number, 299);
    assert_int_equal(l.steps[299].done.sent, -1);
    assert_int_equal(l.order_count, 100);
    assert_false(l.tally.unread);
    assert_null(l.tally.ended_early);
    lab_end();
}

/* The rest does not come: the run ends without it, and says so. */
static void test_stop_unread(void **state)
{
    struct lab l;

    (void)state;
    lab_begin(&l, 300, 64);
    l.stop_after = 10;
    l.feed.hang_at = 200;
    lab_run_all_given();
    assert_int_equal(l.feed.given, 200);
    assert_int_equal(l.steps[199].got, VERDICT_NOT_PLAYED);
    assert_true(l.tally.unread);
    lab_end();

    lab_begin(&l, 300, 64); /* somebody has enough of it */
    l.stop_after = 10;
    l.quit_after = 150;
    lab_run_all_given();
    assert_true(l.feed.given >= 150);
    assert_true(l.feed.given < 300);
    assert_true(l.tally.unread);
    lab_end();
}

/* What was not played may be damaged. */
static void test_stop_damage(void **state)
{
    struct err err = { 0 };
    struct lab l;

    (void)state;
    lab_begin(&l, 300, 64);
    for (uint32_t i = 1; i < l.count; i++)
        lab_depends(i, 1);
    l.stop_after = 10;
    l.damaged = 250;
    assert_int_equal(lab_run(&err), -ERR_INPUT);
    assert_string_equal(err.text, "damaged");
    assert_int_equal(l.feed.given, 250);
    assert_false(l.tally.unread);
    lab_end();
}

/* Plays 50 operations, and others an hour later.  Returns if there was no time for the 50. */
static bool lasts(struct lab *l, int64_t duration)
{
    uint32_t played = 0;

    lab_begin(l, 400, 128);
    for (uint32_t i = 0; i < l->count; i++)
        l->steps[i].step.time = i < 50 ? 0 : INT64_C(3600000000000);
    l->setup.pace = PACE_TRACE;
    l->setup.duration = duration;
    lab_run_all();
    while (played < 50 && l->steps[played].got == VERDICT_AS_RECORDED)
        played++;
    return played < 50;
}

static void test_duration(void **state)
{
    struct lab l;

    (void)state;
    for (int64_t times = 1; lasts(&l, 50000000 * times) && times < TIMES_MOST; times *= TIMES)
        lab_end();
    assert_string_equal(l.tally.ended_early, "its duration was over");
    for (uint32_t i = 0; i < l.count; i++)
        assert_int_equal(l.steps[i].got, i < 50 ? VERDICT_AS_RECORDED : VERDICT_NOT_PLAYED);
    lab_end();
}

static void test_damage(void **state)
{
    struct err err = { 0 };
    struct lab l;

    (void)state;
    lab_begin(&l, 60, 16);
    l.damaged = 33;
    assert_int_equal(lab_run(&err), -ERR_INPUT);
    assert_string_equal(err.text, "damaged");
    for (uint32_t i = 0; i < 33; i++)
        assert_int_equal(l.steps[i].got, VERDICT_AS_RECORDED);
    lab_end();

    /* a dependency beyond the horizon: whatever was taken is counted, and the run ends */
    lab_begin(&l, 60, 16);
    lab_depends(40, 16);
    assert_int_equal(lab_run(&err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "operation 40"));
    assert_true(l.tally.unread);
    lab_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pace_trace),
        cmocka_unit_test(test_pace_rate),
        cmocka_unit_test(test_warm_up),
        cmocka_unit_test(test_follow_ups),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_lost_connection),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_silent_connections),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_silence_again),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_duration),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_stop_unread),
        cmocka_unit_test(test_stop_damage),

    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
