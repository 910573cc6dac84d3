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

void requests_append(struct shadow *s, struct request_list *list, struct request *r)
{
    r->next = 0;
    *(list->last ? &request_at(s, list->last)->next : &list->first) = r->id;
    list->last = r->id;
}

void requests_take_first(struct shadow *s, struct request_list *list)
{
    if (s->packing.next == list->first)
        s->packing.next = request_at(s, list->first)->next;
    list->first = request_at(s, list->first)->next;
    if (!list->first)
        list->last = 0;
}

static uint32_t xid_of(const struct request *r)
{
    return r->rest->call_len < 4 ? 0 : load_be32(r->rest->call);
}

void requests_answered(struct shadow *s, struct request *r)
{
    uint32_t *at = &s->by_xid[chain_of(r->rest->flow, xid_of(r))];

    while (*at != r->id)
        at = &request_at(s, *at)->chain;
    *at = r->chain;
    *(r->previous ? &request_at(s, r->previous)->next : &s->called.first) = r->next;
    *(r->next ? &request_at(s, r->next)->previous : &s->called.last) = r->previous;
    r->ready = 0;
    r->waits = 0;
}

int requests_begin(struct shadow *s, struct err *err)
{
    if (!pool_init(&s->requests, sizeof(struct request)) ||
        !pool_init(&s->touches, sizeof(struct touch)) ||
        !pool_init(&s->where, sizeof(struct touch_where)))
        return err_memory(err, "requests");
    return 0;
}

struct request *requests_new(struct shadow *s, struct err *err)
{
    struct request_rest *rest = calloc(1, sizeof(*rest));
    uint32_t id = rest ? pool_new(&s->requests) : 0;
    struct request *r = request_at(s, id);

    if (!r) {
        free(rest);
        err_memory(err, "requests");
        return NULL;
    }
    *r = (struct request){ .shadow = s, .rest = rest, .id = id };
    return r;
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
    struct request_rest *rest = r->is_packed ? NULL : r->rest;

    touches_clear(s, r);
    reading_drop(s, r);
    if (rest) {
        s->counts.waiting_bytes -= rest->counted;
        free(rest->call);
        free(rest->answer);
        free_exchange(rest->sut);
        free(rest);
    } else {
        packed_drop(r);
    }
    pool_give(&s->requests, r->id);
}

void requests_drop(struct shadow *s, struct request *r)
{
    s->counts.requests++;
    s->counts.fates[rest_of(r)->fate]++;
    requests_free(s, r);
}

static void free_list(struct shadow *s, struct request_list *list)
{
    struct request *r, *next;

    for (r = request_at(s, list->first); r; r = next) {
        next = request_at(s, r->next);
        requests_free(s, r);
    }
    *list = (struct request_list){ 0 };
}

void requests_free_all(struct shadow *s)
{
    free_list(s, &s->called);
    free_list(s, &s->recent);
    free_list(s, &s->pending);
    packed_free(s);
    pool_free(&s->requests);
    pool_free(&s->touches);
    index_free(&s->touched);
    pool_free(&s->where);
}

static uint64_t exchange_bytes(const struct exchange *sut)
{
    const struct list_more *more = sut->more;

    return sizeof(*sut) + sut->call.cap + sut->reply.cap + sut->changing.cap +
           (more ? sizeof(*more) + more->count * sizeof(*more->first) + more->bytes : 0);
}

uint64_t requests_bytes(const struct request *r)
{
    const struct request_rest *rest = rest_of(r);
    uint64_t touches = 0;

    for (const struct touch *t = touch_at(r->shadow, r->touches); t;
         t = touch_at(r->shadow, t->further))
        touches += sizeof(*t) + (t->where ? sizeof(struct touch_where) : 0);
    return sizeof(*r) + sizeof(*rest) + touches + rest->call_len + rest->reply_len +
           rest->packed_len + (rest->sut ? exchange_bytes(rest->sut) : 0);
}

void requests_count(struct request *r)
{
    uint32_t bytes = (uint32_t)requests_bytes(r);

    r->shadow->counts.waiting_bytes += (uint64_t)bytes - rest_of(r)->counted;
    rest_of(r)->counted = bytes;
}

struct exchange *requests_exchange(struct request *r, struct err *err)
{
    struct request_rest *rest = rest_of(r);

    /* one that is still packed could not be opened */
    if (r->is_packed || (!rest->sut && !(rest->sut = calloc(1, sizeof(*rest->sut))))) {
        err_memory(err, "requests");
        return NULL;
    }
    return rest->sut;
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

    rest_of(r)->is_left_out = true;
    reading_drop(s, r);
    if (rest_of(r)->call_len > SHORT && (shorter = realloc(rest_of(r)->call, SHORT))) {
        rest_of(r)->call = shorter;
        rest_of(r)->call_len = SHORT;
    }
    if (rest_of(r)->reply_len > SHORT) {
        memmove(rest_of(r)->answer, rest_of(r)->answer + rest_of(r)->reply_len,
                rest_of(r)->packed_len);
        rest_of(r)->reply_len = 0;
        if ((shorter = realloc(rest_of(r)->answer, rest_of(r)->packed_len)))
            rest_of(r)->answer = shorter;
    }
}

/* --- calls */

struct request *requests_find(const struct shadow *s, const struct record_operation *op)
{
    struct request *r = request_at(s, s->by_xid[chain_of(op->flow, op->xid)]);

    while (r &&
           (rest_of(r)->flow != op->flow || xid_of(r) != op->xid || r->begin != op->call.frame))
        r = request_at(s, r->chain);
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
    rest_of(r)->objects[TEE_OBJECT] = object;
    rest_of(r)->objects[TEE_PARENT2] = parent2;
    reading_identify(r);
    if (object)
        mirror_accessed(s->mirror, mirror_at(s->mirror, object), rest_of(r)->time);
    if (parent2 && parent2 != object)
        mirror_accessed(s->mirror, mirror_at(s->mirror, parent2), rest_of(r)->time);
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
    struct request *before = request_at(s, s->called.last);

    while (before && before->begin > r->begin)
        before = request_at(s, before->previous);
    r->previous = before ? before->id : 0;
    r->next = before ? before->next : s->called.first;
    *(before ? &before->next : &s->called.first) = r->id;
    *(r->next ? &request_at(s, r->next)->previous : &s->called.last) = r->id;
}

int requests_called(struct shadow *s, const struct engine_tapped *tapped, struct err *err)
{
    const struct message *m = tapped->message;
    struct request *r = requests_new(s, err);
    struct request_rest *rest;
    uint32_t *chain;

    if (!r)
        return -err->code;
    rest = r->rest;
    rest->call = malloc(m->cap_len + 1);
    if (!rest->call) {
        requests_free(s, r);
        return err_memory(err, "requests");
    }
    memcpy(rest->call, m->data, m->cap_len);
    rest->call_len = m->cap_len;
    rest->call_wire = m->wire_len;
    rest->call_flags = (uint16_t)m->flags;
    rest->flow = m->flow->id;
    rest->time = m->time;
    rest->is_partial = m->flags & SIGHTING_PARTIAL;
    r->begin = m->frame;
    chain = &s->by_xid[chain_of(rest->flow, xid_of(r))];
    r->chain = *chain;
    *chain = r->id;
    list_called(s, r);
    note_late(s, r);
    s->last_called = r;
    return decode(s, r, err);
}
