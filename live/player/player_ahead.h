/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_ahead.h
 *
 * What sending an operation needs is fetched ahead, in steps (player_parts.h).
 */
#ifndef NFSDIGEST_PLAYER_PLAYER_AHEAD_H
#define NFSDIGEST_PLAYER_PLAYER_AHEAD_H

#include "player/player_parts.h"

enum {
    AHEAD_STEP = 2,               /* operations between two steps, */
    AHEAD_QUEUE = 5 * AHEAD_STEP, /* and all of them */
};

/* It has a step. */
static inline bool ahead_held(const struct play *play)
{
    uint8_t state = play->state;

    return state == PLAY_QUEUED || state == PLAY_SENT;
}

/* Fetches what sending the operation needs, and, step by step, what sending those before it does.
 * NULL: there is no other. */
static inline void ahead_send(struct player *p, const struct play *play)
{
    uint32_t at = p->fresh_end++;

    p->fresh[at % SEND_SOON] = play;
    if (play)
        steps_expect(play->step);
    play = p->fresh[(at - 2) % SEND_SOON];
    if (play && ahead_held(play))
        __builtin_prefetch(play->step->arguments.data);
    play = p->fresh[(at - 4) % SEND_SOON];
    if (play && ahead_held(play))
        objects_expect(play->in->setup.objects, step_object(play->step));
    play = p->fresh[(at - 6) % SEND_SOON];
    if (play && ahead_held(play))
        objects_expect_soon(play->in->setup.objects, step_object(play->step));
}

/* The same for the operations of a queue that wait for long: they have left the cache meanwhile.
 * Always inline: gcc finds that it has no effect, and would drop calls of it. */
static inline __attribute__((always_inline)) void ahead_queue(const struct connection *c)
{
    const struct queued *line = c->queue.line + c->queue.line_at;
    uint32_t count = c->queue.line_end - c->queue.line_at;
    const struct play *play;

    if (count <= AHEAD_STEP)
        return;
    play = line[AHEAD_STEP].play;
    objects_expect_soon(play->in->setup.objects, step_object(play->step));
    if (count <= 2 * AHEAD_STEP)
        return;
    play = line[2 * AHEAD_STEP].play;
    objects_expect(play->in->setup.objects, step_object(play->step));
    if (count <= 3 * AHEAD_STEP)
        return;
    __builtin_prefetch(line[3 * AHEAD_STEP].play->step->arguments.data);
    if (count <= 4 * AHEAD_STEP)
        return;
    steps_expect(line[4 * AHEAD_STEP].play->step);
    if (count > AHEAD_QUEUE)
        __builtin_prefetch(line[AHEAD_QUEUE].play, 1);
}

#endif
