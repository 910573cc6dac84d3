/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/pair_held.c
 *
 * Replies that wait for their calls: captured before them, or without them.  A held reply answers a
 * call that comes later, repeats an answer, or becomes an operation without a call.  A counter for
 * each hash of a call makes it unnecessary to walk the list.  For pair.c, pair_reply.c and
 * pair_state.c.  The contract is in pair_parts.h.
 */
#include "flow/pair_parts.h"

#include <netinet/in.h>
#include <stdlib.h>

int pair_hold(struct pair *p, const struct message *m, const struct call_key *key, struct err *err)
{
    struct held *held = malloc(sizeof(*held) + m->cap_len);

    if (!held)
        return err_memory(err, "replies");
    held->next = NULL;
    held->flow = *m->flow;
    held->message = *m;
    held->message.flow = &held->flow;
    held->message.data = held->data;
    held->since = *p->clock;
    held->ticket = ++p->last_ticket;
    memcpy(held->data, m->data, m->cap_len);
    *p->held_tail = held;
    p->held_tail = &held->next;
    p->held_count++;
    p->held_bytes += m->cap_len;
    p->held_keys[key->hash % HELD_KEYS]++;
    if (p->past && p->held_count > p->past->held)
        p->past->held = p->held_count;
    if (pair_ask(p, m->flow, m->side, load_be32(m->data), err) < 0)
        return -ERR_SYSTEM;
    return pair_tap(
        p, &(struct engine_tapped){ .event = TAP_HELD, .ticket = held->ticket, .message = m }, err);
}

static struct held *held_unlink(struct pair *p, struct held **at)
{
    struct held *held = *at;
    struct call_key key = message_key(&held->flow, held->message.side, load_be32(held->data));

    *at = held->next;
    if (p->held_tail == &held->next)
        p->held_tail = at;
    p->held_count--;
    p->held_bytes -= held->message.cap_len;
    p->held_keys[key.hash % HELD_KEYS]--;
    return held;
}

void pair_held_drop(struct pair *p)
{
    free(held_unlink(p, &p->held));
}

int pair_answer_held(struct pair *p, uint32_t call, struct held *held, struct err *err)
{
    int rc;

    p->ticket = held->ticket;
    rc = pair_answer(p, call, &held->message, err);
    p->ticket = 0;
    free(held);
    return rc;
}

static bool is_of(const struct held *x, const struct call *call)
{
    return load_be32(x->data) == call->xid && x->flow.id == call->flow &&
           x->flow.host[x->message.side] == call->server;
}

bool pair_fits_before(const struct pair *p, const struct message *m, uint64_t frame, int64_t time)
{
    if (time == TIME_NONE || m->time == TIME_NONE)
        return frame <= m->frame + HELD_BEFORE;
    return time - m->time <= p->skew;
}

struct held *pair_held_take(struct pair *p, const struct call *call, int64_t time)
{
    if (!p->held_keys[call->hash % HELD_KEYS])
        return NULL;
    for (struct held **at = &p->held; *at; at = &(*at)->next)
        if (is_of(*at, call) && pair_fits_before(p, &(*at)->message, call->frame, time) &&
            pair_reads_well(call, &(*at)->message))
            return held_unlink(p, at);
    return NULL;
}

int pair_held_repeats(struct pair *p, uint32_t id, int64_t time, struct err *err)
{
    struct call *call = &p->calls.pool[id];
    struct answered as = { .call = id, .same = true };
    int rc = 0;

    for (struct held **at = &p->held; rc == 0 && *at && p->held_keys[call->hash % HELD_KEYS];) {
        struct held *held = *at;
        if (!is_of(held, call) || !pair_fits_before(p, &held->message, call->frame, time) ||
            !pair_same_reply(call, &held->message, &as.flags)) {
            at = &held->next;
            continue;
        }
        held_unlink(p, at);
        rc = pair_further(p, &as, held->ticket, &held->message, err);
        free(held);
    }
    return rc;
}

struct record_operation pair_orphan(const struct message *m, uint64_t id, enum pairing label)
{
    struct record_operation op = { .id = id,
                                   .flow = m->flow->id,
                                   .xid = load_be32(m->data),
                                   .program = PROGRAM_UNKNOWN,
                                   .pairing = (uint8_t)label,
                                   .call = { .time = TIME_NONE },
                                   .reply = pair_sighting(m),
                                   .rpc_status = STATUS_NONE,
                                   .status = STATUS_NONE };
    struct rpc_header h;

    op.reply.flags |= SIGHTING_OPAQUE;
    if (rpc_parse(m->data, m->cap_len, m->wire_len, &h) == RPC_OK) {
        op.rpc_status = (int32_t)h.status;
        op.result_wire = h.body_len;
    } else {
        op.reply.flags |= SIGHTING_HEADER;
    }
    return op;
}

/* The first call that came behind a held reply and still waits, if they may belong together. */
static uint32_t late_call(const struct pair *p, const struct message *m)
{
    struct call_key key = message_key(m->flow, m->side, load_be32(m->data));
    uint32_t at, id, found = CALL_NONE;

    if (m->flow->transport == IPPROTO_UDP)
        return pair_stray(p, m);
    for (id = calls_first(&p->calls, &key, &at); id != CALL_NONE;
         id = calls_next(&p->calls, &key, &at)) {
        const struct call *x = &p->calls.pool[id];
        if (x->waiting && x->flow == m->flow->id && x->frame > m->frame &&
            (found == CALL_NONE || call_after(&p->calls.pool[found], x)) && pair_reads_well(x, m))
            found = id;
    }
    return found;
}

/* A reply whose call is not known. */
static int tap_alone(struct pair *p, const struct held *held, struct err *err)
{
    const struct engine_tapped tapped = { .event = TAP_MESSAGE,
                                          .ticket = held->ticket,
                                          .message = &held->message };

    return pair_tap(p, &tapped, err);
}

/* Puts the operation of a reply without a call, and its copies.  What a server sent again is an
 * operation, too: what the reply says cannot be read, nor whether it says the same. */
static int put_orphan(struct pair *p, const struct held *first, struct err *err)
{
    struct record_operation op = pair_orphan(&first->message, ++p->last_operation, CALL_LOST);
    struct call_key key = message_key(&first->flow, first->message.side, op.xid);
    const struct engine_message message = { &op, &op.reply, true, 0 };
    const struct record_repeat again = { .operation = op.id,
                                         .repeat = COPY_REPLY,
                                         .sighting = { .flags = op.reply.flags } };
    int rc = pair_put(p, &op, err);

    if (rc == 0)
        rc = pair_observe(p, &message, err);
    for (struct held **at = &p->held; rc == 0 && *at && p->held_keys[key.hash % HELD_KEYS];) {
        struct held *x = *at;
        struct sending sent = pair_sending(&first->message);
        if (x->flow.id != first->flow.id || x->message.side != first->message.side ||
            x->message.cap_len != first->message.cap_len ||
            memcmp(x->data, first->data, x->message.cap_len) != 0 ||
            pair_reply_again(&sent, &x->message) != COPY_REPLY) {
            at = &x->next;
            continue;
        }
        held_unlink(p, at);
        rc = tap_alone(p, x, err);
        if (rc == 0)
            rc = pair_repeat(p, &x->message, &again, err);
        free(x);
    }
    return rc;
}

int pair_held_give_up(struct pair *p, struct err *err)
{
    struct held *held = held_unlink(p, &p->held);
    const struct message *m = &held->message;
    uint32_t id = late_call(p, m);
    struct answered as;
    int rc;

    if (id != CALL_NONE)
        return pair_answer_held(p, id, held, err);
    as = pair_answered(p, m);
    if (as.call != CALL_NONE) {
        rc = pair_further(p, &as, held->ticket, m, err);
    } else {
        rc = tap_alone(p, held, err);
        if (rc == 0)
            rc = put_orphan(p, held, err);
    }
    free(held);
    return rc;
}
