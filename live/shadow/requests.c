/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/requests.c
 *
 * Requests from their calls on: the table of those that the reference has not answered, by
 * connection and XID, and the lists of all stages.
 */
#include "flow/message.h"
#include "shadow/shadow_parts.h"

#include <stdlib.h>

static uint32_t chain_of(uint32_t flow, uint32_t xid)
{
    return (uint32_t)((((uint64_t)flow << 32 | xid) * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
}

_Static_assert(REQUEST_CHAINS == 1 << 12, "chain_of gives 12 bits");

/* --- lists */

void requests_append(struct request_list *list, struct request *r)
{
    r->next = NULL;
    r->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = r;
    list->last = r;
}

void requests_take_out(struct request_list *list, struct request *r)
{
    *(r->previous ? &r->previous->next : &list->first) = r->next;
    *(r->next ? &r->next->previous : &list->last) = r->previous;
    r->next = r->previous = NULL;
}

void requests_answered(struct shadow *s, struct request *r)
{
    struct request **at = &s->by_xid[chain_of(r->flow, r->xid)];

    while (*at != r)
        at = &(*at)->chain;
    *at = r->chain;
    requests_take_out(&s->called, r);
}

void requests_free(struct shadow *s, struct request *r)
{
    touches_clear(s, r);
    buf_free(&r->call);
    buf_free(&r->reply);
    buf_free(&r->sut_call);
    buf_free(&r->sut_reply);
    buf_free(&r->changing);
    list_more_free(r->more);
    free(r->followers);
    free(r->operation);
    free(r);
}

void requests_drop(struct shadow *s, struct request *r)
{
    s->counts.requests++;
    s->counts.fates[r->fate]++;
    requests_free(s, r);
}

static void free_list(struct shadow *s, struct request_list *list)
{
    struct request *r, *next;

    for (r = list->first; r; r = next) {
        next = r->next;
        requests_free(s, r);
    }
    *list = (struct request_list){ 0 };
}

void requests_free_all(struct shadow *s)
{
    free_list(s, &s->called);
    free_list(s, &s->recent);
    free_list(s, &s->pending);
}

uint64_t requests_bytes(const struct request *r)
{
    return sizeof(*r) + r->call.len + r->reply.len + r->sut_call.len + r->sut_reply.len;
}

/* --- calls */

struct request *requests_find(const struct shadow *s, const struct record_operation *op)
{
    struct request *r = s->by_xid[chain_of(op->flow, op->xid)];

    while (r && (r->flow != op->flow || r->xid != op->xid || r->begin != op->call.frame))
        r = r->chain;
    return r;
}

/* The mirror's number of a handle; 0: it is not a handle. */
static int find_object(struct shadow *s, struct bytes handle, uint32_t *id, struct err *err)
{
    struct err why = { 0 };
    struct mirror_object *object = handle.len ? known_object(s, handle, &why) : NULL;

    *id = object ? object->id : 0;
    if (!object && why.code == ERR_SYSTEM)
        return err_set(err, ERR_SYSTEM, "%s", why.text);
    return 0;
}

static int decode(struct shadow *s, struct request *r, const struct engine_tapped *tapped,
                  struct err *err)
{
    struct effect *e = &r->effect;
    uint32_t object, parent2;

    e->procedure = tapped->procedure;
    e->program = r->header.program;
    e->version = r->header.version;
    e->call_time = e->done_time = tapped->message->time;
    e->call_flags = tapped->message->flags;
    e->rpc_status = e->status = STATUS_NONE;
    if (r->header.body > r->call.len)
        return 0;
    e->arguments_body =
        (struct bytes){ r->call.data + r->header.body, (uint32_t)r->call.len - r->header.body };
    e->arguments_length = r->header.body_len;
    effect_decode(e);
    if (find_object(s, e->handle, &object, err) < 0 ||
        find_object(s, e->handle2, &parent2, err) < 0)
        return -err->code;
    e->object = object;
    e->parent = e->roles & ROLE_PARENT ? object : 0;
    e->parent2 = parent2;
    if (object)
        mirror_accessed(s->mirror, mirror_at(s->mirror, object), e->call_time);
    if (parent2 && parent2 != object)
        mirror_accessed(s->mirror, mirror_at(s->mirror, parent2), e->call_time);
    touches_set(s, r, &(struct named){ 0 });
    return 0;
}

int requests_called(struct shadow *s, const struct engine_tapped *tapped, struct err *err)
{
    const struct message *m = tapped->message;
    struct request *r = calloc(1, sizeof(*r));
    struct request **chain;

    if (!r || buf_append(&r->call, m->data, m->cap_len) < 0) {
        free(r);
        return err_memory(err, "requests");
    }
    r->shadow = s;
    r->flow = m->flow->id;
    r->begin = m->frame;
    r->is_partial = m->flags & SIGHTING_PARTIAL;
    rpc_parse(r->call.data, m->cap_len, m->wire_len, &r->header);
    r->xid = r->header.xid;
    chain = &s->by_xid[chain_of(r->flow, r->xid)];
    r->chain = *chain;
    *chain = r;
    requests_append(&s->called, r);
    s->last_called = r;
    return decode(s, r, tapped, err);
}
