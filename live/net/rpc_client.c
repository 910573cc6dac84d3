/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_client.c
 *
 * The calls of an RPC client: slots, XIDs, answers and time-outs.  The contract is in rpc_client.h;
 * how messages travel is in rpc_client_tcp.c and rpc_client_udp.c.
 */
#include "net/rpc_client_parts.h"
#include "wire/rpc_put.h"

#include <stdlib.h>
#include <sys/random.h>

enum { ROOM_AGAIN = 10000000 /* ns */ };

/* --- slots */

static void list_add(struct rpc_client *c, struct slot *slot)
{
    slot->next = NULL;
    slot->prev = c->newest;
    *(c->newest ? &c->newest->next : &c->oldest) = slot;
    c->newest = slot;
}

static void list_remove(struct rpc_client *c, struct slot *slot)
{
    *(slot->prev ? &slot->prev->next : &c->oldest) = slot->next;
    *(slot->next ? &slot->next->prev : &c->newest) = slot->prev;
}

static void give_back(struct rpc_client *c, struct slot *slot)
{
    if (slot->message.cap > SLOT_KEEPS)
        buf_free(&slot->message);
    slot->message.len = 0;
    slot->next = c->free;
    c->free = slot;
}

static struct place *place_of(const struct rpc_client *c, uint32_t xid)
{
    return &c->places[xid & c->place_mask];
}

/* Bytes that a peer does not read outlive their calls. */
static bool output_is_long(const struct rpc_client *c)
{
    return c->stream && record_stream_copies(c->stream) > c->setup.limits.call_bytes;
}

static inline bool has_room(const struct rpc_client *c)
{
    return c->free && !c->open && c->stats.outstanding < c->setup.limits.calls &&
           c->bytes < c->setup.limits.call_bytes && !output_is_long(c);
}

bool rpc_client_has_room(const struct rpc_client *c)
{
    return has_room(c);
}

/* --- ends of calls */

static inline void take_out(struct rpc_client *c, struct slot *slot)
{
    place_of(c, slot->xid)->slot = SLOT_NONE;
    list_remove(c, slot);
    if (c->setup.udp)
        udp_forget(c, slot);
    c->bytes -= slot->message.len;
    c->stats.outstanding--;
}

/* Takes the call out, and tells its owner. */
static inline int end_call(struct rpc_client *c, struct slot *slot, struct rpc_answer *answer,
                           struct err *err)
{
    int result;

    take_out(c, slot);
    answer->xid = slot->xid;
    answer->call = (struct bytes){ slot->message.data, (uint32_t)slot->message.len };
    answer->called = slot->called;
    answer->resent = slot->resent;
    result = slot->done(slot->ctx, answer, err);
    give_back(c, slot);
    if (c->room_wanted && !c->dead)
        loop_idle(c->loop, &c->room);
    return result;
}

/* The same without an answer. */
static int end_unanswered(struct rpc_client *c, struct slot *slot, enum rpc_outcome outcome,
                          struct err *err)
{
    place_of(c, slot->xid)->answered = false;
    *(outcome == RPC_TIMED_OUT ? &c->stats.timed_out
      : outcome == RPC_LOST    ? &c->stats.lost
                               : &c->stats.cancelled) += 1;
    return end_call(c, slot, &(struct rpc_answer){ .outcome = outcome }, err);
}

int client_end_all(struct rpc_client *c, enum rpc_outcome outcome, struct err *err)
{
    int result = 0;

    /* what owners call meanwhile is not among them */
    for (uint32_t left = c->stats.outstanding; left && result == 0 && c->oldest && !c->dead; left--)
        result = end_unanswered(c, c->oldest, outcome, err);
    return result;
}

bool rpc_client_cancel(struct rpc_client *c, uint32_t xid)
{
    struct place *place = place_of(c, xid);

    if (!place->used || place->xid != xid || place->slot == SLOT_NONE ||
        &c->slots[place->slot] == c->open)
        return false;
    client_enter(c);
    end_unanswered(c, &c->slots[place->slot], RPC_CANCELLED, NULL);
    client_leave(c, 0);
    return true;
}

/* All calls have the same time, so the oldest is the first.  The timer may be early: answers do not
 * touch it. */
static int on_expiry(void *ctx, struct err *err)
{
    struct rpc_client *c = ctx;
    int64_t now = loop_now(c->loop), timeout = c->setup.limits.timeout;
    int result = 0;

    client_enter(c);
    while (result == 0 && !c->dead && c->oldest && c->oldest->called + timeout <= now)
        result = end_unanswered(c, c->oldest, RPC_TIMED_OUT, err);
    if (result == 0 && !c->dead && c->oldest)
        result = loop_set(c->loop, &c->expiry, c->oldest->called + timeout, err);
    return client_leave(c, result);
}

static int on_room(void *ctx, struct err *err)
{
    struct rpc_client *c = ctx;
    int result = 0;

    if (!c->room_wanted)
        return 0;
    if (!rpc_client_has_room(c)) /* the calls have ended, but their bytes still wait */
        return c->free ? loop_set(c->loop, &c->room_again, loop_now(c->loop) + ROOM_AGAIN, err) : 0;
    c->room_wanted = false;
    client_enter(c);
    if (c->host.room)
        result = c->host.room(c->host.ctx, err);
    return client_leave(c, result);
}

/* --- messages for those who record them */

NOT_INLINE void client_show(const struct rpc_client *c, const struct slot *slot)
{
    c->host.message(c->host.ctx, &(struct rpc_client_message){
                                     .own = &c->own,
                                     .server = &c->setup.server,
                                     .udp = c->setup.udp,
                                     .message = { slot->message.data, (uint32_t)slot->message.len },
                                     .tail = slot->tail,
                                     .done = slot->done,
                                     .ctx = slot->ctx });
}

static NOT_INLINE void show_answer(const struct rpc_client *c, const uint8_t *data, uint32_t len)
{
    c->host.message(c->host.ctx, &(struct rpc_client_message){ .own = &c->own,
                                                               .server = &c->setup.server,
                                                               .udp = c->setup.udp,
                                                               .from_server = true,
                                                               .message = { data, len } });
}

/* --- answers */

/* A reply to no outstanding call.  |known|: its XID is that of one which has ended. */
static int count_stray(struct rpc_client *c, bool known, const struct place *place)
{
    *(!known ? &c->stats.unknown : place->answered ? &c->stats.duplicate : &c->stats.late) += 1;
    return 0;
}

int client_message(struct rpc_client *c, const uint8_t *data, uint32_t len, struct err *err)
{
    struct rpc_answer answer; /* end_call sets the rest of it */
    struct rpc_header header;
    struct place *place;
    struct slot *slot;

    c->stats.bytes_in += len;
    if (c->host.message)
        show_answer(c, data, len);
    if (rpc_parse(data, len, len, &header) != RPC_OK || header.direction != RPC_REPLY) {
        c->stats.garbage++;
        return 1;
    }
    place = place_of(c, header.xid);
    if (!place->used || place->xid != header.xid)
        return count_stray(c, false, place);
    if (place->slot == SLOT_NONE)
        return count_stray(c, true, place);
    slot = &c->slots[place->slot];
    if (slot == c->open)
        return count_stray(c, false, place);
    c->failures = 0;
    c->stats.answers++;
    place->answered = true;
    answer.outcome = RPC_ANSWERED;
    answer.header = &header;
    answer.message = (struct bytes){ data, len };
    answer.body = header.status == RPC_SUCCESS
                      ? (struct bytes){ data + header.body, header.body_len }
                      : (struct bytes){ 0 };
    answer.arrived = loop_now(c->loop);
    return end_call(c, slot, &answer, err);
}

/* --- calls */

/* The next XID whose place is free. */
static uint32_t take_xid(struct rpc_client *c, struct slot *slot)
{
    struct place *place;
    uint32_t xid;

    do {
        xid = c->next_xid++;
        place = place_of(c, xid);
    } while (place->used && place->slot != SLOT_NONE);
    *place = (struct place){ .xid = xid, .slot = (uint32_t)(slot - c->slots), .used = true };
    return xid;
}

static NOT_INLINE void put_header(struct rpc_client *c, uint32_t xid,
                                  const struct rpc_target *target)
{
    struct rpc_header header = { .xid = xid,
                                 .direction = RPC_CALL,
                                 .rpc_version = 2,
                                 .program = target->program,
                                 .version = target->version,
                                 .procedure = target->procedure };

    if (target->credential)
        header.credential = *target->credential;
    rpc_put_header(&c->put, &header);
}

/* The same with a credential that was written before (RFC 5531 s9). */
static inline void put_encoded(struct rpc_client *c, uint32_t xid, const struct rpc_target *target)
{
    enum { BEFORE = 24 /* bytes */ };
    uint8_t *to = xdr_put_room(&c->put, (size_t)BEFORE + target->encoded.len);

    if (!to)
        return;
    store_be32(to, xid);
    store_be32(to + 4, RPC_CALL);
    store_be32(to + 8, 2);
    store_be32(to + 12, target->program);
    store_be32(to + 16, target->version);
    store_be32(to + 20, target->procedure);
    memcpy(to + BEFORE, target->encoded.data, target->encoded.len);
}

struct xdr_put *rpc_client_begin(struct rpc_client *c, const struct rpc_target *target)
{
    struct slot *slot = c->free;

    if (!has_room(c)) {
        c->room_wanted = true;
        if (slot) /* too many bytes: no call may end that would ask */
            loop_idle(c->loop, &c->room);
        return NULL;
    }
    c->free = slot->next;
    c->open = slot;
    c->now = target->now;
    slot->xid = take_xid(c, slot);
    c->put.to = &slot->message;
    c->put.max = c->setup.limits.call_max;
    c->put.problem = XDR_PUT_OK;
    if (target->encoded.len)
        put_encoded(c, slot->xid, target);
    else
        put_header(c, slot->xid, target);
    return &c->put;
}

void rpc_client_abandon(struct rpc_client *c)
{
    struct slot *slot = c->open;

    if (!slot)
        return;
    place_of(c, slot->xid)->used = false;
    c->open = NULL;
    give_back(c, slot);
}

int rpc_client_end_with(struct rpc_client *c, struct bytes tail, rpc_done *done, void *ctx,
                        uint32_t *xid, struct err *err)
{
    struct slot *slot = c->open;
    int result;

    if (slot->message.len + tail.len > c->setup.limits.call_max)
        xdr_put_fail(&c->put, XDR_PUT_TOO_LONG);
    if (c->put.problem) {
        result = xdr_put_end(&c->put, "an RPC call", err);
        rpc_client_abandon(c);
        return result;
    }
    c->open = NULL;
    slot->called = c->now ? c->now : loop_clock();
    slot->done = done;
    slot->ctx = ctx;
    slot->tail = tail;
    slot->resent = 0;
    slot->sent = false;
    if (xid)
        *xid = slot->xid;
    list_add(c, slot);
    c->bytes += slot->message.len;
    c->stats.calls++;
    c->stats.outstanding++;
    result = c->setup.udp ? udp_send(c, slot, err) : tcp_send(c, slot, err);
    if (result == 0 && c->setup.limits.timeout && !c->expiry.place)
        result = loop_set(c->loop, &c->expiry, slot->called + c->setup.limits.timeout, err);
    if (result < 0) {
        take_out(c, slot);
        give_back(c, slot);
        c->stats.calls--;
    }
    return result;
}

int rpc_client_end(struct rpc_client *c, rpc_done *done, void *ctx, uint32_t *xid, struct err *err)
{
    return rpc_client_end_with(c, (struct bytes){ 0 }, done, ctx, xid, err);
}

int rpc_client_call(struct rpc_client *c, const struct rpc_target *target, struct bytes arguments,
                    rpc_done *done, void *ctx, struct err *err)
{
    struct xdr_put *put = rpc_client_begin(c, target);

    if (!put)
        return RPC_CLIENT_FULL;
    xdr_put_bytes(put, arguments.data, arguments.len);
    return rpc_client_end(c, done, ctx, NULL, err);
}

/* --- the client */

int client_event(struct rpc_client *c, enum rpc_client_event event, const char *text,
                 struct err *err)
{
    return c->host.event ? c->host.event(c->host.ctx, event, text, err) : 0;
}

struct rpc_client_stats rpc_client_stats(const struct rpc_client *c)
{
    struct rpc_client_stats stats = c->stats;

    if (c->stream)
        stats.writes += record_stream_writes(c->stream);
    stats.port = c->has_port ? net_address_port(&c->setup.from.local) : 0;
    return stats;
}

static void dispose(struct rpc_client *c)
{
    for (uint32_t i = 0; c->slots && i < c->slot_count; i++)
        buf_free(&c->slots[i].message);
    free(c->slots);
    free(c->places);
    free(c->queue);
    free(c->input);
    free(c);
}

int client_leave(struct rpc_client *c, int result)
{
    if (--c->busy == 0 && c->dead)
        dispose(c);
    return result;
}

void rpc_client_free(struct rpc_client *c)
{
    if (!c || c->dead)
        return;
    client_enter(c);
    rpc_client_abandon(c);
    while (c->oldest)
        end_unanswered(c, c->oldest, RPC_CANCELLED, NULL);
    c->dead = true;
    loop_unset(c->loop, &c->expiry);
    loop_unset(c->loop, &c->room_again);
    loop_unidle(c->loop, &c->room);
    tcp_close(c);
    udp_close(c);
    client_leave(c, 0);
}

struct rpc_client *rpc_client_new(struct loop *loop, const struct rpc_client_setup *setup,
                                  const struct rpc_client_host *host, struct err *err)
{
    struct rpc_client *c;
    uint32_t places = 2;

    if (client_check(setup, err) < 0)
        return NULL;
    c = calloc(1, sizeof(*c));
    if (!c) {
        err_memory(err, "an RPC client");
        return NULL;
    }
    c->loop = loop;
    c->held = -1;
    c->setup = *setup;
    if (host)
        c->host = *host;
    if (setup->udp && c->setup.limits.call_max > DATAGRAM_MAX)
        c->setup.limits.call_max = DATAGRAM_MAX;
    c->connecting.fd = c->datagrams.fd = -1;
    while (places < 2 * setup->limits.calls)
        places *= 2;
    c->place_mask = places - 1;
    c->places = calloc(places, sizeof(*c->places));
    c->slot_count = setup->limits.calls + 1;
    c->slots = calloc(c->slot_count, sizeof(*c->slots));
    if (!c->places || !c->slots) {
        err_memory(err, "an RPC client");
        dispose(c);
        return NULL;
    }
    /* XIDs of the program's last run must not meet others with the same number (rpc_client.h) */
    if (getrandom(&c->next_xid, sizeof(c->next_xid), 0) != sizeof(c->next_xid)) {
        err_set(err, ERR_SYSTEM, "there are no random numbers");
        dispose(c);
        return NULL;
    }
    for (uint32_t i = c->slot_count; i-- > 0;) {
        c->slots[i].client = c;
        give_back(c, &c->slots[i]);
    }
    c->expiry = (struct timer){ .due = on_expiry, .ctx = c };
    c->room = (struct idle){ .run = on_room, .ctx = c };
    c->room_again = (struct timer){ .due = on_room, .ctx = c };
    c->attempt = (struct timer){ .due = tcp_due, .ctx = c };
    return c;
}
