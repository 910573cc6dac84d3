/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/pair_state.c
 *
 * Ends a capture, and saves what waits as bytes for the next one.  The contract is in pair.h.
 */
#include "flow/pair_parts.h"
#include "flow/waiting.h"
#include "base/pack.h"

#include <stdlib.h>

/* What becomes of a call without a reply when the capture ends. */
static uint8_t label_of(const struct pair *p, const struct call *x)
{
    return *p->clock - x->seen > p->retransmit_span || pair_is_over(p, x->last_flow)
               ? REPLY_LOST
               : CAPTURE_ENDED;
}

int pair_end(struct pair *p, struct err *err)
{
    int rc = 0;

    while (rc == 0 && p->held)
        rc = pair_held_give_up(p, err);
    while (rc == 0 && p->calls.waiting.oldest != CALL_NONE) {
        uint32_t id = p->calls.waiting.oldest;
        struct record_operation *op = &p->calls.pool[id].waiting->operation;
        op->pairing = label_of(p, &p->calls.pool[id]);
        rc = pair_put(p, op, err);
        calls_remove(&p->calls, id);
    }
    return rc;
}

int pair_pause(struct pair *p, struct err *err)
{
    uint64_t id = p->last_operation;
    uint64_t operations = p->operations;
    int rc = 0;

    for (uint32_t i = p->calls.waiting.oldest; rc == 0 && i != CALL_NONE;
         i = p->calls.pool[i].newer) {
        p->calls.pool[i].waiting->operation.pairing = label_of(p, &p->calls.pool[i]);
        rc = pair_put(p, &p->calls.pool[i].waiting->operation, err);
    }
    for (const struct held *held = p->held; rc == 0 && held; held = held->next) {
        struct record_operation op = pair_orphan(&held->message, ++id, CALL_LOST);
        rc = pair_put(p, &op, err);
    }
    p->provisional = p->operations - operations;
    p->operations = operations;
    return rc;
}

#define CALL_PLAIN(step)                                                                           \
    step(hash) step(digest) step(operation) step(frame) step(reply_digest) step(seen) step(xid)    \
        step(server) step(client) step(program) step(version) step(procedure) step(flow)           \
            step(last_flow) step(cap_len) step(wire_len) step(sent) step(answered) step(ports)     \
                step(reply_after) step(again_after) step(partial) step(in_clear) step(refused)     \
                    step(owed)
#define HELD_PLAIN(step)                                                                           \
    step(flow.address) step(flow.port) step(flow.transport) step(flow.server) step(flow.id)        \
        step(flow.birth) step(flow.birth_time) step(since) step(message.side)                      \
            step(message.cap_len) step(message.wire_len) step(message.frame)                       \
                step(message.first_frame) step(message.time) step(message.flags)                   \
                    step(message.ip_id)
#define PAIR_PLAIN(step) step(last_operation) step(last_flow) step(credentials.last_id)

static int save_ends(const struct pair *p, struct buf *out)
{
    uint32_t count = 0;
    int bad = 0;

    for (uint32_t i = 0; i < PAIR_ENDS; i++)
        count += p->ends[i].flow != 0;
    bad |= pack_value(out, count);
    for (uint32_t i = 0; !bad && i < PAIR_ENDS; i++)
        if (p->ends[i].flow)
            bad |= pack_value(out, p->ends[i].flow) | pack_value(out, p->ends[i].acked);
    return bad;
}

static void restore_ends(struct pair *p, struct unpack *in)
{
    struct flow_end end = { 0 };
    uint32_t count;

    unpack_value(in, count);
    while (!in->failed && count--) {
        unpack_value(in, end.flow);
        unpack_value(in, end.acked);
        p->ends[end.flow % PAIR_ENDS] = end;
    }
}

static int save_list(const struct calls *c, const struct call_list *list, struct buf *out)
{
    int bad = pack_value(out, list->count);

    for (uint32_t i = list->oldest; !bad && i != CALL_NONE; i = c->pool[i].newer) {
        const struct call *x = &c->pool[i];
#define SAVE(field) bad |= pack_value(out, x->field);
        CALL_PLAIN(SAVE)
        if (x->waiting)
            bad |= waiting_save(x->waiting, out);
    }
    return bad;
}

/* Which operation changed each object last: nobody else knows that. */
static int save_changes(const struct objects *o, struct buf *out)
{
    uint32_t count = 0;
    int bad = 0;

    for (uint32_t i = 1; i <= o->object_count; i++)
        count += object_at(o, i)->modified_by != 0;
    bad |= pack_value(out, count);
    for (uint32_t i = 1; !bad && i <= o->object_count; i++) {
        uint64_t operation = object_at(o, i)->modified_by;

        if (operation)
            bad |= pack_value(out, i) | pack_value(out, operation);
    }
    return bad;
}

static void restore_changes(struct objects *o, struct unpack *in)
{
    uint64_t operation;
    uint32_t count, id;

    unpack_value(in, count);
    while (!in->failed && count--) {
        unpack_value(in, id);
        unpack_value(in, operation);
        if (id > o->object_count || operation > OPERATION_BITS)
            in->failed = true;
        else
            object_at(o, id)->modified_by = operation & OPERATION_BITS;
    }
}

uint64_t pair_layout(uint64_t hash)
{
#define PAIR_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct pair *)0)->field));
    PAIR_PLAIN(PAIR_FIELD)
#define CALL_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct call *)0)->field));
    CALL_PLAIN(CALL_FIELD)
    hash = waiting_layout(hash);
#define HELD_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct held *)0)->field));
    HELD_PLAIN(HELD_FIELD)
    return hash;
}

int pair_save(const struct pair *p, struct buf *out)
{
    int bad = 0;

#define SAVE_PAIR(field) bad |= pack_value(out, p->field);
    PAIR_PLAIN(SAVE_PAIR)
    /* host ids are of this process: their addresses go along, 1 first */
    bad |= pack_value(out, p->objects->host_count);
    bad |=
        buf_append(out, p->objects->hosts + 1, p->objects->host_count * sizeof(*p->objects->hosts));
    bad |= save_changes(p->objects, out);
    bad |= save_ends(p, out);
    bad |= save_list(&p->calls, &p->calls.waiting, out);
    bad |= save_list(&p->calls, &p->calls.done, out);
    bad |= pack_value(out, p->held_count);
    for (const struct held *held = p->held; held; held = held->next) {
#define SAVE_HELD(field) bad |= pack_value(out, held->field);
        HELD_PLAIN(SAVE_HELD)
        bad |= pack_bytes(out, held->data, held->message.cap_len);
    }
    return bad ? -ERR_SYSTEM : 0;
}

static struct waiting *restore_waiting(const struct pair *p, struct unpack *in)
{
    struct waiting *w = waiting_restore(in);

    if (w && (w->parent > p->objects->object_count || w->parent2 > p->objects->object_count ||
              w->operation.object > p->objects->object_count)) {
        in->failed = true;
        free(w);
        return NULL;
    }
    return w;
}

/* The ids that hosts have in this process, by those that they had. */
struct host_map {
    uint32_t *to;
    uint32_t count;
};

static int restore_list(struct pair *p, struct unpack *in, const struct host_map *hosts,
                        bool waiting, struct err *err)
{
    uint32_t count;

    unpack_value(in, count);
    while (!in->failed && count--) {
        struct call x = { 0 };
#define RESTORE(field) unpack_value(in, x.field);
        CALL_PLAIN(RESTORE)
        if (x.server > hosts->count || x.client > hosts->count) {
            in->failed = true;
            break;
        }
        x.server = hosts->to[x.server];
        x.client = hosts->to[x.client];
        x.hash = call_hash(x.server, x.client, x.xid);
        if (!in->failed && waiting && !(x.waiting = restore_waiting(p, in)))
            break;
        if (!in->failed && calls_add(&p->calls, &x) == CALL_NONE) {
            free(x.waiting);
            return err_memory(err, "calls");
        }
    }
    return 0;
}

static int restore_held(struct pair *p, struct unpack *in, struct err *err)
{
    uint32_t count;

    unpack_value(in, count);
    while (!in->failed && count--) {
        struct held plain = { 0 }, *held;
        struct bytes data;
#define RESTORE_HELD(field) unpack_value(in, plain.field);
        HELD_PLAIN(RESTORE_HELD)
        data = unpack_bytes(in);
        if (in->failed || data.len != plain.message.cap_len || data.len < MESSAGE_MIN ||
            plain.message.side > 1) {
            in->failed = true;
            break;
        }
        held = malloc(sizeof(*held) + data.len);
        if (!held)
            return err_memory(err, "replies");
        *held = plain;
        held->next = NULL;
        held->message.flow = &held->flow;
        held->message.data = held->data;
        held->flow.host[0] = host_id(p->objects, &held->flow.address[0]);
        held->flow.host[1] = host_id(p->objects, &held->flow.address[1]);
        memcpy(held->data, data.data, data.len);
        *p->held_tail = held;
        p->held_tail = &held->next;
        p->held_count++;
        p->held_bytes += data.len;
        p->held_keys[message_key(&held->flow, held->message.side, load_be32(held->data)).hash %
                     HELD_KEYS]++;
    }
    return 0;
}

/* Each process numbers hosts again: returns a map from the old ones, NULL with |err| filled.
 */
static uint32_t *restore_hosts(struct pair *p, struct unpack *in, uint32_t *count, struct err *err)
{
    struct address host;
    uint32_t *map;

    unpack_value(in, *count);
    if (in->failed || *count > in->left / sizeof(host)) {
        err_set(err, ERR_INPUT, "the state carried over is damaged");
        return NULL;
    }
    map = calloc((size_t)*count + 1, sizeof(*map));
    for (uint32_t i = 1; map && i <= *count; i++) {
        unpack_value(in, host);
        map[i] = host_id(p->objects, &host);
    }
    if (!map)
        err_memory(err, "hosts");
    return map;
}

static bool clock_fits(int64_t seen, int64_t clock)
{
    return seen >= 0 && seen <= clock;
}

static bool list_fits(const struct pair *p, const struct call_list *list)
{
    bool fits = true;

    for (uint32_t i = list->oldest; fits && i != CALL_NONE; i = p->calls.pool[i].newer)
        fits = clock_fits(p->calls.pool[i].seen, *p->clock);
    return fits;
}

bool pair_clock_fits(const struct pair *p)
{
    bool fits = list_fits(p, &p->calls.waiting) && list_fits(p, &p->calls.done);

    for (const struct held *held = p->held; fits && held; held = held->next)
        fits = clock_fits(held->since, *p->clock);
    return fits;
}

int pair_restore(struct pair *p, struct unpack *in, struct err *err)
{
    struct host_map hosts;
    int rc;

#define RESTORE_PAIR(field) unpack_value(in, p->field);
    PAIR_PLAIN(RESTORE_PAIR)
    hosts.to = restore_hosts(p, in, &hosts.count, err);
    if (!hosts.to)
        return -err->code;
    restore_changes(p->objects, in);
    restore_ends(p, in);
    rc = restore_list(p, in, &hosts, true, err);
    if (rc == 0)
        rc = restore_list(p, in, &hosts, false, err);
    if (rc == 0)
        rc = restore_held(p, in, err);
    free(hosts.to);
    if (rc == 0 && in->failed)
        rc = err_set(err, ERR_INPUT, "the state carried over is damaged");
    return rc;
}
