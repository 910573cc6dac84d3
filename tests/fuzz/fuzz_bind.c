/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_bind.c
 *
 * Any bytes as the body of any type that has a struct (wire/bind.h).  Held to: bind_read says what
 * walk() says, or stops where a list has more elements than there is room for; what was read leads
 * into the body, and is written to the same bytes, but for padding, which is read with any value;
 * bind_size tells how many.
 *
 * Input: type (index into the bound ones), elements that there is room for in each list, body.
 */
#include "bound_types.h"

#include <stdlib.h>

enum { ROOM_MAX = 60 };

static struct bound_room room;

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* What walk() sees: the longest list, and where padding is. */
struct seen {
    const uint8_t *body;
    uint8_t *without_padding;
    uint32_t len, longest;
};

static int see(void *ctx, const struct visit *v)
{
    struct seen *s = ctx;
    uint32_t at = (uint32_t)(v->data - s->body) + v->len, elements = 0;

    if (v->field->kind == XDR_ARRAY)
        elements = (uint32_t)v->value;
    else if (v->field->kind == XDR_LIST)
        elements = v->index + (uint32_t)v->value;
    if (elements > s->longest)
        s->longest = elements;
    if (v->field->kind == XDR_FIXED || v->field->kind == XDR_OPAQUE || v->field->kind == XDR_STRING)
        for (; at & 3 && at < s->len; at++)
            s->without_padding[at] = 0;
    return 0;
}

static void write_again(const struct bound_type *t, const struct seen *s)
{
    struct buf made = { 0 };
    struct xdr_put to = xdr_put_to(&made, s->len);

    require(bind_size(t->bound, room.at) == s->len);
    require(bind_write(t->bound, &to, room.at) == 0);
    require(made.len == s->len);
    require(!s->len || memcmp(made.data, s->without_padding, s->len) == 0);
    made.len = 0;
    if (s->len) {
        to = xdr_put_to(&made, s->len - 1);
        require(bind_write(t->bound, &to, room.at) < 0 && to.problem == XDR_PUT_TOO_LONG);
    }
    buf_free(&made);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct err err;

    (void)argc;
    (void)argv;
    require(bound_types_init(&err) == 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen s = { 0 };
    const struct visitor visitor = { see, &s, 0 };
    enum walk_result expected, result;
    struct bound_type t;
    struct walk w;
    uint32_t most;

    if (size < 2 || !bound_types(data[0], &t))
        return 0;
    most = data[1] % (ROOM_MAX + 1);
    s.body = data + 2;
    s.len = (uint32_t)(size - 2);
    s.without_padding = malloc(s.len + 1);
    require(s.without_padding != NULL);
    memcpy(s.without_padding, s.body, s.len);
    bound_room(&t, &room, most);
    expected = walk(&w, t.type, s.body, s.len, s.len, false, &visitor);
    result = bind_read(t.bound, (struct bytes){ s.body, s.len }, room.at);
    if (s.longest <= most)
        require(result == expected);
    else /* of an array whose end is missing some may fit */
        require(result == WALK_STOPPED || (result == expected && expected == WALK_MALFORMED));
    if (result == WALK_OK)
        write_again(&t, &s);
    free(s.without_padding);
    return 0;
}
