/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "generated.h"
#include "base/grow.h"

#include <stdlib.h>

enum { SOME = 40, MOST = 1024, ELEMENTS = 5 };

uint64_t generated_random(struct generated *g, uint64_t below)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15; /* SplitMix64 */

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return below ? z % below : z;
}

static uint64_t number(struct generated *g, uint64_t most)
{
    uint64_t value = generated_random(g, 0) & most;

    switch (generated_random(g, 8)) {
    case 0:
        return 0;
    case 1:
        return most;
    case 2:
        return most >> 1;
    case 3:
        return value & 0xff;
    default:
        return value;
    }
}

static uint64_t of_names(struct generated *g, const struct field *f)
{
    const struct value_name *name = f->names;
    uint64_t count = 0;

    while (name && name[count].name)
        count++;
    if (!count || (!g->plain && generated_random(g, 4) == 0))
        return number(g, UINT32_MAX);
    return name[generated_random(g, count)].value;
}

static uint64_t discriminant(struct generated *g, const struct field *f)
{
    const struct arm *arm = f->arms;
    uint64_t count = 1, value;

    if (f->role & ROLE_STATUS && g->success)
        return 0;
    while (!arm[count - 1].is_end)
        count++;
    arm += generated_random(g, count);
    if (arm->is_default) {
        value = of_names(g, f);
        return value;
    }
    return arm->is_end ? f->arms->value : arm->value; /* the end itself is no arm */
}

static uint32_t length(struct generated *g, const struct field *f)
{
    uint32_t most = f->max && f->max < MOST ? f->max : SOME;

    if (f->kind == XDR_FIXED)
        return f->max;
    if (g->plain)
        return f->cls == CLASS_HANDLE
                   ? 4 * (uint32_t)(1 + generated_random(g, most < 64 ? most / 4 : 16))
                   : 1 + (uint32_t)generated_random(g, most < 20 ? most : 20);
    switch (generated_random(g, 6)) {
    case 0:
        return 0;
    case 1:
        return most;
    default:
        return (uint32_t)generated_random(g, most + 1);
    }
}

static void bytes(struct generated *g, const struct field *f, struct generated_value *v)
{
    v->len = length(g, f);
    v->at = g->bytes.len;
    for (uint32_t i = 0; i < v->len; i++) {
        uint8_t byte = (uint8_t)generated_random(g, 256);

        if (g->plain && f->kind == XDR_STRING)
            byte = (uint8_t)('a' + byte % 26);
        if (buf_append(&g->bytes, &byte, 1) < 0)
            abort();
    }
}

static uint64_t choose(struct generated *g, const struct fill *fill)
{
    const struct field *f = fill->field;

    switch (f->kind) {
    case XDR_U64:
        return number(g, g->plain ? INT64_MAX : UINT64_MAX);
    case XDR_I32:
        return (uint64_t)(int64_t)(int32_t)number(g, UINT32_MAX);
    case XDR_BOOL:
    case XDR_OPTIONAL:
        return generated_random(g, 2);
    case XDR_LIST:
        return fill->index < ELEMENTS && generated_random(g, 3) > 0;
    case XDR_ARRAY:
        return generated_random(g, (f->max && f->max < ELEMENTS ? f->max : ELEMENTS) + 1);
    case XDR_UNION:
        return discriminant(g, f);
    case XDR_ENUM:
        return of_names(g, f);
    default:
        if (g->plain && f->cls == CLASS_ENUM) /* bits of ACCESS and the like: tshark shows eight */
            return generated_random(g, 64);
        if (g->plain && f->cls == CLASS_INTERVAL)
            return generated_random(g, 1000000);
        return number(g, UINT32_MAX);
    }
}

static int fill_in(void *ctx, struct fill *fill)
{
    struct generated *g = ctx;
    const struct field *f = fill->field;
    struct generated_value v = { .field = f, .index = fill->index };

    if (GROW(g->values, g->count, g->cap) < 0)
        abort();
    if (f->kind == XDR_FIXED || f->kind == XDR_OPAQUE || f->kind == XDR_STRING)
        bytes(g, f, &v);
    else
        v.value = choose(g, fill);
    g->values[g->count++] = v;
    fill->value = v.value;
    fill->bytes = (struct bytes){ g->bytes.data + v.at, v.len };
    return 0;
}

int generate(struct generated *g, const struct type *type, struct err *err)
{
    const struct filler filler = { fill_in, g };
    struct xdr_put to = xdr_put_to(&g->body, 1 << 20);

    g->count = 0;
    g->bytes.len = g->body.len = 0;
    if (buf_reserve(&g->bytes, 1) < 0)
        abort();
    return write_body(&to, type, false, &filler, err);
}

void generated_free(struct generated *g)
{
    free(g->values);
    buf_free(&g->bytes);
    buf_free(&g->body);
    *g = (struct generated){ 0 };
}
