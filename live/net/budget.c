/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net/budget.h"

/* What a user with |held| bytes has beyond its floor. */
static uint64_t beyond(const struct budget *b, uint64_t held)
{
    return held > b->floor ? held - b->floor : 0;
}

static uint64_t added(const struct budget_user *user, uint64_t more)
{
    const struct budget *b = user->budget;

    return beyond(b, user->held + more) - beyond(b, user->held);
}

static bool fits(const struct budget *b, uint64_t more)
{
    uint64_t taken = b->beyond + b->granted;

    return taken <= b->limit && more <= b->limit - taken;
}

/* --- who waits */

static void join(struct budget_user *user, uint64_t wanted)
{
    struct budget *b = user->budget;

    if (!b->first)
        b->last = &b->first;
    user->wanted = wanted;
    user->next = NULL;
    user->self = b->last;
    *b->last = user;
    b->last = &user->next;
    b->waits++;
    if (b->waiting++ == 0 && b->crowd)
        b->crowd(b->ctx);
}

static void step_out(struct budget_user *user)
{
    struct budget *b = user->budget;

    *user->self = user->next;
    if (user->next)
        user->next->self = user->self;
    else
        b->last = user->self;
    user->self = NULL;
    b->waiting--;
}

/* Wakes those whose turn it is. */
static void pass_on(struct budget *b)
{
    while (b->first) {
        struct budget_user *user = b->first;
        uint64_t more = added(user, user->wanted);

        if (fits(b, more)) {
            user->granted = more;
            b->granted += more;
        } else if (!b->favoured) {
            b->favoured = user;
        } else {
            return;
        }
        step_out(user);
        user->wake(user->ctx);
    }
}

/* --- users */

bool budget_ask(struct budget_user *user, uint64_t more)
{
    struct budget *b = user->budget;
    uint64_t wanted;

    if (!b)
        return true;
    if (user->self)
        return false;
    wanted = added(user, more);
    if (wanted <= user->granted || user == b->favoured)
        return true;
    if (!b->first && fits(b, wanted - user->granted))
        return true;
    if (!b->first && !b->favoured) {
        b->favoured = user;
        return true;
    }
    b->granted -= user->granted;
    user->granted = 0;
    join(user, more);
    pass_on(b);
    return !user->self;
}

void budget_take(struct budget_user *user, uint64_t bytes)
{
    struct budget *b = user->budget;
    uint64_t more, promised;

    if (!b)
        return;
    more = added(user, bytes);
    promised = more < user->granted ? more : user->granted;
    user->granted -= promised;
    b->granted -= promised;
    user->held += bytes;
    b->held += bytes;
    b->beyond += more;
    if (b->held > b->most)
        b->most = b->held;
}

/* After a user needs less. */
static void relax(struct budget_user *user)
{
    struct budget *b = user->budget;

    if (b->favoured == user && user->held <= b->floor)
        b->favoured = NULL;
    pass_on(b);
}

void budget_settle(struct budget_user *user)
{
    struct budget *b = user->budget;

    if (!b || (!user->granted && b->favoured != user))
        return;
    b->granted -= user->granted;
    user->granted = 0;
    relax(user);
}

void budget_give(struct budget_user *user, uint64_t bytes)
{
    struct budget *b = user->budget;

    if (!b || !bytes)
        return;
    b->beyond -= beyond(b, user->held) - beyond(b, user->held - bytes);
    user->held -= bytes;
    b->held -= bytes;
    relax(user);
}

void budget_leave(struct budget_user *user)
{
    struct budget *b = user->budget;

    if (!b)
        return;
    if (user->self)
        step_out(user);
    if (b->favoured == user)
        b->favoured = NULL;
    b->granted -= user->granted;
    user->granted = 0;
    pass_on(b);
}

bool budget_crowded(const struct budget_user *user)
{
    const struct budget *b = user->budget;

    return b && (b->first || b->favoured || b->beyond + b->granted >= b->limit / 2);
}

bool budget_hoards(const struct budget_user *user)
{
    const struct budget *b = user->budget;

    return b && b->first && !user->self && user->held > b->floor;
}
