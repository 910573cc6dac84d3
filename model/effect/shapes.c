/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/effect/shapes.c
 *
 * The forms of replies.  A form is learned from a body that was walked over with success: a second
 * walk, which sees every field, notes the words that decide, and the places of what effect.h wants
 * are those where the first one has found it.
 */
#include "effect/shapes.h"
#include "wire/rpc.h"

enum { LEN_MAX = UINT16_MAX };
_Static_assert(SHAPES == 256, "8 bits of the hash");

/* A form may be at two places, because two that come often would drive each other out of one.  The
 * first of these: */
static unsigned place_of_form(const struct effect *e)
{
    uint32_t hash = e->procedure->number << 24 ^ e->result_body.len << 8 ^ (uint32_t)e->status;

    return hash * UINT32_C(0x9e3779b1) >> 24;
}

static inline bool has_form(const struct shape *s, const struct effect *e)
{
    const struct shape_word *word = s->words, *end = word + s->word_count;
    const uint8_t *data = e->result_body.data;

    if (s->procedure != e->procedure || s->len != e->result_body.len)
        return false;
    while (word < end && load_le32(data + word->at) == word->value)
        word++;
    return word == end;
}

static struct bytes bytes_at(const uint8_t *data, shape_place at, uint16_t len)
{
    return at ? (struct bytes){ data + at, len } : (struct bytes){ 0 };
}

static void fill(struct effect *e, const struct shape *s)
{
    const uint8_t *data = e->result_body.data;

    e->result = WALK_OK;
    e->result_length = s->len;
    e->result_roles = s->result_roles;
    e->succeeded = e->status == 0;
    for (uint32_t left = s->attributes; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);

        if (i < WHOSE_MAX)
            e->fattr3[i] = data + s->fattr3[i];
        else
            e->wcc_attr[i - WHOSE_MAX] = data + s->wcc_attr[i - WHOSE_MAX];
    }
    if (!s->others)
        return;
    e->has_done = s->done;
    e->done = s->done ? load_be32(data + s->done) : 0;
    e->has_granted = s->granted;
    e->granted = s->granted ? load_be32(data + s->granted) : 0;
    e->has_eof = s->eof;
    e->eof = s->eof && load_be32(data + s->eof);
    e->link_text = bytes_at(data, s->link_text, s->link_text_len);
    e->new_handle = bytes_at(data, s->new_handle, s->new_handle_len);
    e->contents = bytes_at(data, s->contents, s->contents_len);
}

static int note_word(struct shape *s, uint32_t at, const uint8_t *data)
{
    if (s->word_count == SHAPE_WORDS)
        return 1;
    s->words[s->word_count].at = (shape_place)at;
    s->words[s->word_count++].value = load_le32(data);
    return 0;
}

/* A number that is in the effect.  1: twice, or not a word, as in no table. */
static int note_number(shape_place *place, const struct visit *v)
{
    if (*place || v->len != 4)
        return 1;
    *place = (shape_place)v->offset;
    return 0;
}

static int learn_field(void *ctx, const struct visit *v)
{
    struct shape *s = ctx;
    uint32_t role = v->field->role;
    int result = 0;

    if (v->whole)
        return 0;
    if (v->field->kind == XDR_LIST)
        return 1;
    switch (v->field->kind) {
    case XDR_BOOL:
    case XDR_OPTIONAL:
    case XDR_ARRAY:
    case XDR_UNION:
        result = note_word(s, v->offset, v->data);
        break;
    case XDR_OPAQUE:
    case XDR_STRING:
        result = note_word(s, v->offset - 4, v->data - 4);
        break;
    default:
        break;
    }
    if (role & ROLE_RANGE_LENGTH)
        result |= note_number(&s->done, v);
    if (role & ROLE_SETS)
        result |= note_number(&s->granted, v);
    if (role & ROLE_EOF)
        result |= note_number(&s->eof, v);
    return result;
}

static shape_place place_of(const struct effect *e, const uint8_t *data)
{
    return data ? (shape_place)(data - e->result_body.data) : 0;
}

static void learn(struct shape *to, const struct effect *e)
{
    struct shape s = { .procedure = e->procedure, .len = (uint16_t)e->result_body.len };
    const struct visitor visitor = { learn_field, &s, 0 };
    struct walk w;

    if (walk(&w, e->procedure->result, e->result_body.data, e->result_body.len, e->result_body.len,
             false, &visitor) != WALK_OK)
        return;
    s.result_roles = e->result_roles;
    for (unsigned i = 0; i < WHOSE_MAX; i++) {
        s.fattr3[i] = place_of(e, e->fattr3[i]);
        s.wcc_attr[i] = place_of(e, e->wcc_attr[i]);
        s.attributes |= (s.fattr3[i] ? 1u << i : 0) | (s.wcc_attr[i] ? 1u << WHOSE_MAX << i : 0);
    }
    s.link_text = place_of(e, e->link_text.data);
    s.link_text_len = (uint16_t)e->link_text.len;
    s.new_handle = place_of(e, e->new_handle.data);
    s.new_handle_len = (uint16_t)e->new_handle.len;
    s.contents = place_of(e, e->contents.data);
    s.contents_len = (uint16_t)e->contents.len;
    s.others = s.done | s.granted | s.eof | s.link_text | s.new_handle | s.contents;
    *to = s;
}

/* Few listings are of one form. */
void shapes_decode_reply(struct shapes *shapes, struct effect *e)
{
    struct shape *shape, *other;
    const struct shape *known;
    unsigned place;

    if (!e->procedure || e->rpc_status != RPC_SUCCESS || !e->result_body.len ||
        e->result_body.len > LEN_MAX || e->procedure->result->roles & ROLE_ENTRY) {
        effect_decode_reply(e);
        return;
    }
    place = place_of_form(e);
    shape = &shapes->all[place];
    other = &shapes->all[place ^ 1];
    known = has_form(shape, e) ? shape : has_form(other, e) ? other : NULL;
    if (known) {
        fill(e, known);
        return;
    }
    effect_decode_reply(e);
    if (e->result != WALK_OK)
        return;
    /* what comes once may never come again */
    if (shape->next == e->procedure && shape->next_len == e->result_body.len)
        learn(shape->procedure && !other->procedure ? other : shape, e);
    shape->next = e->procedure;
    shape->next_len = (uint16_t)e->result_body.len;
}
