/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/handles.h"

/* Every handle has one of these roles; the walk passes over attributes in one step. */
enum {
    WANTED = ROLE_OBJECT | ROLE_PARENT | ROLE_PARENT2 | ROLE_NEW_OBJECT | ROLE_ENTRY_OBJECT,
};

struct search {
    const struct handle_visitor *visitor;
    const uint8_t *body;
};

static int visit_each(void *ctx, const struct visit *v)
{
    const struct search *s = ctx;
    struct handle_place place = { .field = v->field,
                                  .handle = { v->data, v->len },
                                  .at = (uint32_t)(v->data - s->body) };

    if (v->whole || v->cut || v->field->cls != CLASS_HANDLE)
        return 0;
    return s->visitor->each(s->visitor->ctx, &place);
}

enum walk_result handles_each(const struct type *type, struct bytes body, uint32_t wire_len,
                              bool elided, const struct handle_visitor *visitor)
{
    struct search s = { visitor, body.data };
    const struct visitor v = { visit_each, &s, WANTED };
    struct walk w;

    return walk(&w, type, body.data, body.len, wire_len, elided, &v);
}

struct copy {
    const struct handle_giver *giver;
    struct xdr_put *to;
    size_t start;        /* of the new body in |to| */
    const uint8_t *from; /* what is not copied yet */
};

static int visit_replace(void *ctx, const struct visit *v)
{
    struct copy *c = ctx;
    struct handle_place place = { .field = v->field, .handle = { v->data, v->len } };
    struct bytes handle = { 0 };
    const uint8_t *length = v->data - 4;
    int result;

    if (v->whole || v->cut || v->field->cls != CLASS_HANDLE || v->field->kind != XDR_OPAQUE)
        return 0;
    xdr_put_bytes(c->to, c->from, (size_t)(length - c->from));
    place.at = (uint32_t)(c->to->to->len - c->start) + 4;
    result = c->giver->handle(c->giver->ctx, &place, &handle);
    if (result != 0)
        return result;
    xdr_put_opaque(c->to, handle);
    c->from = v->data + xdr_padded(v->len);
    return c->to->problem;
}

enum walk_result handles_replace(struct xdr_put *to, const struct type *type, struct bytes body,
                                 uint32_t wire_len, bool elided, const struct handle_giver *giver)
{
    struct copy c = { giver, to, to->to->len, body.data };
    const struct visitor v = { visit_replace, &c, WANTED };
    const uint8_t *end = body.data + body.len;
    enum walk_result result;
    struct walk w;

    result = walk(&w, type, body.data, body.len, wire_len, elided, &v);
    if (result != WALK_STOPPED && c.from < end)
        xdr_put_bytes(to, c.from, (size_t)(end - c.from));
    return to->problem ? WALK_STOPPED : result;
}
