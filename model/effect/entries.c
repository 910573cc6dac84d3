/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/effect/entries.c
 *
 * The entries of listings.  A reply that is whole and valid, as nearly all are, is read by the form
 * of its entries (wire/list.h); of others a walk finds what is there.
 */
#include "effect/effect.h"
#include "wire/list.h"

enum {
    FATTR3_LEN = 84,
    WANTED_ENTRIES = ROLE_ENTRY | ROLE_ENTRY_NAME | ROLE_ENTRY_OBJECT | ROLE_ATTRIBUTES_ENTRY,
    NO_PART = LIST_PARTS - 1, /* never read: no entry has so many parts */
};

typedef int on_entry(void *ctx, const struct effect_entry *entry);

/* --- any reply */

struct entries {
    const struct effect *effect;
    on_entry *entry;
    void *ctx;
    struct effect_entry now;
    bool begun;
    int stopped;
};

static int end_entry(struct entries *s)
{
    if (s->begun && !s->stopped)
        s->stopped = s->entry(s->ctx, &s->now);
    s->begun = false;
    return s->stopped;
}

/* The field behind an entry's name. */
static uint64_t cookie_behind(const struct effect *e, const struct visit *v)
{
    const uint8_t *end = e->result_body.data + e->result_body.len;
    size_t len = ((size_t)v->len + 3) & ~(size_t)3;

    if (v->field[1].cls != CLASS_COOKIE || (size_t)(end - v->data) < len + 8)
        return 0;
    return load_be64(v->data + len);
}

static int visit_entry(void *ctx, const struct visit *v)
{
    struct entries *s = ctx;
    uint32_t role = v->field->role;

    if (v->whole) {
        if (role & ROLE_ATTRIBUTES_ENTRY && v->len == FATTR3_LEN) {
            effect_load_attributes(v->data, &s->now.attributes);
            s->now.has_attributes = true;
        }
        return 0;
    }
    if (role & ROLE_ENTRY)
        return end_entry(s);
    if (v->cut)
        return 0;
    if (role & ROLE_ENTRY_NAME) {
        s->now = (struct effect_entry){ .name = { v->data, v->len } };
        s->now.cookie = cookie_behind(s->effect, v);
        s->begun = true;
    }
    if (role & ROLE_ENTRY_OBJECT)
        s->now.handle = (struct bytes){ v->data, v->len };
    return 0;
}

static int walk_entries(const struct effect *e, on_entry *entry, void *ctx)
{
    struct entries s = { .effect = e, .entry = entry, .ctx = ctx };
    const struct visitor visitor = { visit_entry, &s, WANTED_ENTRIES };
    struct kept_body body = effect_result(e);
    struct walk w;

    kept_walk(&w, e->procedure->result, &body, &visitor);
    return s.stopped; /* an entry that is not all there is left out */
}

/* --- a reply that is whole and valid */

/* Where the list begins, and its field. */
struct begun {
    const uint8_t *at;
    const struct field *field;
};

static int stop_at_list(void *ctx, const struct visit *v)
{
    *(struct begun *)ctx = (struct begun){ v->data, v->field };
    return 1;
}

/* Where entries have what effect_entry wants: numbers of parts. */
struct places {
    uint32_t name, cookie, handle, attributes;
};

static bool find_places(const struct list_form *form, struct places *to)
{
    *to = (struct places){ NO_PART, NO_PART, NO_PART, NO_PART };
    for (uint32_t i = 0; i < form->count; i++) {
        const struct list_part *part = &form->parts[i];
        uint32_t role = part->field->role;

        if (part->kind == LIST_CHOICE)
            continue;
        if (role & ROLE_ENTRY_NAME)
            to->name = i;
        else if (role & ROLE_ENTRY_OBJECT)
            to->handle = i;
        else if (role & ROLE_ATTRIBUTES_ENTRY && part->size == FATTR3_LEN)
            to->attributes = i;
        else if (part->field->cls == CLASS_COOKIE && part->size == 8)
            to->cookie = i;
    }
    return form->count < LIST_PARTS && to->name != NO_PART;
}

/* Returns false if the reply is not one for this. */
static bool read_entries(const struct effect *e, bool attributes, on_entry *entry, void *ctx,
                         int *stopped)
{
    struct begun begun = { 0 };
    const struct visitor visitor = { stop_at_list, &begun, ROLE_ENTRY };
    const uint8_t *end;
    struct list_form form;
    struct places at;
    struct walk w;

    if (!e->result_body.data || e->result != WALK_OK || e->result_length != e->result_body.len ||
        walk(&w, e->procedure->result, e->result_body.data, e->result_body.len, e->result_body.len,
             false, &visitor) != WALK_STOPPED ||
        begun.field->kind != XDR_LIST || !list_form(&form, begun.field->sub) ||
        !find_places(&form, &at))
        return false;
    end = e->result_body.data + e->result_body.len;
    form.places[NO_PART].at = LIST_ABSENT;
    while (*stopped == 0 && end - begun.at >= 4 && load_be32(begun.at) == 1) {
        struct effect_entry now;
        struct bytes piece;

        begun.at = list_element(&form, begun.at + 4, end);
        if (!begun.at)
            break; /* the result would not have been valid */
        now.name = list_piece(&form, at.name);
        now.handle = list_piece(&form, at.handle);
        piece = list_piece(&form, at.cookie);
        now.cookie = piece.len ? load_be64(piece.data) : 0;
        piece = attributes ? list_piece(&form, at.attributes) : (struct bytes){ 0 };
        now.has_attributes = piece.len;
        if (now.has_attributes)
            effect_load_attributes(piece.data, &now.attributes);
        *stopped = entry(ctx, &now);
    }
    return true;
}

static int entries(const struct effect *e, bool attributes, on_entry *entry, void *ctx)
{
    int stopped = 0;

    if (!e->procedure || !e->succeeded)
        return 0;
    if (read_entries(e, attributes, entry, ctx, &stopped))
        return stopped;
    return walk_entries(e, entry, ctx);
}

int effect_entries(const struct effect *e, on_entry *entry, void *ctx)
{
    return entries(e, true, entry, ctx);
}

int effect_names(const struct effect *e, on_entry *entry, void *ctx)
{
    return entries(e, false, entry, ctx);
}
