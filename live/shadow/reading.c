/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/reading.c
 *
 * What requests say.  A request keeps its messages, and of the tap's operation what these do not
 * show (operation_pack.c).  All else is read from there when somebody asks, and known for the
 * READINGS requests that were asked for last.
 */
#include "shadow/shadow_parts.h"

#include <stdlib.h>

static struct bytes reply_of(const struct request *r)
{
    return (struct bytes){ rest_of(r)->answer, rest_of(r)->reply_len };
}

/* --- the operation */

static struct bytes body_of_reply(struct bytes reply)
{
    struct rpc_header h;

    if (!reply.len || rpc_parse(reply.data, reply.len, reply.len, &h) != RPC_OK)
        return (struct bytes){ 0 };
    return (struct bytes){ reply.data + h.body, h.body_len };
}

static struct bytes body_of_call(const struct request *r, const struct rpc_header *h)
{
    const struct request_rest *rest = rest_of(r);

    if (!rest->call || h->body > rest->call_len)
        return (struct bytes){ 0 };
    return (struct bytes){ rest->call + h->body, rest->call_len - h->body };
}

/* What the messages lead to expect. */
static struct record_operation expect(const struct request *r, const struct rpc_header *h,
                                      struct bytes reply)
{
    struct bytes arguments = body_of_call(r, h), result = body_of_reply(reply);
    const struct sighting call = { r->begin, r->begin, rest_of(r)->time, rest_of(r)->call_wire,
                                   rest_of(r)->call_flags };
    const struct sighting answer = { r->end, r->end, rest_of(r)->time, reply.len, 0 };

    return (struct record_operation){ .flow = rest_of(r)->flow,
                                      .xid = h->xid,
                                      .program = h->program,
                                      .version = h->version,
                                      .procedure = h->procedure,
                                      .call = call,
                                      .reply = answer,
                                      .object = rest_of(r)->objects[TEE_OBJECT],
                                      .arguments = arguments,
                                      .result = result,
                                      .arguments_wire = h->body_len,
                                      .result_wire = result.len };
}

static bool unpack(const struct request *r, const struct rpc_header *h, struct record_operation *to)
{
    struct record_operation expected = expect(r, h, reply_of(r));

    if (!rest_of(r)->packed_len)
        return false;
    *to = operation_unpack(
        (struct bytes){ rest_of(r)->answer + rest_of(r)->reply_len, rest_of(r)->packed_len },
        &expected);
    return true;
}

static void read_reply(const struct request *r, const struct rpc_header *h, struct effect *e)
{
    struct record_operation op;

    if (!unpack(r, h, &op) || op.pairing != PAIRED)
        return;
    e->done_time = op.reply.time;
    e->reply_flags = op.reply.flags;
    e->rpc_status = op.rpc_status;
    e->status = op.status;
    e->result_body = body_of_reply(reply_of(r));
    if (e->result_body.data)
        effect_decode_reply(e);
    else if (rest_of(r)->is_left_out)
        e->succeeded = op.rpc_status == RPC_SUCCESS && op.status == 0;
}

static struct reading *find(struct shadow *s, const struct request *r)
{
    for (int i = 0; i < READINGS; i++)
        if (s->readings[i].of == r)
            return &s->readings[i];
    return NULL;
}

/* A long buffer is taken as it is, a short one is copied, as it has room for longer ones. */
static uint8_t *take(struct buf *from)
{
    enum { LONG = 4096 };
    uint8_t *taken = from->len < LONG ? malloc(from->len) : realloc(from->data, from->len);

    if (taken && from->len < LONG)
        memcpy(taken, from->data, from->len);
    else if (taken)
        *from = (struct buf){ 0 };
    from->len = 0;
    return taken;
}

/* Keeps what |to| has, which is the reply, and the operation. */
static int keep(struct request *r, const struct record_operation *op, struct buf *to,
                struct err *err)
{
    struct record_operation expected;
    struct reading *reading;

    rest_of(r)->reply_len = (uint32_t)to->len;
    if (buf_reserve(to, (size_t)PACKED_MAX + op->arguments.len + op->result.len) < 0)
        return err_memory(err, "requests"); /* from here on it does not move */
    expected = expect(r, &reading_of(r)->header, (struct bytes){ to->data, rest_of(r)->reply_len });
    if (operation_pack(op, &expected, to, err) < 0)
        return -err->code;
    rest_of(r)->packed_len = (uint32_t)to->len - rest_of(r)->reply_len;
    rest_of(r)->answer = take(to);
    if (!rest_of(r)->answer)
        return err_memory(err, "requests");
    reading = find(r->shadow, r);
    if (reading)
        read_reply(r, &reading->header, &reading->effect);
    return 0;
}

int reading_keep(struct request *r, const struct record_operation *op, struct err *err)
{
    struct buf none = { 0 };
    int result;

    if (op->pairing == PAIRED)
        return keep(r, op, &r->shadow->reply, err);
    result = keep(r, op, &none, err);
    buf_free(&none);
    return result;
}

bool reading_operation(const struct request *r, struct record_operation *to)
{
    return unpack(r, &reading_of(r)->header, to);
}

/* --- what they say */

void reading_drop(struct shadow *s, const struct request *r)
{
    struct reading *reading = find(s, r);

    if (reading)
        reading->of = NULL;
}

struct reading *reading_begin(struct shadow *s, const struct request *r)
{
    struct reading *to = &s->readings[0];

    reading_drop(s, r);
    for (int i = 0; i < READINGS && to->of; i++)
        if (!s->readings[i].of || s->readings[i].used < to->used)
            to = &s->readings[i];
    *to = (struct reading){ .of = r, .used = ++s->reading_used };
    return to;
}

static void read_messages(const struct request *r, struct reading *to)
{
    struct effect *e = &to->effect;
    struct rpc_header *h = &to->header;
    bool is_whole =
        rpc_parse(rest_of(r)->call, rest_of(r)->call_len, rest_of(r)->call_wire, h) == RPC_OK;

    e->procedure = is_whole && !h->body_protected
                       ? procedure_find(h->program, h->version, h->procedure)
                       : NULL;
    e->program = h->program;
    e->version = h->version;
    e->call_time = e->done_time = rest_of(r)->time;
    e->call_flags = rest_of(r)->call_flags;
    e->rpc_status = e->status = STATUS_NONE;
    e->object = rest_of(r)->objects[TEE_OBJECT];
    e->parent2 = rest_of(r)->objects[TEE_PARENT2];
    e->new_object = rest_of(r)->objects[TEE_NEW];
    e->arguments_body = body_of_call(r, h);
    if (e->arguments_body.data) {
        e->arguments_length = h->body_len;
        effect_decode(e);
    }
    read_reply(r, h, e);
}

void reading_identify(struct request *r)
{
    struct reading *reading = find(r->shadow, r);
    struct effect *e = reading ? &reading->effect : NULL;

    if (!e)
        return;
    e->object = rest_of(r)->objects[TEE_OBJECT];
    e->parent = e->roles & ROLE_PARENT ? e->object : 0;
    e->parent2 = rest_of(r)->objects[TEE_PARENT2];
    e->new_object = rest_of(r)->objects[TEE_NEW];
}

const struct reading *reading_of(const struct request *r)
{
    struct shadow *s = r->shadow;
    struct reading *reading = find(s, r);

    if (!reading) {
        reading = reading_begin(s, r);
        read_messages(r, reading);
    }
    reading->used = ++s->reading_used;
    return reading;
}
