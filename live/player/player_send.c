/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_send.c
 *
 * The calls of operations, and what their answers lead to, for the player.
 *
 * Operations that may go wait in the queue of their connection, so that a full connection does not
 * keep others.  |sending| lists the connections that have something to send and room for it.
 */
#include "player/player_ahead.h"
#include "player/player_parts.h"
#include "fill/fill.h"
#include "wire/nfs3_numbers.h"

enum {
    VERSION = 3,         /* of both programs */
    LATE_STEPS = 32,     /* calls between two looks at the clock */
    LATENCY_MEMORY = 16, /* answers */
};

static const char gone[] = "its server answers no more";

/* --- the queues */

static int64_t pick_key(struct player *p, uint64_t number)
{
    switch (p->setup.pick) {
    case PICK_NEWEST:
        return -(int64_t)number;
    case PICK_RANDOM: /* SplitMix64 */
    {
        uint64_t x = p->random += UINT64_C(0x9e3779b97f4a7c15);

        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        return (int64_t)((x ^ x >> 31) >> 1);
    }
    default:
        return (int64_t)number;
    }
}

int send_queue(struct player *p, struct play *play, struct err *err)
{
    struct connection *c = connect_find(p, play, err);
    int64_t key;

    if (!c)
        return -ERR_SYSTEM;
    key = pick_key(p, play_number(play));
    play->allowed = p->now;
    play->state = PLAY_QUEUED;
    p->queued++;
    if (play_queue_add(&c->queue, key, play, err) < 0)
        return -ERR_SYSTEM;
    connect_list(c);
    player_wake(p);
    if (!play_queue_is_behind(&c->queue, AHEAD_QUEUE, key)) /* else ahead_queue does it */
        ahead_send(p, play);
    return 0;
}

/* --- calls */

static struct bytes credential_of(const struct playing *d, const struct step *step)
{
    const struct script *script = d->setup.script;

    if (step->credential > script->credential_count || !script->credentials)
        return (struct bytes){ 0 };
    return script->credentials[step->credential].encoded;
}

/* The contents of a WRITE: as they are in memory, or, when they are too long for that, copied. */
static struct bytes contents(const struct step *step, struct xdr_put *put)
{
    uint64_t object = step_object(step), offset;
    uint32_t left = step->data_len;

    if (!(step->has & STEP_HAS_DATA) || step->value_at + 8u > step->arguments.len)
        return (struct bytes){ 0 };
    offset = load_be64(step->arguments.data + step->value_at);
    if (left <= FILL_RUN)
        return (struct bytes){ fill_at(object, offset), left };
    while (left) {
        uint32_t part = left < FILL_RUN ? left : FILL_RUN;

        xdr_put_bytes(put, fill_at(object, offset), part);
        offset += part;
        left -= part;
    }
    xdr_put_zeros(put, -step->data_len & 3u);
    return (struct bytes){ 0 };
}

int send_call(struct connection *c, struct playing *d, struct send_call *call, struct err *err)
{
    const struct step *step = call->step;
    struct player *p = c->player;
    struct rpc_target target = { .program = step->program,
                                 .version = VERSION,
                                 .procedure = step->procedure->number,
                                 .encoded = credential_of(d, step),
                                 .now = p->now };
    struct xdr_put *put = rpc_client_begin(c->client, &target);
    uint32_t missing = 0;
    int result;

    if (!put)
        return SEND_FULL;
    switch (fill_in(step, d->setup.objects, call->with, put, &missing)) {
    case FILL_IN_DONE:
        break;
    case FILL_IN_NO_CTIME:
        rpc_client_abandon(c->client);
        return SEND_NO_CTIME;
    default: {
        const struct object *object = objects_find(d->setup.objects, missing);

        rpc_client_abandon(c->client);
        call->because = object && object->maker >= 0 ? (uint64_t)object->maker : UINT64_MAX;
        return SEND_NO_HANDLE;
    }
    }
    result = rpc_client_end_with(c->client, contents(step, put), call->done, call->ctx, NULL, err);
    if (result < 0)
        return result == -ERR_USAGE ? SEND_BAD : result;
    if (!c->to->outstanding++)
        c->to->last_answer = p->now;
    c->outstanding++;
    p->outstanding++;
    return SEND_DONE;
}

const char *send_cancelled(const struct connection *c)
{
    return c->to->gone ? gone : "the run ended before its answer";
}

void send_ended(struct connection *c, const struct rpc_answer *answer)
{
    struct player *p = c->player;

    c->outstanding--;
    c->to->outstanding--;
    p->outstanding--;
    if (answer->outcome != RPC_ANSWERED)
        return;
    if (answer->arrived > p->now)
        p->now = answer->arrived;
    p->answers++;
    p->latency += (answer->arrived - answer->called - p->latency) / LATENCY_MEMORY;
    watch_answered(c, answer->arrived);
    connect_room(c);
}

/* --- answers */

/* The first execution of a call that was sent again has made or removed the name already, and the
 * server no longer knows it. */
static bool is_uncertain(const struct step *step, const struct rpc_answer *answer,
                         const struct verdict *verdict)
{
    enum action action = step->procedure->action;

    if (verdict->class != VERDICT_NEW_ERROR || !answer->resent)
        return false;
    return (verdict->status == NFS3ERR_EXIST &&
            (action_makes_name(action) || action_makes_name2(action))) ||
           (verdict->status == NFS3ERR_NOENT && action_takes_name(action));
}

int send_judged(struct play *play, struct follow *follow, const struct rpc_answer *answer,
                struct verdict *verdict, struct err *err)
{
    struct player *p = play->in->player;
    struct play_end end = { .verdict = verdict,
                            .answered = answer->outcome == RPC_ANSWERED ? answer->arrived : NO_TIME,
                            .resent = answer->resent };
    int result;

    if (follow && follow->uncertain) {
        verdict->class = VERDICT_UNCERTAIN;
        verdict->next = NEXT_NOTHING;
    } else if (is_uncertain(play->step, answer, verdict)) {
        verdict->class = VERDICT_UNCERTAIN;
        verdict->next = play->step->made ? NEXT_LOOKUP : NEXT_NOTHING;
    }
    result = follow_next(play, &follow, answer, verdict, err);
    if (result != 1)
        return result;
    if (follow) {
        end.resent += follow->resent;
        if (follow->kind != FOLLOW_AGAIN && follow->answered != NO_TIME)
            end.answered = follow->answered;
        follow_free(follow);
    }
    return steps_end(p, play, &end, err);
}

static int on_answer(void *ctx, const struct rpc_answer *answer, struct err *err)
{
    struct play *play = ctx;
    struct playing *d = play->in;
    struct player *p = d->player;
    struct connection *c;
    struct verdict verdict;
    struct play_end end;
    int result;

    c = connect_find(p, play, err);
    send_ended(c, answer);
    play->sent = answer->called;
    if (answer->outcome == RPC_CANCELLED)
        return steps_unanswered(p, play, send_cancelled(c), answer->resent, err);
    result =
        verdict_reply(d->setup.verdicts, play_number(play), play->step, answer, 0, &verdict, err);
    if (result < 0)
        return result;
    if (verdict.next != NEXT_NOTHING || answer->resent || answer->outcome != RPC_ANSWERED)
        return send_judged(play, NULL, answer, &verdict, err);
    end = (struct play_end){ .verdict = &verdict, .answered = answer->arrived };
    return steps_end(p, play, &end, err);
}

/* Fetches what the answer of one operation needs, and, step by step, what those of the operations
 * before it do. */
void send_answer_soon(void *ctx, rpc_done *done, void *ctx_of_call)
{
    struct connection *c = ctx;
    const struct play *play = done == on_answer ? ctx_of_call : NULL;
    uint32_t at = c->soon_end++;

    c->soon[at % SEND_SOON] = play;
    __builtin_prefetch(play, 1); /* NULL does no harm */
    play = c->soon[(at - 2) % SEND_SOON];
    if (play)
        steps_expect(play->step);
    play = c->soon[(at - 4) % SEND_SOON];
    if (play && ahead_held(play)) { /* else its step may be released */
        steps_expect_wakes(play->in, play->waiters);
        __builtin_prefetch(play->step->arguments.data);
    }
    play = c->soon[(at - 6) % SEND_SOON];
    if (play && ahead_held(play))
        objects_expect(play->in->setup.objects, step_object(play->step));
}

/* --- sending */

static int64_t latest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The listing that gave no cookie, or whatever kept it from being sent. */
static uint64_t cookie_because(const struct play *play)
{
    const struct step_more *more = play->step->more;
    uint32_t back = more ? more->cookie_from : 0;
    uint64_t number = play_number(play);
    const struct play *from;

    if (!back || back > number || back >= play->in->horizon)
        return UINT64_MAX;
    if (play->in->given - (number - back) > (uint64_t)play->in->mask + 1)
        return number - back; /* no longer known; if it had a taint, so has what depends on it */
    from = &play->in->ring[(number - back) & play->in->mask];
    return from->flags & PLAY_TAINTED ? from->because : number - back;
}

static int is_sent(struct connection *c, struct play *play, bool asks_first, struct err *err)
{
    struct player *p = c->player;
    int64_t room = latest(c->room_at, p->room_at);
    int result = 0;

    /* Unless a limit was reached while it was queued, all the time was the player's own. */
    play->allowed = room > play->allowed ? room : play->ready;
    play->state = PLAY_SENT;
    play->sent = asks_first ? NO_TIME : p->now;
    p->sent_last = play;
    p->sent_at = p->now;
    if (asks_first)
        result = follow_begin(play, NULL, FOLLOW_GETATTR, NULL, err);
    return result < 0 ? result : steps_turn(p, play, err);
}

/* A guard needs the ctime that the object has now: what its last reply showed may be over, because
 * operations on a name change it, too. */
static bool asks_ctime(const struct step *step)
{
    return step->has & STEP_GUARDED && step->status != NFS3ERR_NOT_SYNC;
}

/* Takes it off the queue of which it is the first. */
static struct play *unqueue(struct connection *c, const struct queued *first)
{
    struct play *play = first->play;

    c->player->queued--;
    play_queue_drop(&c->queue, first);
    return play;
}

/* The next part of a listing. */
static int send_continued(struct connection *c, struct send_call *call, struct err *err)
{
    const struct play *play = call->ctx;
    struct playing *d = play->in;
    struct fill_in with = *call->with;

    if (!verdict_cookie(d->setup.verdicts, play_number(play), call->step, &with))
        return SEND_NO_COOKIE;
    call->with = &with;
    return send_call(c, d, call, err);
}

/* Sends the first operation of the queue.  Returns SEND_FULL, 0, or a negative code. */
static int send_first(struct connection *c, const struct queued *first, struct err *err)
{
    struct player *p = c->player;
    struct play *play = first->play;
    struct playing *d = play->in;
    const struct step *step = play->step;
    struct send_call call = { step, play_with(d, step), on_answer, play, 0 };
    int result;

    if (c->to->gone)
        return steps_end_as(p, unqueue(c, first), VERDICT_NOT_PLAYED, gone, err);
    ahead_queue(c);
    if (step->has & STEP_CONTINUES)
        result = send_continued(c, &call, err);
    else
        result = asks_ctime(step) ? SEND_NO_CTIME : send_call(c, d, &call, err);
    if (result < 0 || result == SEND_FULL)
        return result;
    unqueue(c, first);
    switch (result) {
    case SEND_NO_COOKIE:
        return steps_skip(p, play, cookie_because(play), "the listing before it gave no cookie",
                          err);
    case SEND_NO_HANDLE:
        return steps_skip(p, play, call.because,
                          call.because == UINT64_MAX ? "the target has no such object" : "", err);
    case SEND_BAD:
        return steps_end_as(p, play, VERDICT_UNPLAYABLE, err->text, err);
    default:
        return is_sent(c, play, result == SEND_NO_CTIME, err);
    }
}

/* How many further calls the limit of all allows. */
static uint64_t room_of_all(const struct player *p)
{
    uint64_t taken = p->outstanding + p->held;

    if (!p->setup.outstanding)
        return UINT64_MAX;
    return taken < p->setup.outstanding ? p->setup.outstanding - taken : 0;
}

/* With a limit for all, the operation that is picked first decides.  Without one, or if it has room
 * for all that is queued, the order of the connections does not matter. */
static uint32_t next_connection(const struct player *p, uint64_t room)
{
    uint32_t count = p->sending_count, best = count - 1;
    int64_t best_key = INT64_MAX;

    if (count == 1 || p->queued <= room)
        return best;
    for (uint32_t i = 0; i < count; i++) {
        const struct queued *first = play_queue_first(&p->sending[i]->queue);

        if (p->sending[i]->follows)
            return i;
        if (first && first->key < best_key) {
            best_key = first->key;
            best = i;
        }
    }
    return best;
}

static int send_all(struct player *p, struct err *err)
{
    for (uint32_t sent = 1; p->sending_count; sent++) {
        uint64_t room = room_of_all(p);
        const struct queued *first;
        struct connection *c;
        uint32_t at;
        int result = SEND_DONE;

        if (!room) {
            p->full = true;
            return 0;
        }
        if (sent % LATE_STEPS == 0)
            p->now = loop_clock();
        at = next_connection(p, room);
        c = p->sending[at];
        if (c->outstanding >= p->setup.outstanding_each)
            result = SEND_FULL;
        else if (c->follows)
            result = follow_send(c, err);
        else if ((first = play_queue_first(&c->queue)) != NULL)
            result = send_first(c, first, err);
        if (result < 0)
            return result;
        if (result == SEND_FULL) {
            c->full = true;
            p->full_count++;
        }
        if (result == SEND_FULL || (!c->follows && !play_queue_count(&c->queue))) {
            c->listed = false;
            p->sending[at] = p->sending[--p->sending_count];
        }
    }
    return 0;
}

int send_round(struct player *p, struct err *err)
{
    int result;

    for (uint32_t i = 1; i < SEND_SOON && p->sending_count; i++)
        ahead_send(p, NULL);
    p->sent_last = NULL;
    result = send_all(p, err);
    if (p->sent_last)
        p->late = p->sent_at - pace_plan(p, p->sent_last);
    return result;
}
