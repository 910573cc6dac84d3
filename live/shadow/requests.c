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
    *(list->last ? &list->last->next : &list->first) = r;
    list->last = r;
}

void requests_take_first(struct request_list *list)
{
    list->first = list->first->next;
    if (!list->first)
        list->last = NULL;
}

static uint32_t xid_of(const struct request *r)
{
    return r->call_len < 4 ? 0 : load_be32(r->call);
}

void requests_answered(struct shadow *s, struct request *r)
{
    struct request **at = &s->by_xid[chain_of(r->flow, xid_of(r))];

    while (*at != r)
        at = &(*at)->chain;
    *at = r->chain;
    *(r->previous ? &r->previous->next : &s->called.first) = r->next;
    *(r->next ? &r->next->previous : &s->called.last) = r->previous;
    r->ready = NULL;
    r->ended = 0;
}

static void free_exchange(struct exchange *sut)
{
    if (!sut)
        return;
    buf_free(&sut->call);
    buf_free(&sut->reply);
    list_more_free(sut->more);
    buf_free(&sut->changing);
    free(sut);
}

void requests_free(struct shadow *s, struct request *r)
{
    s->counts.waiting_bytes -= r->counted;
    touches_clear(s, r);
    reading_drop(s, r);
    free(r->call);
    free(r->answer);
    free_exchange(r->sut);
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

static uint64_t exchange_bytes(const struct exchange *sut)
{
    const struct list_more *more = sut->more;

    return sizeof(*sut) + sut->call.cap + sut->reply.cap + sut->changing.cap +
           (more ? sizeof(*more) + more->count * sizeof(*more->first) + more->bytes : 0);
}

uint64_t requests_bytes(const struct request *r)
{
    return sizeof(*r) + r->touch_count * sizeof(*r->touches) + r->call_len + r->reply_len +
           r->packed_len + (r->sut ? exchange_bytes(r->sut) : 0);
}

void requests_count(struct request *r)
{
    uint32_t bytes = (uint32_t)requests_bytes(r);

    r->shadow->counts.waiting_bytes += (uint64_t)bytes - r->counted;
    r->counted = bytes;
}

struct exchange *requests_exchange(struct request *r, struct err *err)
{
    if (!r->sut && !(r->sut = calloc(1, sizeof(*r->sut))))
        err_memory(err, "requests");
    return r->sut;
}

void requests_sum_up(struct request *r, const struct effect *e)
{
    r->action = (uint8_t)effect_action(e);
    r->changes_names = effect_changes_names(e);
    r->goes_on = r->action == ACTION_LIST && e->asked.cookie;
}

/* Of the call, all but the contents of a WRITE and the text of a SYMLINK, which come last; of the
 * answer, the operation. */
void requests_shorten(struct shadow *s, struct request *r)
{
    enum { SHORT = 2048 };
    uint8_t *shorter;

    r->is_left_out = true;
    reading_drop(s, r);
    if (r->call_len > SHORT && (shorter = realloc(r->call, SHORT))) {
        r->call = shorter;
        r->call_len = SHORT;
    }
    if (r->reply_len > SHORT) {
        memmove(r->answer, r->answer + r->reply_len, r->packed_len);
        r->reply_len = 0;
        if ((shorter = realloc(r->answer, r->packed_len)))
            r->answer = shorter;
    }
}

/* --- calls */

struct request *requests_find(const struct shadow *s, const struct record_operation *op)
{
    struct request *r = s->by_xid[chain_of(op->flow, op->xid)];

    while (r && (r->flow != op->flow || xid_of(r) != op->xid || r->begin != op->call.frame))
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

static int decode(struct shadow *s, struct request *r, struct err *err)
{
    const struct effect *e = effect_of(r);
    uint32_t object, parent2;

    requests_sum_up(r, e);
    if (!e->arguments_body.data)
        return 0;
    if (find_object(s, e->handle, &object, err) < 0 ||
        find_object(s, e->handle2, &parent2, err) < 0)
        return -err->code;
    r->objects[TEE_OBJECT] = object;
    r->objects[TEE_PARENT2] = parent2;
    reading_identify(r);
    if (object)
        mirror_accessed(s->mirror, mirror_at(s->mirror, object), r->time);
    if (parent2 && parent2 != object)
        mirror_accessed(s->mirror, mirror_at(s->mirror, parent2), r->time);
    return touches_set(s, r, &(struct named){ 0 }, err);
}

/* Where messages begin was not known on its connection, so others that came behind it may be done
 * with, and copies that did not wait for it. */
static void note_late(struct shadow *s, const struct request *r)
{
    if (r->begin < s->position && s->forgotten <= r->begin)
        s->forgotten = r->begin + 1;
}

static void list_called(struct shadow *s, struct request *r)
{
    struct request *before = s->called.last;

    while (before && before->begin > r->begin)
        before = before->previous;
    r->previous = before;
    r->next = before ? before->next : s->called.first;
    *(before ? &before->next : &s->called.first) = r;
    *(r->next ? &r->next->previous : &s->called.last) = r;
}

int requests_called(struct shadow *s, const struct engine_tapped *tapped, struct err *err)
{
    const struct message *m = tapped->message;
    struct request *r = calloc(1, sizeof(*r));
    struct request **chain;

    if (r)
        r->call = malloc(m->cap_len + 1);
    if (!r || !r->call) {
        free(r);
        return err_memory(err, "requests");
    }
    memcpy(r->call, m->data, m->cap_len);
    r->call_len = m->cap_len;
    r->call_wire = m->wire_len;
    r->call_flags = (uint16_t)m->flags;
    r->shadow = s;
    r->flow = m->flow->id;
    r->begin = m->frame;
    r->time = m->time;
    r->is_partial = m->flags & SIGHTING_PARTIAL;
    chain = &s->by_xid[chain_of(r->flow, xid_of(r))];
    r->chain = *chain;
    *chain = r;
    list_called(s, r);
    note_late(s, r);
    s->last_called = r;
    return decode(s, r, err);
}
