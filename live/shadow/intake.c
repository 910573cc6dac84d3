/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/intake.c
 *
 * What comes from the ring: messages with all their bytes, and the records that the tap's engine
 * makes of them.  A reply's bytes come just before the record of its operation.
 */
#include "flow/message.h"
#include "shadow/shadow_parts.h"

static void map_address(const struct address *a, uint8_t to[16])
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

    if (a->version == 4) {
        memcpy(to, mapped, sizeof(mapped));
        memcpy(to + 12, a->bytes, 4);
    } else {
        memcpy(to, a->bytes, 16);
    }
}

/* A connection of the copy. */
static bool is_own(const struct shadow *s, const struct flow *flow)
{
    struct address own = { .version = s->own.family == AF_INET ? 4 : 6 };
    uint8_t client[16], ours[16];

    if (!s->own.family || flow->port[!flow->server] != net_address_port(&s->own))
        return false;
    if (own.version == 4)
        memcpy(own.bytes, &s->own.v4.sin_addr, 4);
    else
        memcpy(own.bytes, &s->own.v6.sin6_addr, 16);
    map_address(&flow->address[!flow->server], client);
    map_address(&own, ours);
    return memcmp(client, ours, sizeof(ours)) == 0;
}

int intake_message(void *ctx, const struct engine_tapped *tapped, struct err *err)
{
    struct shadow *s = ctx;
    const struct message *m = tapped->message;

    if (tapped->event != TAP_MESSAGE)
        return 0;
    s->born_count = 0;
    if (m->frame >= s->position) {
        s->position = m->frame;
        s->position_time = m->time;
    }
    s->last_called = NULL;
    s->reply.len = 0;
    s->is_own = is_own(s, m->flow);
    if (s->is_own) /* the log has paths of what a scrub finds */
        return m->side != m->flow->server && !s->setup.scrubs;
    if (m->side != m->flow->server) {
        int theirs = others_called(s, m, err);

        if (theirs)
            return theirs;
        s->client_seen = loop_now(s->loop);
        return requests_called(s, tapped, err);
    }
    if (!others_reply(s, m->flow->id))
        s->client_seen = loop_now(s->loop);
    s->reply_flags = m->flags;
    return buf_append(&s->reply, m->data, m->cap_len) < 0 ? err_memory(err, "requests") : 0;
}

static int find_new(struct shadow *s, struct request *r, struct err *err)
{
    const struct effect *e = effect_of(r);
    struct err why = { 0 };
    struct mirror_object *object;

    if (!e->succeeded || !e->new_handle.len)
        return 0;
    object = known_object(s, e->new_handle, &why);
    if (!object)
        return why.code == ERR_INPUT ? 0 : err_set(err, ERR_SYSTEM, "%s", why.text);
    rest_of(r)->objects[TEE_NEW] = object->id;
    reading_identify(r);
    mirror_accessed(s->mirror, object, e->done_time);
    if (object->state != MIRROR_GONE)
        return 0;
    /* it had another name, or its handle was given again: its directory tells */
    if (mirror_set_state(s->mirror, object, MIRROR_UNKNOWN, err) < 0)
        return -err->code;
    return e->parent ? dispatch_again(s, mirror_at(s->mirror, e->parent), r->begin, err) : 0;
}

/* All that is known of the request is in it now. */
static int end_request(struct shadow *s, struct request *r, const struct record_operation *op,
                       struct err *err)
{
    struct named named;

    r->end = op->pairing == PAIRED ? op->reply.frame : s->position;
    rest_of(r)->ended = loop_now(s->loop);
    rest_of(r)->is_partial |= op->pairing == PAIRED && s->reply_flags & SIGHTING_PARTIAL;
    if (reading_keep(r, op, err) < 0 || find_new(s, r, err) < 0)
        return -err->code;
    named = learn_named(s, r, op);
    rest_of(r)->took_unknown = s->removed_unknown;
    return touches_set(s, r, &named, err);
}

static int on_operation(struct shadow *s, const struct record_operation *op, struct err *err)
{
    struct request *r = requests_find(s, op);
    uint32_t gone;

    if (!r) {
        bool is_late = op->pairing == PAIRED && s->counts.gaps && op->call.frame <= s->last_lost;

        if (s->is_own)
            return 0;
        if (op->pairing != CALL_LOST && !is_late) /* no call of a client */
            return op->pairing == PAIRED ? others_operation(s, op, err) : 0;
        s->counts.requests++; /* whatever it was, it may have changed anything */
        s->counts.fates[FATE_GAP]++;
        return dispatch_all_again(s, 0, err);
    }
    if (op->pairing == PAIRED)
        latencies_add(s, r, REF, op->reply.time - op->call.time);
    requests_answered(s, r);
    r->stage = STAGE_ENDED;
    if (end_request(s, r, op, err) < 0) {
        requests_free(s, r);
        return -err->code;
    }
    gone = effect_of(r)->succeeded ? learn_gone(s) : 0;
    if (learn_attributes(s, r, err) < 0 || touches_meet(s, r, err) < 0 || dispatch(s, r, err) < 0)
        return -err->code;
    return learn_removed(s, r, gone, err);
}

int intake_record(void *ctx, const struct record *record, struct err *err)
{
    struct shadow *s = ctx;
    const struct record_operation *op = &record->operation;
    int result;

    if (teelog_reference_record(s->log, record, err) < 0 || learn_record(s, record, err) < 0)
        return -err->code;
    if (record->kind == RECORD_REPEAT && s->last_called &&
        s->last_called->begin == record->repeat.sighting.frame &&
        !repeat_is_reply(record->repeat.repeat)) {
        struct request *r = s->last_called;

        s->last_called = NULL;
        requests_answered(s, r);
        requests_free(s, r);
    }
    if (record->kind != RECORD_OPERATION)
        return 0;
    if (s->is_own && op->pairing == PAIRED && !requests_find(s, op)) {
        s->counts.own++;
        copy_replied(s->copy, op->xid, op->reply.frame);
        result = learn_own(s, op, err);
        if (result == 0)
            result = scrub_replied(s, op, err);
    } else {
        result = on_operation(s, op, err);
    }
    s->removed[0] = s->removed[1] = s->moved = 0;
    s->removed_unknown = false;
    copy_wake(s->copy);
    loop_idle(s->loop, &s->judge);
    return result;
}

int intake_gap(void *ctx, const struct tap_gap *gap, struct err *err)
{
    return gaps_note(ctx, gap, err);
}
