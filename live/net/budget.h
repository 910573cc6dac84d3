/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/budget.h
 *
 * Memory that many users share, such as the buffers of all connections, in one thread.
 *
 * Each user always gets |floor| bytes.  What users hold beyond their floors is at most |limit| in
 * all.  A user that wants more waits, and all who wait get their bytes in the order in which they
 * came.  So that users who wait for each other go on, one of them may be favoured: it gets all it
 * asks for, until it holds no more than its floor again.
 *
 * Bound: |limit|, |floor| for each user, and what the favoured user can hold.
 *
 *     if (!budget_ask(user, more))
 *         return; // user->wake is called when it may ask again, and will get as much
 *     ... budget_take(user, more), budget_settle(user), and later budget_give(user, more)
 */
#ifndef NFSDIGEST_NET_BUDGET_H
#define NFSDIGEST_NET_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget_user;

/* All zeros, but for |limit|, |floor|, |crowd| and |ctx|.  All else is read-only. */
struct budget {
    uint64_t limit, floor;
    void (*crowd)(void *ctx); /* or NULL; a user begins to wait.  It calls nothing of this header */
    void *ctx;
    uint64_t held, beyond; /* now: in all; of that beyond the users' floors */
    uint64_t granted;      /* promised to users that were woken, and not taken yet */
    uint64_t most;         /* that were held at once */
    uint64_t waits;        /* times that a user had to wait */
    uint32_t waiting;      /* users, now */
    struct budget_user *first, **last, *favoured;
};

/* All zeros, but for |budget|, |wake| and |ctx|.  A user without a budget gets all. */
struct budget_user {
    struct budget *budget;
    /* It does not wait any more.  It calls nothing of this header. */
    void (*wake)(void *ctx);
    void *ctx;
    uint64_t held, wanted, granted;
    struct budget_user *next, **self; /* of those who wait; |self| NULL: it does not */
};

/* Returns whether the user may take |more| bytes now.  If not, it waits until |wake|; asking again
 * before that changes nothing. */
bool budget_ask(struct budget_user *user, uint64_t more);
/* Counts |bytes| as held, whether they were asked for or not. */
void budget_take(struct budget_user *user, uint64_t bytes);
/* Ends what budget_ask allowed: the rest that was not taken is for others. */
void budget_settle(struct budget_user *user);
void budget_give(struct budget_user *user, uint64_t bytes);
/* The user waits no more, and is not favoured.  It gives back what it holds soon after. */
void budget_leave(struct budget_user *user);

/* Whether users should hold no more than they need at once: half of the limit is taken, or more. */
bool budget_crowded(const struct budget_user *user);
/* Whether the user holds what others wait for. */
bool budget_hoards(const struct budget_user *user);

static inline bool budget_waits(const struct budget_user *user)
{
    return user->self != NULL;
}

#endif
