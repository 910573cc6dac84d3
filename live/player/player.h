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
 * With PACE_ASAP and PICK_OLDEST no more operations are taken from the feeds than are needed to
 * keep the player busy (pace_weigh).
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

/* What others need to know of an operation that has ended. */
struct player_outcome {
    uint64_t number; /* in its dump */
    uint32_t dump;
    bool tainted;        /* what depends on it is skipped, */
    uint64_t because;    /* because of this operation; UINT64_MAX: of none */
    int64_t chain;       /* struct done (tally.h) */
    struct bytes lesson; /* verdict_lesson.h; no bytes: nothing */
};

/* Several players share the operations of the same dumps.  Each reads all of them, and plays those
 * that it owns; the others end when player_outcome says so.  Only owned operations are counted. */
struct player_others {
    bool (*owns)(void *ctx, uint32_t dump, uint32_t client);
    /* An operation of this player has ended; |outcome| is valid until this returns. */
    int (*ended)(void *ctx, const struct player_outcome *outcome, struct err *err);
    /* At the end of a round: there may be room for outcomes that came too early. */
    int (*round)(void *ctx, struct err *err);
    /* This player sends nothing more, before all was played: outcomes are not needed any more. */
    void (*stopping)(void *ctx);
    bool (*full)(void *ctx); /* take no further operations from the feeds; player_go_on ends that */
    void *ctx;
};

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
    const struct player_others *others; /* NULL: it plays alone */
    int64_t begin;                      /* of the run, by the loop's clock; 0: now */
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
/* The operation of another player has ended.  Returns 0; 1: it came too early, and has to be said
 * again after a round; -ERR_INPUT: there is no such operation of another's, or it has ended before.
 * Memory: 40 bytes for each of two horizons, and the lessons of operations that wait for others. */
int player_outcome(struct player *player, const struct player_outcome *outcome, struct err *err);
/* Another round, because something has changed. */
void player_go_on(struct player *player);
void player_free(struct player *player);

#endif
