/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_parts.h
 *
 * Shared by the files of the player.
 *
 *     player.c         begin, rounds, ends
 *     player_take.c    from the feed into the ring, and the release
 *     player_steps.c   dependencies, containment, ends
 *     player_pace.c    plans, warm-up, what is due
 *     player_connect.c connections
 *     player_send.c    calls and their answers
 *     player_follow.c  further calls for the same operation
 *     player_rest.c    what a run that ended early has not played
 *     player_other.c   operations of other players
 *     player_watch.c   progress, lost connections, servers that do not answer
 *
 * An operation goes through the states of enum play_state, in this order.  A round: answers come
 * and end operations; at the end of the round (player_round) the operations that waited for them
 * become ready, the oldest are released, further ones are taken from the feed, and what may go is
 * sent.
 *
 * A horizon of operations is more than a cache holds, and what the memory has to bring takes as
 * long as half an operation.  So what is needed soon is fetched ahead, here and there (..._expect,
 * ..._soon), in steps: each thing that is read says where the next one is, and some other operation
 * is dealt with in between.
 */
#ifndef NFSDIGEST_PLAYER_PLAYER_PARTS_H
#define NFSDIGEST_PLAYER_PLAYER_PARTS_H

#include "player/player.h"
#include "player/play_queue.h"

enum { PLAY_NONE = 0xffffffffu };
#define NO_TIME INT64_MIN /* for times that may be missing */

enum play_state {
    PLAY_FREE,
    PLAY_WAITS,  /* for an operation it depends on, or for the end of the warm-up */
    PLAY_AWAY,   /* PLAY_OTHER: for its outcome */
    PLAY_TIMED,  /* its time has not come */
    PLAY_TURN,   /* ORDER_TRACE: for those before it */
    PLAY_QUEUED, /* for room on its connection */
    PLAY_SENT,
    PLAY_DONE
};

enum {
    PLAY_TAINTED = 1 << 0,
    PLAY_WARM_UP = 1 << 1,
    PLAY_CANNOT = 1 << 2,  /* it is unplayable, or its server is not played */
    PLAY_FORGETS = 1 << 3, /* its step has a |forget| */
    PLAY_OTHER = 1 << 4,   /* another player plays it */
};

/* An operation in the ring of its dump; 64 bytes, a line of the cache.  Times are of the loop's
 * clock.  It stays after its release, because later ones may depend on it. */
struct play {
    const struct step *step; /* until its release */
    struct playing *in;
    int64_t entered, ready;
    union {
        int64_t allowed;  /* queued since, until it is sent */
        uint64_t because; /* PLAY_TAINTED: the operation that failed first.  One that is sent is
                           * tainted only after it was counted */
    };
    union {
        struct {           /* PLAY_WAITS */
            uint32_t next; /* slot: in the list of those that wait for the same one */
            uint32_t left; /* how many of its dependencies, the newest, are not looked at */
        };
        int64_t sent; /* NO_TIME: not yet */
    };
    int64_t chain;       /* struct done; until it is done, that of its dependencies */
    uint32_t waiters;    /* slot of the first that waits for this one */
    uint16_t connection; /* its place among all of the player, from 1; 0: not known */
    uint8_t state, flags;
};
_Static_assert(sizeof(struct play) == 64, "a line of the cache");

/* An operation to look at, because one that it waited for is done. */
struct wake {
    uint32_t slot, done; /* |done|: slot of the latter; PLAY_NONE: it was looked at */
    int64_t at;          /* when that was done */
};

struct early; /* player_other.c */
struct follow;
enum { SEND_SOON = 8 };

/* One RPC client. */
struct connection {
    struct player *player;
    struct destination *to;
    struct rpc_client *client;
    struct play_queue queue;
    struct follow *follows, **follows_end; /* before the queue */
    uint32_t outstanding;
    bool listed; /* in player->sending */
    bool full;
    int64_t room_at;                    /* when it was last no longer full */
    const struct play *soon[SEND_SOON]; /* whose answers have come: a ring, */
    uint16_t place;                     /* struct play */
    uint32_t soon_end;                  /* which goes on here */
    int64_t lost_at;                    /* NO_TIME: it is not */
};

/* Where operations of a server of the dump go: NFS, or NFSACL. */
struct destination {
    const struct target *target; /* NULL: not played */
    const struct net_address *address;
    struct destination *same;        /* has the connections, if both are at one address */
    struct connection **connections; /* by client, or one of |pool| for each */
    struct connection **pool;        /* by number of the operation, if these take turns */
    uint32_t pool_count, pool_next;
    uint32_t outstanding;
    bool told;           /* that it does not answer */
    bool gone;           /* it was given up: nothing is sent there any more */
    int64_t last_answer; /* or when something was sent after nothing was outstanding */
};

struct playing {
    struct player_dump setup;
    struct player *player;
    uint32_t index;
    /* At least the horizon: the operations from |base| to |given|, and, of those that the next one
     * may depend on, all. */
    struct play *ring;
    uint32_t mask, horizon, open; /* |open|: operations that were taken and have not ended */
    uint64_t base, given; /* numbers: the oldest one that is not released; behind the newest */
    struct wake *wakes;   /* from |wake_at| to |wake_end| */
    uint32_t wake_at, wake_end, wake_cap;
    struct early
        *early; /* outcomes that came early: a ring of two horizons; NULL: it plays alone */
    uint32_t host_count;
    bool over;           /* the feed */
    struct play *parked; /* the first one behind the warm-up */
    uint64_t turn;       /* ORDER_TRACE */
    int64_t begin;       /* of the plan, */
    int64_t origin;      /* in the dump's time */
    uint64_t first;      /* operation of the plan */
    struct watch feed;
    struct destination *destinations; /* 2 for each host: NFS, NFSACL */
    uint32_t turns;       /* connections of a destination on which operations take turns; 0: not */
    struct fill_in *with; /* by host: what is the same for all its operations */
};

/* PHASE_COUNTING: nothing is under way; the rest is read, then PHASE_ENDED comes again. */
enum player_phase { PHASE_WARM_UP, PHASE_MEASURED, PHASE_STOPPING, PHASE_ENDED, PHASE_COUNTING };

struct player {
    struct player_setup setup;
    struct playing *dumps;
    enum player_phase phase;
    int64_t now;      /* of the round, or later */
    int64_t begin;    /* of the run, */
    int64_t measured; /* and of what is measured in it */
    struct idle round;
    struct timer due;   /* of the next planned operation */
    struct timer tick;  /* progress and watchdog */
    struct timer limit; /* |duration|, and the ends of stopping and counting */
    struct play_queue timed;
    struct connection **all;
    uint32_t count, cap;
    struct connection **sending; /* those that have something to send, and are not full */
    uint32_t sending_count, sending_cap;
    uint32_t full_count;
    struct follow *follows;              /* all of them */
    uint64_t queued;                     /* in connections */
    const struct play *fresh[SEND_SOON]; /* queued last: a ring, */
    uint32_t fresh_end;                  /* which goes on here */
    uint64_t outstanding, done, differ;
    uint64_t held; /* operations to be asked again later: of all that may be outstanding, they keep
                    * their places */
    uint64_t answers;     /* since the last round */
    uint64_t batch;       /* the latest of them that were not 0 */
    int64_t latency;      /* ns: a moving mean */
    struct {              /* player_pace.c */
        uint32_t most;    /* open operations of a dump before more are taken */
        int64_t at, busy; /* when that was last weighed, and what the process had worked by then */
    } window;
    int64_t room_at;              /* when the limit of all outstanding calls last gave room */
    bool full;                    /* that limit is reached */
    bool gave_up;                 /* a destination is gone */
    const struct play *sent_last; /* in this round, NULL: none; */
    int64_t sent_at;              /* and when that was */
    int64_t late;
    uint64_t random;
    int64_t cpu_user, cpu_system; /* when measuring began */
    struct err damage;
};

/* The operation's number: the ring has those directly before |given|. */
static inline uint64_t play_number(const struct play *play)
{
    const struct playing *d = play->in;
    uint32_t last = (uint32_t)(d->given - 1);

    return d->given - 1 - ((last - (uint32_t)(play - d->ring)) & d->mask);
}

/* What fill_in takes for the step, beside its cookie and ctime. */
static inline const struct fill_in *play_with(const struct playing *d, const struct step *step)
{
    return &d->with[step->server <= d->host_count ? step->server : 0];
}

/* --- player.c */

/* Asks for player_round at the end of this round. */
static inline void player_wake(struct player *p)
{
    if (!p->round.self) /* most have been preceded */
        loop_idle(p->setup.loop, &p->round);
}

/* --- player_take.c */

/* Releases what is done, in order. */
void steps_release(struct playing *d);
/* Takes at most |most| steps from the feed.  Returns how many, or a negative code. */
int steps_take(struct playing *d, uint32_t most, struct err *err);
/* The feed gave |got| instead of a step, and said |why|.  Damage is kept until the run ends;
 * another failure is returned in |err|. */
int steps_none(struct playing *d, int got, const struct err *why, struct err *err);
/* The first step behind the warm-up goes on. */
int steps_unpark(struct playing *d, struct err *err);

/* --- player_steps.c */

/* Fetches a step into the cache. */
static inline void steps_expect(const struct step *step)
{
    __builtin_prefetch(step);
    __builtin_prefetch((const uint8_t *)step + 64);
    __builtin_prefetch((const uint8_t *)(step + 1) - 1);
}

/* Looks at those that waited for operations which are done, and at those that this ends. */
int steps_settle(struct playing *d, struct err *err);
/* Fetches the operation of the slot; PLAY_NONE is allowed. */
static inline void steps_expect_wakes(const struct playing *d, uint32_t slot)
{
    if (slot != PLAY_NONE)
        __builtin_prefetch(&d->ring[slot], 1);
}

/* It waits for what it depends on: |number| is its own. */
int steps_go_on(struct playing *d, struct play *play, uint64_t number, struct err *err);
/* The operation's time has come, and the answers that it waits for have. */
int steps_due(struct player *p, struct play *play, struct err *err);
/* ORDER_TRACE: it was sent, or will not be. */
int steps_turn(struct player *p, struct play *play, struct err *err);

struct play_end {
    const struct verdict *verdict;
    int64_t answered; /* NO_TIME */
    uint32_t resent;
};
/* Ends an operation: it is counted, and those that wait for it go on. */
int steps_end(struct player *p, struct play *play, const struct play_end *end, struct err *err);
/* Ends it without an answer, as SKIPPED (|because|, or UINT64_MAX: nobody), UNPLAYABLE, ... */
int steps_end_as(struct player *p, struct play *play, enum verdict_class class, const char *text,
                 struct err *err);
/* Ends one that was sent, and |resent| times again. */
int steps_unanswered(struct player *p, struct play *play, const char *text, uint32_t resent,
                     struct err *err);
int steps_skip(struct player *p, struct play *play, uint64_t because, const char *text,
               struct err *err);

/* Those that wait for the operation go on at the end of the round. */
int steps_wake_waiters(struct player *p, struct playing *d, struct play *play, struct err *err);

/* --- player_other.c: operations that other players play */

int other_open(struct playing *d, struct err *err);
void other_close(struct playing *d);
/* Whether another player plays the operations of this client. */
static inline bool other_has(const struct playing *d, uint32_t client)
{
    const struct player_others *others = d->player->setup.others;

    return others && !others->owns(others->ctx, d->index, client);
}

/* All that it depends on has ended here, too: it ends when its outcome is known. */
int other_ready(struct player *p, struct play *play, struct err *err);
/* Tells the other players that an operation has ended. */
int other_tell(struct player *p, const struct play *play, const struct verdict *verdict,
               struct err *err);

/* --- player_pace.c */

/* When the operation is planned, at any pace. */
int64_t pace_plan_of(const struct player *p, const struct play *play);
static inline int64_t pace_plan(const struct player *p, const struct play *play)
{
    if (p->setup.pace != PACE_ASAP || play->ready == NO_TIME || play->flags & PLAY_WARM_UP)
        return pace_plan_of(p, play);
    return play->ready > play->in->begin ? play->ready : play->in->begin;
}
/* The plan begins. */
void pace_begin(struct player *p, int64_t at);
bool pace_is_warm_up(const struct playing *d, const struct step *step, uint64_t number);
/* Goes on with what is due; ends the warm-up when it is done. */
int pace_round(struct player *p, struct err *err);
/* Lets answers come together, if they come slowly and all that can be sent was sent. */
void pace_gather(struct player *p);
/* Sets the timer for the next one. */
int pace_sleep(struct player *p, struct err *err);
/* Whether more steps are wanted from the feed. */
bool pace_wants_more(const struct player *p, const struct playing *d);
/* Sets how many are held. */
void pace_weigh(struct player *p);

/* --- player_connect.c */

int connect_open(struct playing *d, struct err *err); /* the destinations */
void connect_close(struct player *p);                 /* ends all connections and calls */
/* Whether a step has a target.  |place| is set to that of its connection, as in struct play; 0: it
 * was not made yet. */
bool connect_can(const struct playing *d, const struct step *step, uint64_t number,
                 uint16_t *place);
/* The operation's connection; it is made if it must. */
struct connection *connect_make(struct player *p, struct play *play, struct err *err);
static inline struct connection *connect_find(struct player *p, struct play *play, struct err *err)
{
    return play->connection ? p->all[play->connection - 1] : connect_make(p, play, err);
}
/* Enters the connection into |sending|, if it has something to send and is not full. */
void connect_list(struct connection *c);
/* Answers, or the server's reading, made room. */
void connect_room(struct connection *c);
/* Gives the destination up: its outstanding calls end now, and what waits for them ends in the next
 * round. */
void connect_give_up(struct player *p, struct destination *to);
/* There is a destination that was not given up, with operations to come. */
bool connect_has_others(const struct player *p);

/* --- player_send.c */

/* Puts an operation that may go into the queue of its connection. */
int send_queue(struct player *p, struct play *play, struct err *err);
int send_round(struct player *p, struct err *err);

/* A call for an operation. */
struct send_call {
    const struct step *step; /* its own, or one that was made of it */
    const struct fill_in *with;
    rpc_done *done;
    void *ctx;
    uint64_t because; /* set with SEND_NO_HANDLE */
};
enum send_result {
    SEND_DONE = 0,
    SEND_FULL = 1,
    SEND_NO_HANDLE = 2,
    SEND_NO_CTIME = 3,
    SEND_BAD = 4, /* no call can be made of it: |err| says why */
    SEND_NO_COOKIE = 5,
};
/* Returns a send_result, or a negative code. */
int send_call(struct connection *c, struct playing *d, struct send_call *call, struct err *err);
/* Why a call has no answer that was cancelled. */
const char *send_cancelled(const struct connection *c);
/* A call has ended. */
void send_ended(struct connection *c, const struct rpc_answer *answer);
/* rpc_client.h: |soon|. */
void send_answer_soon(void *ctx, rpc_done *done, void *ctx_of_call);
/* What a reply leads to. */
int send_judged(struct play *play, struct follow *follow, const struct rpc_answer *answer,
                struct verdict *verdict, struct err *err);

/* --- player_follow.c */

enum follow_kind {
    FOLLOW_FIRST,   /* the operation itself, after FOLLOW_GETATTR */
    FOLLOW_GETATTR, /* for a ctime */
    FOLLOW_AGAIN,
    FOLLOW_LOOKUP,
    FOLLOW_LIST_ON,
};

struct follow {
    struct follow *next, *prev; /* all of the player */
    struct follow *waiting;     /* the next of the connection */
    struct player *player;
    struct play *play;
    enum follow_kind kind;
    bool uncertain, out; /* |out|: its call is outstanding */
    bool held;           /* counted in player->held, until its time comes */
    bool lists_on;       /* |with| is what to send */
    struct fill_in with;
    uint32_t again, resent;
    int64_t answered, begun;
    struct timer timer;
    struct verdict verdict; /* the last one */
};

/* Makes the follow-up that |kind| says of |play|, or goes on with |follow|. */
int follow_begin(struct play *play, struct follow *follow, enum follow_kind kind,
                 const struct verdict *verdict, struct err *err);
/* After the reply |verdict|; 1: there is no follow-up, the operation ends. */
int follow_next(struct play *play, struct follow **follow, const struct rpc_answer *answer,
                const struct verdict *verdict, struct err *err);
/* Sends the first follow-up of a connection.  Returns SEND_FULL, 0, or a negative code. */
int follow_send(struct connection *c, struct err *err);
/* The operation that a call repeats: itself, not something else for it.  NULL: a further call. */
const struct play *follow_repeats(const struct rpc_client_message *call);
void follow_free(struct follow *follow);
/* The run ends: those between two calls end as they are. */
int follow_end_all(struct player *p, struct err *err);

/* --- player_rest.c */

/* Counts what the feeds have left, when all that they gave is released.  Runs the loop.  |read|
 * false: only says that there may be something left. */
int rest_count(struct player *p, bool read, struct err *err);
/* player_round in PHASE_COUNTING. */
int rest_round(struct player *p, struct err *err);

/* --- player_watch.c */

int watch_note(struct player *p, const char *note, struct err *err);
int watch_tick(void *ctx, struct err *err);
int watch_event(void *ctx, enum rpc_client_event event, const char *text, struct err *err);
void watch_answered(struct connection *c, int64_t arrived);
/* Counts the outage of a connection, if there is one: it lasted until |now|. */
void watch_outage_ends(struct connection *c, int64_t now);
void watch_cpu(int64_t *user, int64_t *system);

#endif
