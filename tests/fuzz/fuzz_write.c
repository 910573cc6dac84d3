/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_write.c
 *
 * Any bytes as the body of any procedure of the tables: what the walker reads of a whole body, the
 * writer writes to the same bytes, with and without file contents, but for padding, which the
 * walker lets have any value; handles that are replaced by themselves change nothing.
 *
 * Input: program (index into wire_programs), procedure, flags (1: result, 2: elided), body.
 */
#include "base/bytes.h"
#include "body_type.h"
#include "wire/handles.h"
#include "wire/write.h"

#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

struct value {
    const struct field *field;
    uint32_t index;
    uint64_t value;
    struct bytes bytes;
};

/* What was read, and the same without other padding than zeros. */
struct reading {
    struct value *values;
    uint32_t count, cap, next, len;
    uint8_t *body;
    const uint8_t *data;
};

static int note(void *ctx, const struct visit *v)
{
    struct reading *r = ctx;
    uint32_t at;

    if (v->whole)
        return 0;
    if (r->count == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 64;
        r->values = realloc(r->values, r->cap * sizeof(*r->values));
        require(r->values != NULL);
    }
    r->values[r->count] = (struct value){ v->field, v->index, v->value, { v->data, v->full_len } };
    r->count++;
    at = (uint32_t)(v->data - r->data) + v->len;
    if (v->field->kind == XDR_FIXED || v->field->kind == XDR_OPAQUE || v->field->kind == XDR_STRING)
        for (; at & 3 && at < r->len; at++)
            r->body[at] = 0;
    return 0;
}

static int give(void *ctx, struct fill *fill)
{
    struct reading *r = ctx;
    const struct value *v = &r->values[r->next++];

    require(r->next <= r->count && v->field == fill->field && v->index == fill->index);
    fill->value = v->value;
    fill->bytes = v->bytes;
    return 0;
}

static int same_handle(void *ctx, const struct handle_place *place, struct bytes *handle)
{
    const struct buf *made = ctx;

    require(place->at == made->len + 4);
    *handle = place->handle;
    return 0;
}

static void write_again(struct reading *r, const struct type *type, uint32_t len, uint32_t wire,
                        bool elided)
{
    const struct filler filler = { give, r };
    struct buf made = { 0 };
    const struct handle_giver giver = { same_handle, &made };
    struct xdr_put to = xdr_put_to(&made, len);
    struct err err;

    require(write_body(&to, type, elided, &filler, &err) == 0);
    require(r->next == r->count);
    require(made.len == len && (!len || memcmp(made.data, r->body, len) == 0));
    made.len = 0;
    require(handles_replace(&to, type, (struct bytes){ r->body, len }, wire, elided, &giver) ==
            WALK_OK);
    require(made.len == len && (!len || memcmp(made.data, r->body, len) == 0));
    buf_free(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading r = { 0 };
    const struct visitor visitor = { note, &r, 0 };
    const struct type *type;
    uint32_t len, wire;
    struct walk w;
    bool elided;

    if (size < 3)
        return 0;
    type = body_type(data[0], data[1], data[2] & 1);
    if (!type)
        return 0;
    elided = data[2] & 2;
    len = (uint32_t)(size - 3);
    r.len = len;
    r.data = data + 3;
    r.body = malloc(len + 1);
    require(r.body != NULL);
    memcpy(r.body, r.data, len);
    wire = len;
    if (elided && type->has_data && walk(&w, type, r.data, len, UINT32_MAX, true, &visitor) != 0) {
        for (uint32_t i = 0; i < r.count; i++) /* with contents it is as long as it says */
            if (r.values[i].field->cls == CLASS_DATA && r.values[i].bytes.len < 1 << 30)
                wire += xdr_padded(r.values[i].bytes.len);
        r.count = 0;
    }
    if (walk(&w, type, r.data, len, wire, elided, &visitor) == WALK_OK)
        write_again(&r, type, len, wire, elided);
    free(r.values);
    free(r.body);
    return 0;
}
