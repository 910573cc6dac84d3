/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_budget.c
 *
 * Turns and sums by hand, then many users at random against sums over all of them.
 */
#include "net/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { USERS = 40, LIMIT = 1000, FLOOR = 10, MOST = 400, ROUNDS = 200000 };

struct user {
    struct budget_user user;
    struct lab *lab;
    uint64_t asked; /* for so much it waits, */
    uint64_t turn;  /* since then */
};

struct lab {
    struct budget budget;
    struct user users[USERS];
    uint64_t turns, last_woken; /* turn of the one that was woken last */
    uint32_t woken, crowds;
    bool in_order;
};

static void wake(void *ctx)
{
    struct user *u = ctx;

    u->lab->in_order &= u->turn > u->lab->last_woken;
    u->lab->last_woken = u->turn;
    u->lab->woken++;
}

static void crowd(void *ctx)
{
    ((struct lab *)ctx)->crowds++;
}

static void begin(struct lab *lab)
{
    memset(lab, 0, sizeof(*lab));
    lab->budget = (struct budget){ .limit = LIMIT, .floor = FLOOR, .crowd = crowd, .ctx = lab };
    lab->in_order = true;
    for (int i = 0; i < USERS; i++) {
        struct user *u = &lab->users[i];

        u->lab = lab;
        u->user = (struct budget_user){ .budget = &lab->budget, .wake = wake, .ctx = u };
    }
}

static bool ask(struct user *u, uint64_t more)
{
    if (!budget_waits(&u->user)) {
        u->turn = ++u->lab->turns;
        u->asked = more;
    }
    return budget_ask(&u->user, more);
}

static bool get(struct user *u, uint64_t more)
{
    if (!ask(u, more))
        return false;
    budget_take(&u->user, more);
    budget_settle(&u->user);
    return true;
}

static void test_none(void **state)
{
    struct budget_user user = { 0 };

    (void)state;
    assert_true(budget_ask(&user, UINT64_MAX));
    budget_take(&user, 5);
    budget_settle(&user);
    budget_give(&user, 5);
    budget_leave(&user);
    assert_false(budget_crowded(&user));
    assert_false(budget_hoards(&user));
}

static void test_turns(void **state)
{
    struct lab lab;
    struct user *u = lab.users;

    (void)state;
    begin(&lab);
    assert_true(get(&u[0], FLOOR + 499));
    assert_false(budget_crowded(&u[1].user));
    assert_true(get(&u[1], FLOOR + 501)); /* all is taken */
    assert_true(budget_crowded(&u[2].user));
    for (int i = 0; i < USERS; i++)
        assert_true(i < 2 || get(&u[i], FLOOR)); /* but the floors */
    assert_true(get(&u[2], 100));                /* is favoured */
    assert_false(get(&u[3], 600));
    assert_int_equal(lab.crowds, 1);
    assert_false(get(&u[4], 1)); /* would fit sooner */
    assert_int_equal(lab.budget.waiting, 2);
    assert_true(budget_hoards(&u[0].user));
    assert_false(budget_hoards(&u[3].user));
    assert_true(get(&u[2], 100)); /* is favoured still */
    assert_int_equal(lab.budget.beyond, 1200);

    budget_give(&u[0].user, 499 + FLOOR);
    assert_int_equal(lab.woken, 0);
    budget_give(&u[2].user, 150);
    assert_int_equal(lab.woken, 0);
    budget_give(&u[2].user,
                50); /* no more than its floor: the next one is favoured, the next fits */
    assert_int_equal(lab.woken, 2);
    assert_true(lab.budget.favoured == &u[3].user);
    assert_int_equal(lab.budget.granted, 1);
    assert_true(get(&u[3], 600));
    assert_true(get(&u[4], 1));
    assert_int_equal(lab.budget.beyond, 501 + 600 + 1);
    assert_int_equal(lab.budget.granted, 0);
    assert_true(lab.in_order);
}

/* Who was woken keeps its turn while others ask; who leaves gives it up. */
static void test_grants(void **state)
{
    struct lab lab;
    struct user *u = lab.users;

    (void)state;
    begin(&lab);
    assert_true(get(&u[0], FLOOR + LIMIT));
    assert_true(get(&u[1], FLOOR + 1)); /* favoured */
    assert_false(ask(&u[2], FLOOR + 900));
    assert_false(ask(&u[3], FLOOR + 50));
    assert_false(ask(&u[4], FLOOR + 60));
    budget_give(&u[0].user, LIMIT);
    assert_int_equal(lab.woken, 2);
    assert_int_equal(lab.budget.granted, 950);
    assert_false(ask(&u[5], FLOOR + 1)); /* behind the one that waits */
    budget_leave(&u[4].user);
    assert_int_equal(lab.woken, 3); /* 5 */
    budget_leave(&u[2].user);
    assert_int_equal(lab.budget.granted, 51);
    assert_true(get(&u[3], FLOOR + 50));
    assert_true(ask(&u[5], FLOOR + 1));
    budget_settle(&u[5].user); /* it takes nothing */
    assert_int_equal(lab.budget.granted, 0);
    assert_int_equal(lab.budget.waiting, 0);
    budget_leave(&u[1].user);
    assert_null(lab.budget.favoured);
}

static void check(const struct lab *lab)
{
    const struct budget *b = &lab->budget;
    uint64_t held = 0, beyond = 0, granted = 0, of_favoured = 0;
    uint32_t waiting = 0;

    for (int i = 0; i < USERS; i++) {
        const struct budget_user *u = &lab->users[i].user;
        uint64_t over = u->held > FLOOR ? u->held - FLOOR : 0;

        held += u->held;
        beyond += over;
        granted += u->granted;
        waiting += budget_waits(u);
        if (u == b->favoured)
            of_favoured = over;
        if (u->self && u->held + lab->users[i].asked <= FLOOR)
            fail_msg("user %d waits for its floor", i);
    }
    assert_int_equal(held, b->held);
    assert_int_equal(beyond, b->beyond);
    assert_int_equal(granted, b->granted);
    assert_int_equal(waiting, b->waiting);
    assert_true(beyond - of_favoured + granted <= LIMIT);
    assert_true(!waiting || b->favoured);
}

static void test_random(void **state)
{
    struct lab lab;

    (void)state;
    begin(&lab);
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        struct user *u = &lab.users[rand() % USERS];
        uint64_t held = u->user.held, more = (uint64_t)rand() % (MOST / 4);
        int what = rand() % 16;

        if (what == 0) {
            budget_leave(&u->user);
            budget_give(&u->user, held);
        } else if (what < 6 && held && !budget_waits(&u->user)) {
            budget_give(&u->user, what == 1 ? held : 1 + (uint64_t)rand() % held);
        } else if (!budget_waits(&u->user) && held + more <= MOST) {
            get(u, u->user.granted ? u->asked : more);
        }
        check(&lab);
    }
    assert_true(lab.in_order);
    assert_in_range(lab.woken, ROUNDS / 100, ROUNDS);
    /* when nobody works any more, all who wait go on one after another */
    for (int i = 0; i < USERS; i++)
        for (int j = 0; j < USERS; j++) {
            struct user *u = &lab.users[j];

            if (budget_waits(&u->user))
                continue;
            get(u, u->asked);
            budget_give(&u->user, u->user.held);
            check(&lab);
        }
    assert_int_equal(lab.budget.waiting, 0);
    assert_int_equal(lab.budget.held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_grants),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
