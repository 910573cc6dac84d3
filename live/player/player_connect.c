/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_connect.c
 *
 * The connections of the player: one for each client of the trace and target, or a number of them
 * for each target that its clients share.  If there are fewer clients than that, operations take
 * turns.  Connections are made when the first operation needs them.
 * NFSACL uses those of NFS if it answers at the same address.
 */
#include "player/player_parts.h"
#include "base/grow.h"
#include "wire/nfs3_numbers.h"

#include <stdlib.h>

enum { CALL_BYTES = 64 << 20, CALL_MAX = 64 << 20 };

/* With more connections than clients of this player, some would never be used: then it does not
 * matter whose an operation is. */
static uint32_t turns_of(const struct playing *d)
{
    const struct script_host *hosts = d->setup.script->hosts;
    uint32_t most = d->player->setup.connections, clients = 0;

    for (uint32_t i = 1; hosts && i <= d->host_count; i++)
        clients += !hosts[i].is_server && !other_has(d, i);
    return most > (clients ? clients : 1) ? most : 0;
}

/* Its number times the golden ratio, of which the fraction counts: any steady part of all
 * operations, such as each second one, comes to all connections, too. */
static uint32_t turn_of(const struct playing *d, uint64_t number)
{
    return (uint32_t)((number * UINT64_C(0x9e3779b97f4a7c15) >> 32) * d->turns >> 32);
}

int connect_open(struct playing *d, struct err *err)
{
    d->turns = turns_of(d);
    d->destinations = calloc(2 * ((uint64_t)d->host_count + 1), sizeof(*d->destinations));
    if (!d->destinations)
        return err_memory(err, "targets");
    for (uint32_t i = 0; i <= d->host_count; i++) {
        struct destination *nfs = &d->destinations[2 * i], *acl = nfs + 1;
        const struct target *target = i && d->setup.target ? d->setup.target[i] : NULL;

        if (!target)
            continue;
        *nfs = (struct destination){ .target = target, .address = &target->nfs, .same = nfs };
        *acl = (struct destination){ .target = target, .address = &target->nfsacl, .same = acl };
        if (net_address_equal(&target->nfs, &target->nfsacl))
            acl->same = nfs;
    }
    return 0;
}

/* --- connections */

void connect_list(struct connection *c)
{
    struct player *p = c->player;

    if (c->listed || c->full || (!c->follows && !play_queue_count(&c->queue)))
        return;
    c->listed = true;
    p->sending[p->sending_count++] = c; /* there is room for all */
}

void connect_room(struct connection *c)
{
    struct player *p = c->player;

    if (c->full) {
        c->full = false;
        p->full_count--;
        c->room_at = p->now;
        connect_list(c);
    }
    if (p->full) {
        p->full = false;
        p->room_at = p->now;
    }
}

static int on_room(void *ctx, struct err *err)
{
    struct connection *c = ctx;

    (void)err;
    connect_room(c);
    player_wake(c->player);
    return 0;
}

static void on_message(void *ctx, const struct rpc_client_message *message)
{
    const struct connection *c = ctx;
    const struct player_setup *setup = &c->player->setup;
    const struct play *play = message->from_server ? NULL : follow_repeats(message);
    struct player_message shown = { .rpc = message };

    if (play) {
        shown.step = play->step;
        shown.dump = play->in->index;
    }
    setup->message(setup->message_ctx, &shown);
}

static struct connection *connect_new(struct player *p, struct destination *to, struct err *err)
{
    struct rpc_client_setup setup = { .server = *to->address,
                                      .udp = to->target->udp,
                                      .from = to->target->from,
                                      .limits = rpc_client_defaults };
    struct connection *c = calloc(1, sizeof(*c));
    struct rpc_client_host host = { on_room, watch_event, c, p->setup.message ? on_message : NULL,
                                    send_answer_soon };

    if (!c || GROW(p->all, p->count, p->cap) < 0 ||
        GROW(p->sending, p->count, p->sending_cap) < 0) {
        free(c);
        err_memory(err, "connections");
        return NULL;
    }
    setup.limits.calls = p->setup.outstanding_each;
    setup.limits.call_bytes = CALL_BYTES;
    setup.limits.call_max = CALL_MAX;
    setup.limits.timeout = 0; /* the watchdog tells */
    *c = (struct connection){ .player = p,
                              .to = to,
                              .follows_end = &c->follows,
                              .room_at = p->now,
                              .lost_at = NO_TIME,
                              .client = rpc_client_new(p->setup.loop, &setup, &host, err) };
    if (!c->client) {
        free(c);
        return NULL;
    }
    p->all[p->count++] = c;
    c->place = p->count <= UINT16_MAX ? (uint16_t)p->count : 0;
    return c;
}

static struct destination *destination_of(const struct playing *d, const struct step *step)
{
    if (step->server > d->host_count)
        return &d->destinations[0];
    return &d->destinations[2 * step->server + (step->program != NFS3_PROGRAM)];
}

static uint32_t client_of(const struct playing *d, const struct step *step)
{
    return step->client <= d->host_count ? step->client : 0;
}

bool connect_can(const struct playing *d, const struct step *step, uint64_t number, uint16_t *place)
{
    const struct destination *to = destination_of(d, step);
    const struct connection *c;

    *place = 0;
    if (!step->procedure || !to->target)
        return false;
    to = to->same;
    if (d->turns)
        c = to->pool ? to->pool[turn_of(d, number)] : NULL;
    else
        c = to->connections ? to->connections[client_of(d, step)] : NULL;
    if (c)
        *place = c->place;
    return true;
}

struct connection *connect_make(struct player *p, struct play *play, struct err *err)
{
    struct playing *d = play->in;
    struct destination *to;
    uint32_t client, most = p->setup.connections;
    struct connection **place, *c;

    to = destination_of(d, play->step)->same;
    client = client_of(d, play->step);
    if (!to->connections) {
        to->connections = calloc((uint64_t)d->host_count + 1, sizeof(struct connection *));
        to->pool = calloc(most ? most : 1, sizeof(struct connection *));
        if (!to->connections || !to->pool) {
            err_memory(err, "connections");
            return NULL;
        }
    }
    place = d->turns ? &to->pool[turn_of(d, play_number(play))] : &to->connections[client];
    c = *place;
    if (!c && most && to->pool_count == most)
        c = to->pool[to->pool_next++ % most];
    else if (!c && (c = connect_new(p, to, err)) && most && !d->turns)
        to->pool[to->pool_count++] = c;
    *place = c;
    play->connection = c ? c->place : 0;
    return c;
}

/* What is outstanding ends as RPC_CANCELLED. */
static void end_client(struct connection *c)
{
    struct rpc_client *client = c->client;
    struct rpc_client_stats stats;

    if (!client)
        return;
    stats = rpc_client_stats(client);
    c->player->setup.tally->calls += stats.calls;
    c->player->setup.tally->writes += stats.writes;
    c->client = NULL;
    rpc_client_free(client);
}

void connect_give_up(struct player *p, struct destination *to)
{
    to->gone = p->gave_up = true;
    for (uint32_t i = 0; i < p->count; i++) { /* there may be more while it is done */
        struct connection *c = p->all[i];

        if (c->to != to)
            continue;
        end_client(c);
        connect_room(c);
        connect_list(c);
    }
    player_wake(p);
}

bool connect_has_others(const struct player *p)
{
    for (uint32_t i = 0; i < p->setup.dump_count; i++) {
        const struct playing *d = &p->dumps[i];

        if (d->over && d->base == d->given)
            continue;
        for (uint32_t n = 0; n < 2 * (d->host_count + 1); n++) {
            const struct destination *to = &d->destinations[n];

            /* NFSACL at an address of its own counts if it was used */
            if (to->target && to->same == to && !to->gone && (n % 2 == 0 || to->connections))
                return true;
        }
    }
    return false;
}

void connect_close(struct player *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        watch_outage_ends(p->all[i], p->now); /* of a server that did not come back */
    for (uint32_t i = 0; i < p->count; i++) {
        struct connection *c = p->all[i];

        end_client(c);
        play_queue_free(&c->queue);
        free(c);
    }
    p->count = p->sending_count = 0;
    for (uint32_t i = 0; i < p->setup.dump_count; i++) {
        struct playing *d = &p->dumps[i];

        for (uint32_t j = 0; d->destinations && j < 2 * (d->host_count + 1); j++) {
            free(d->destinations[j].connections);
            free(d->destinations[j].pool);
            d->destinations[j].connections = d->destinations[j].pool = NULL;
        }
    }
}
