/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_other.c
 *
 * Operations that other players play, for the player.
 *
 * They go through the ring as all do, wait for what they depend on, and end when the player that
 * owns them has told so.  So an operation of this player finds all that those before it have
 * taught, also when what it needs was told by one player, and its dependency by another: whatever
 * an operation depends on has ended here before it.
 *
 * An outcome may come before the feed gave its operation, or before what that depends on has ended
 * here; then it waits in |early|.  Two horizons are enough for that: a player that is further ahead
 * has told all that this one needs for going on (it is nowhere beyond the horizon of what it has
 * not ended), so what it says can wait with it.
 */
#include "player/player_parts.h"
#include "player/ring_memory.h"
#include "player/verdict_lesson.h"

#include <inttypes.h>
#include <stdlib.h>

struct early {
    uint64_t after; /* the operation's number, and 1; 0: nothing */
    uint64_t because;
    int64_t chain;
    uint8_t *lesson;
    uint32_t lesson_len;
    bool tainted;
};

static uint64_t early_count(const struct playing *d)
{
    return 2 * ((uint64_t)d->mask + 1);
}

static struct early *early_at(const struct playing *d, uint64_t number)
{
    return &d->early[number & (early_count(d) - 1)];
}

int other_open(struct playing *d, struct err *err)
{
    uint64_t size = early_count(d) * sizeof(*d->early);

    d->early = ring_memory((size + 63) / 64 * 64);
    if (!d->early)
        return err_memory(err, "the operations of other ranks");
    memset(d->early, 0, size);
    return 0;
}

void other_close(struct playing *d)
{
    for (uint64_t i = 0; d->early && i < early_count(d); i++)
        free(d->early[i].lesson);
    free(d->early);
    d->early = NULL;
}

/* --- it ends */

/* Whoever needs what it should have made lacks that for the same reason. */
static int note_maker(struct playing *d, const struct play *play, struct err *err)
{
    struct object *made;

    if (!play->step->made)
        return 0;
    made = objects_add(d->setup.objects, play->step->made, err);
    if (!made)
        return -ERR_SYSTEM;
    if (made->handle_len)
        return 0;
    made->maker = (int64_t)play_number(play);
    if (play->flags & PLAY_TAINTED)
        made->maker = play->because > INT64_MAX ? OBJECTS_NOBODY : (int64_t)play->because;
    return 0;
}

static int end(struct player *p, struct play *play, const struct player_outcome *o, struct err *err)
{
    struct playing *d = play->in;

    play->flags &= (uint8_t)~PLAY_TAINTED;
    if (o->tainted) {
        play->flags |= PLAY_TAINTED;
        play->because = o->because;
    }
    play->chain = o->chain;
    d->open--;
    play->state = PLAY_DONE;
    if (o->lesson.len &&
        verdict_taught(d->setup.verdicts, o->number, play->step, o->lesson, err) < 0)
        return -err->code;
    if (note_maker(d, play, err) < 0)
        return -ERR_SYSTEM;
    player_wake(p);
    return steps_wake_waiters(p, d, play, err);
}

int other_ready(struct player *p, struct play *play, struct err *err)
{
    uint64_t number = play_number(play);
    struct early *early = early_at(play->in, number);
    struct player_outcome o = { .number = number };
    int result;

    if (early->after != number + 1) {
        play->state = PLAY_AWAY;
        return 0;
    }
    o.tainted = early->tainted;
    o.because = early->because;
    o.chain = early->chain;
    o.lesson = (struct bytes){ early->lesson, early->lesson_len };
    result = end(p, play, &o, err);
    free(early->lesson);
    *early = (struct early){ 0 };
    return result;
}

/* --- outcomes */

static int keep(struct early *early, const struct player_outcome *o, struct err *err)
{
    uint8_t *lesson = NULL;

    if (o->lesson.len) {
        lesson = malloc(o->lesson.len);
        if (!lesson)
            return err_memory(err, "the operations of other ranks");
        memcpy(lesson, o->lesson.data, o->lesson.len);
    }
    *early = (struct early){ .after = o->number + 1,
                             .because = o->because,
                             .chain = o->chain,
                             .lesson = lesson,
                             .lesson_len = o->lesson.len,
                             .tainted = o->tainted };
    return 0;
}

static int refuse(const struct player_outcome *o, const char *why, struct err *err)
{
    return err_set(err, ERR_INPUT, "operation %" PRIu64 " of dump %u %s", o->number, o->dump, why);
}

int player_outcome(struct player *p, const struct player_outcome *o, struct err *err)
{
    struct playing *d;
    struct play *play;

    if (o->dump >= p->setup.dump_count || !p->setup.others)
        return refuse(o, "is not there", err);
    d = &p->dumps[o->dump];
    if (o->number < d->base)
        return refuse(o, "had ended before", err);
    if (o->number - d->base >= early_count(d))
        return 1;
    if (early_at(d, o->number)->after)
        return refuse(o, "has ended twice", err);
    player_wake(p);
    if (o->number >= d->given)
        return keep(early_at(d, o->number), o, err);
    play = &d->ring[o->number & d->mask];
    if (!(play->flags & PLAY_OTHER) || play->state == PLAY_DONE)
        return refuse(o, "is not one of another rank that has not ended", err);
    return play->state == PLAY_AWAY ? end(p, play, o, err) : keep(early_at(d, o->number), o, err);
}

void player_go_on(struct player *p)
{
    player_wake(p);
}

int other_tell(struct player *p, const struct play *play, const struct verdict *verdict,
               struct err *err)
{
    const struct player_others *others = p->setup.others;
    struct playing *d = play->in;
    struct player_outcome o = { .number = play_number(play),
                                .dump = d->index,
                                .tainted = play->flags & PLAY_TAINTED,
                                .chain = play->chain };

    if (p->phase >= PHASE_ENDED)
        return 0; /* they end, too */
    if (o.tainted)
        o.because = play->because;
    if (verdict_lesson(d->setup.verdicts, o.number, play->step, verdict, &o.lesson, err) < 0)
        return -ERR_SYSTEM;
    return others->ended(others->ctx, &o, err);
}
