/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/feed_parts.h
 *
 * Shared by feed.c (threads and rings) and feed_step.c (a record becomes a step).
 */
#ifndef NFSDIGEST_PLAYER_FEED_PARTS_H
#define NFSDIGEST_PLAYER_FEED_PARTS_H

#include "player/feed.h"
#include "player/step_check.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    FEED_LINE = 64,    /* of a processor's cache */
    FEED_BATCH = 32,   /* steps */
    FEED_AHEAD = 2048, /* steps that are made before the player takes them */
    AHEAD = 4,         /* steps to fetch before they are used */
};

/* The player waits for the eventfd; the thread is about to write to it. */
enum feed_player { PLAYER_GOES_ON, PLAYER_WAITS, PLAYER_IS_WOKEN };

_Static_assert(sizeof(struct step) == FEED_STEP_BYTES, "feed.h says so");

struct feed {
    struct script *script;
    struct step **slots;  /* by number & |mask|; in |ring|, before what they point to */
    uint64_t mask, limit; /* |limit|: steps that the player may hold */
    uint8_t *ring;
    uint64_t ring_size; /* a power of two */
    uint64_t stop_after;
    uint32_t batch;
    int event;
    bool partial, started;
    pthread_t thread;
    struct step_check check;

    /* The thread's. */
    struct {
        _Alignas(FEED_LINE) uint64_t made, shown_made; /* steps */
        uint64_t head, tail;                           /* bytes of the ring; they only grow */
        uint64_t seen_released;
        uint64_t may_make; /* so many steps before it has to be seen if there may be more */
        uint8_t *own;      /* the bytes of a step that is longer than the ring */
        uint64_t own_step;
    };
    /* The thread's, until |ended|. */
    struct rdump_end end;
    struct err err;
    int result;
    bool damaged;

    /* The player's. */
    struct {
        _Alignas(FEED_LINE) uint64_t given, seen_made, taken_back, shown_released;
        uint64_t waits;
        bool waited; /* it has said that it waits */
        bool full;   /* the last answer was that the horizon is full */
    };

    /* Of both: each is written by one side most of the time. */
    _Alignas(FEED_LINE) atomic_uint_fast64_t shown; /* steps, by the thread */
    atomic_bool ended, thread_waits;
    _Alignas(FEED_LINE) atomic_uint_fast64_t released, passed; /* steps, by the player: released;
                                                                * taken */
    atomic_int player;                                         /* enum feed_player */
    atomic_bool stop;
    _Alignas(FEED_LINE) pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under |lock|: the thread waits for more releases than |wake_at|, or for so many steps to be
     * taken. */
    uint64_t wake_at;
    bool wants_taken;
};

/* Shows all steps that were made to the player. */
void feed_show(struct feed *feed);
/* Learns what the player has released.  False: nothing new. */
bool feed_sees_releases(struct feed *feed);
/* Waits until something was released.  False: the feed ends. */
bool feed_wait_for_releases(struct feed *feed);

/* Waits until the player has taken most of the steps that were made.  False: the feed ends. */
bool feed_wait_until_taken(struct feed *feed);

/* Makes steps until the dump's end, its damage, or |stop|. */
void feed_read(struct feed *feed);

#endif
