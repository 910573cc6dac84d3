/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/feed.h
 *
 * Reads the operations of a dump ahead of the player, in a thread of its own: a disk that stalls
 * must not make operations late.
 *
 *     feed_new
 *     feed_next ... feed_release       the player's thread
 *     feed_free
 *
 * Steps are given in the dump's order, and released in that order.  At most |horizon| of them are
 * held (schemas/rdump.md section 7), fewer when their arguments are long, and never more than
 * FEED_STEPS_MAX.  The thread is at most 2048 of them ahead of what was given: what is taken soon
 * is still in the cache.  Each was checked (section 10): its hosts and its credential are there,
 * dependencies and cookies are of steps before it and within the horizon, |links| has 4 bytes for
 * each of its bits, and its arguments are those of its procedure.  Numbers of objects are not
 * checked.
 *
 * Memory: |bytes| for what steps point to, and FEED_STEP_BYTES for each step of the horizon, both
 * in one ring; and 8 bytes a step of the horizon, rounded up to a power of two, at least 1024.
 */
#ifndef NFSDIGEST_PLAYER_FEED_H
#define NFSDIGEST_PLAYER_FEED_H

#include "player/script.h"
#include "player/step.h"

struct feed;

enum { FEED_STEPS_MAX = 1 << 20, FEED_STEP_BYTES = 112 };

struct feed_setup {
    struct script *script; /* must stay; its reader belongs to the feed's thread from now on */
    uint64_t bytes;        /* 0: 32 MiB.  With those of the steps it is rounded down to a power of
                            * two.  One step may always be held, however long it is */
    uint64_t stop_after;   /* operations; 0: all */
    bool partial;          /* a damaged dump ends where the damage begins, as if it ended there */
};

struct feed *feed_new(const struct feed_setup *setup, struct err *err);

/* An eventfd that becomes readable when steps, or the end, are there again after FEED_WAIT; the
 * player watches it, and calls feed_next when it is readable.  feed_next empties it; others may,
 * too.
 */
int feed_fd(const struct feed *feed);

enum feed_result { FEED_STEP = 1, FEED_END = 0, FEED_WAIT = 2 };
/* Returns FEED_STEP and the next step; FEED_WAIT: none is there now, or the horizon is full (then
 * feed_release makes room, and the eventfd says nothing); FEED_END behind the last one; or a
 * negative code, when all steps before the damage were given. */
int feed_next(struct feed *feed, const struct step **step, struct err *err);
/* The step of that number, which was given and not yet released. */
const struct step *feed_step(const struct feed *feed, uint64_t number);
/* Releases the oldest step. */
void feed_release(struct feed *feed);

struct feed_stats {
    uint64_t given, released;
    uint64_t waits;       /* FEED_WAIT because the thread was behind, not for lack of room */
    bool damaged;         /* with |partial| */
    const char *damage;   /* its message */
    struct rdump_end end; /* after FEED_END, if it was the dump's own end; else zeros */
};
struct feed_stats feed_stats(const struct feed *feed);

/* Ends the thread, wherever it is.  Before script_close. */
void feed_free(struct feed *feed);

#endif
