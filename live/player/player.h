/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player.h
 *
 * Plays dumps: sends each operation when its time has come and what it depends on is done, judges
 * its answer, and counts.  One thread beside those of the feeds.
 *
 * Plans are absolute: the beginning of the run + time / scale.  A late operation is sent at once,
 * never left out, and never moves the plan.
 *
 * Answers are seen when they come.  Only with PACE_ASAP and many calls outstanding they may wait
 * for a 16th of their latency, 0.5 ms at most (pace_gather).
 *
 * Containment.  When an operation that changes something ends in another class than VERDICT_AS_
 * RECORDED and VERDICT_DIFFERENT_RESULT, the operations that depend on it (along |dependencies|,
 * also through others) are skipped because of it; so are operations whose handle is not known,
 * because of the operation that should have made it.
 *
 * A run that ends early (|duration|, |give_up|, player_stop, a signal) reads on, and counts what
 * the feeds have left as VERDICT_NOT_PLAYED: so each operation of a dump, up to its damage, is in
 * one class.  It leaves off when it is stopped again, when it fails, or when no feed has anything
 * for 2 seconds (a pipe); then |unread| of the tally is set.
 *
 * Memory: feed.h, objects.h, 80 to 180 bytes for each step of the horizon, rpc_client.h for each
 * connection; 1 KiB for each operation that needs further calls (verdict.h), as long as it does.
 */
#ifndef NFSDIGEST_PLAYER_PLAYER_H
#define NFSDIGEST_PLAYER_PLAYER_H

#include "player/feed.h"
#include "player/objects.h"
#include "player/tally.h"
#include "player/target.h"
#include "player/verdict.h"

enum player_pace { PACE_TRACE, PACE_ASAP, PACE_RATE };
enum player_order { ORDER_DEPENDENCIES, ORDER_TRACE, ORDER_NONE /* dependencies are ignored */ };
enum player_pick { PICK_OLDEST, PICK_NEWEST, PICK_RANDOM }; /* among the operations that may go */

/* One dump and where it is played. */
struct player_dump {
    struct script *script;
    struct feed *feed;
    struct objects *objects; /* with the handles of its tree */
    struct verdicts *verdicts;
    const struct target *const *target; /* by host number of the dump; NULL: that server is not
                                         * played, its operations are VERDICT_UNPLAYABLE */
    const struct bytes *stale; /* by host number: a handle of something that was removed there; 0
                                * bytes: none.  NULL: none at all */
    int64_t delay;             /* ns that this dump begins later */
    uint64_t operations;       /* that the feed will give, for progress; 0: not known */
};

struct player_progress;

/* A message of the player, for those who record it. */
struct player_message {
    const struct rpc_client_message *rpc;
    const struct step *step; /* that the call repeats; NULL: a further call, or an answer */
    uint32_t dump;           /* of |step| */
};

struct player_setup {
    struct loop *loop;
    struct player_dump *dumps;
    uint32_t dump_count;
    enum player_pace pace;
    double scale; /* PACE_TRACE: times are divided by it */
    double rate;  /* PACE_RATE: operations a second */
    enum player_order order;
    enum player_pick pick;
    uint64_t seed;
    uint32_t connections;      /* of each target; 0: one for each client of the trace */
    uint32_t outstanding;      /* in all; 0: no limit beside those of the connections */
    uint32_t outstanding_each; /* of a connection; 0: 128 */
    int64_t warm_up;           /* ns of the trace, or -1: |warm_up_operations| */
    uint64_t warm_up_operations;
    int64_t duration; /* ns; 0: to the end */
    bool spin;        /* a core is free to wait on */
    int64_t timeout;  /* ns for an answer before the watchdog tells */
    int64_t give_up;  /* ns without any answer of a target before nothing more is sent to it: what
                       * was sent is VERDICT_UNANSWERED, the rest VERDICT_NOT_PLAYED.  The run ends
                       * when no other target has anything to play; 0: never */
    struct tally *tally;
    /* Both may be NULL. */
    int (*progress)(void *ctx, const struct player_progress *progress,
                    struct err *err); /* 4 times a
                                         second */
    int (*done)(void *ctx, const struct done *done, struct err *err);
    void *ctx;
    /* Sees all messages, as in struct rpc_client_host.  NULL: nobody looks. */
    void (*message)(void *ctx, const struct player_message *message);
    void *message_ctx;
};

struct player_progress {
    uint64_t done, differ, outstanding, waiting; /* waiting: read and not sent */
    int64_t now, late; /* ns of the run; how late the latest operation was sent */
    uint64_t total;    /* operations of all dumps; 0: not known of one of them */
    const char
        *note; /* an event to tell: a lost connection, a server that does not answer; or NULL */
};

struct player;
struct player *player_new(const struct player_setup *setup, struct err *err);
/* Plays until the end, or until player_stop.  Returns 0, whatever the verdicts; -ERR_INPUT: a dump
 * is damaged (what stood before it was played); -ERR_SYSTEM. */
int player_run(struct player *player, struct err *err);
/* Sends nothing more, waits for what is outstanding (at most a second), then player_run returns.
 * From callbacks. */
void player_stop(struct player *player);
void player_free(struct player *player);

#endif
