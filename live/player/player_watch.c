/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_watch.c
 *
 * What people are told while the player plays: progress, lost connections and their outages, and
 * servers that do not answer.
 */
#include "player/player_parts.h"

#include <stdio.h>
#include <sys/resource.h>

enum { OLDEST = 3, NOTE = 512 };
static const int64_t TICK = 250000000;

void watch_cpu(int64_t *user, int64_t *system)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    *user = usage.ru_utime.tv_sec * INT64_C(1000000000) + usage.ru_utime.tv_usec * INT64_C(1000);
    *system = usage.ru_stime.tv_sec * INT64_C(1000000000) + usage.ru_stime.tv_usec * INT64_C(1000);
}

int watch_note(struct player *p, const char *note, struct err *err)
{
    struct player_progress progress = { .done = p->done,
                                        .differ = p->differ,
                                        .outstanding = p->outstanding,
                                        .now = p->now - p->begin,
                                        .late = p->late,
                                        .note = note };
    bool known = true;

    if (!p->setup.progress)
        return 0;
    for (uint32_t i = 0; i < p->setup.dump_count; i++) {
        progress.waiting += p->dumps[i].given;
        progress.total += p->dumps[i].setup.operations;
        known &= p->dumps[i].setup.operations != 0;
    }
    progress.total = known ? progress.total : 0;
    progress.waiting -=
        p->done + p->outstanding < progress.waiting ? p->done + p->outstanding : progress.waiting;
    return p->setup.progress(p->setup.ctx, &progress, err);
}

/* --- servers that do not answer */

/* Puts the operation among the oldest, if it is one of them. */
static void keep_oldest(const struct play **oldest, const struct play *play)
{
    for (int i = 0; i < OLDEST; i++) {
        if (!oldest[i] || play->sent < oldest[i]->sent) {
            const struct play *out = oldest[i];

            oldest[i] = play;
            if (!out)
                return;
            play = out;
        }
    }
}

static void find_oldest(const struct player *p, const struct destination *to,
                        const struct play **oldest)
{
    for (uint32_t i = 0; i < p->setup.dump_count; i++) {
        const struct playing *d = &p->dumps[i];

        for (uint64_t n = d->base; n < d->given; n++) {
            const struct play *play = &d->ring[n & d->mask];

            if (play->state == PLAY_SENT && play->sent != NO_TIME &&
                d->setup.target[play->step->server] == to->target)
                keep_oldest(oldest, play);
        }
    }
}

/* A server that keeps its connections, or has none (UDP), but answers nothing, is out, too. */
static void begin_outages(struct player *p, const struct destination *to)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct connection *c = p->all[i];

        if (c->to == to && c->outstanding && c->lost_at == NO_TIME)
            c->lost_at = to->last_answer;
    }
}

static int tell_silence(struct player *p, struct destination *to, int64_t silence, struct err *err)
{
    const struct play *oldest[OLDEST] = { 0 };
    char note[NOTE], address[NET_ADDRESS_TEXT];
    int len;

    to->told = true;
    begin_outages(p, to);
    find_oldest(p, to, oldest);
    len = snprintf(note, sizeof(note), "%s has answered nothing for %.1f s",
                   net_address_text(to->address, address), (double)silence / 1e9);
    for (int i = 0; i < OLDEST && oldest[i] && len < NOTE; i++)
        len += snprintf(note + len, (size_t)(NOTE - len),
                        "%s operation %llu (%s, id %lld) since %.1f s",
                        i ? "," : "; oldest:", (unsigned long long)play_number(oldest[i]),
                        oldest[i]->step->procedure->name, (long long)oldest[i]->step->source,
                        (double)(p->now - oldest[i]->sent) / 1e9);
    return watch_note(p, note, err);
}

/* One of several targets ends alone. */
static int give_up(struct player *p, struct destination *to, struct err *err)
{
    char note[NOTE], address[NET_ADDRESS_TEXT];
    bool others;

    begin_outages(p, to);
    connect_give_up(p, to);
    others = connect_has_others(p);
    p->setup.tally->gave_up = true;
    p->setup.tally->ended_early = others ? "a server answered no more, and its operations were left"
                                         : "the server answered no more";
    if (!others)
        player_stop(p);
    snprintf(note, sizeof(note), "%s answers no more: %s", net_address_text(to->address, address),
             others ? "nothing more is sent to it, and the run goes on without it"
                    : "the run ends");
    return watch_note(p, note, err);
}

int watch_tick(void *ctx, struct err *err)
{
    struct player *p = ctx;
    int result = 0;

    p->now = loop_clock();
    for (uint32_t i = 0; i < p->count && result == 0; i++) {
        struct destination *to = p->all[i]->to;
        int64_t silence = to->outstanding ? p->now - to->last_answer : 0;

        if (p->phase < PHASE_STOPPING && p->setup.give_up && silence > p->setup.give_up)
            result = to->gone ? 0 : give_up(p, to, err);
        else if (p->setup.timeout && silence > p->setup.timeout && !to->told)
            result = tell_silence(p, to, silence, err);
    }
    if (p->gave_up && !connect_has_others(p))
        player_stop(p); /* the others have nothing more to play */
    if (result == 0)
        result = watch_note(p, NULL, err);
    if (p->setup.others)
        player_wake(p); /* they may have room again, which nobody tells */
    return result < 0 ? result : loop_set(p->setup.loop, &p->tick, p->now + TICK, err);
}

/* --- connections */

/* Another connection to the same server that is out, or NULL. */
static struct connection *also_out(const struct connection *c)
{
    const struct player *p = c->player;

    for (uint32_t i = 0; i < p->count; i++)
        if (p->all[i] != c && p->all[i]->lost_at != NO_TIME &&
            net_address_equal(p->all[i]->to->address, c->to->address))
            return p->all[i];
    return NULL;
}

/* An outage of a server lasts until its last connection is back, however many it has. */
void watch_outage_ends(struct connection *c, int64_t now)
{
    struct tally *tally = c->player->setup.tally;
    struct connection *other;

    if (c->lost_at == NO_TIME)
        return;
    other = also_out(c);
    if (other) {
        other->lost_at = c->lost_at < other->lost_at ? c->lost_at : other->lost_at;
    } else {
        tally->outages++;
        tally->outages_ns += now > c->lost_at ? now - c->lost_at : 0;
    }
    c->lost_at = NO_TIME;
}

void watch_answered(struct connection *c, int64_t arrived)
{
    c->to->last_answer = arrived;
    c->to->told = false;
    watch_outage_ends(c, arrived);
}

int watch_event(void *ctx, enum rpc_client_event event, const char *text, struct err *err)
{
    struct connection *c = ctx;
    struct player *p = c->player;
    char note[NOTE], address[NET_ADDRESS_TEXT];
    bool news = event == RPC_CLIENT_OTHER_PORT || event == RPC_CLIENT_GAVE_UP;

    if (event == RPC_CLIENT_CONNECTED)
        return 0;
    if (event == RPC_CLIENT_LOST || event == RPC_CLIENT_NONSENSE)
        p->setup.tally->lost_connections++;
    /* servers close idle connections: only what is outstanding makes it an outage */
    if (c->outstanding && c->lost_at == NO_TIME && !news) {
        c->lost_at = loop_clock();
        news = true;
    }
    if (!news || p->phase >= PHASE_ENDED)
        return 0;
    snprintf(note, sizeof(note), "%s: %s", net_address_text(c->to->address, address), text);
    return watch_note(p, note, err);
}
