/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/walk.c
 *
 * The walker.  Every message of a capture passes through it.  So it does not allocate or recurse,
 * and it only checks the length of a field that the visitor does not ask for.
 */
#include "wire/walk.h"

#include "base/bytes.h"
#include "wire/list.h"

enum {
    ATTRIBUTES = ROLE_ATTRIBUTES | ROLE_ATTRIBUTES_NEW | ROLE_ATTRIBUTES_ENTRY |
                 ROLE_ATTRIBUTES_PARENT | ROLE_ATTRIBUTES_PARENT2 | ROLE_BEFORE
};

enum { LIST_WALKED = 2 /* elements: short lists are not worth the preparation */ };

/* Stands for "has this role" of every field when all are wanted; no role uses this bit (tested). */
#define EVERY 0x80000000u

/* Where a walk is.  |cap| and |wire| are limits for |pos|; behind elided bytes both count as if
 * these had never been there, and |wire_len| - |wire| of them were passed. */
struct cursor {
    struct walk *walk;
    const struct visitor *visitor;
    const uint8_t *data;
    const struct field *field;
    struct walk_step *step;
    uint32_t pos, cap, wire, wire_len;
    uint32_t every, wanted;
    struct visit visit; /* made once; |walk| and |cut| stay */
};

static inline bool is_wanted(const struct cursor *c, const struct field *field)
{
    return (field->role | c->every) & c->wanted;
}

static inline bool can_pass_over(const struct cursor *c, const struct type *type)
{
    return type->plain && !((type->roles | c->every) & c->wanted) &&
           (uint32_t)type->fixed_size <= c->cap - c->pos;
}

static inline uint32_t wire_offset(const struct cursor *c)
{
    return c->pos + (c->wire_len - c->wire);
}

static inline void note_place(struct cursor *c)
{
    c->step->field = c->field;
    c->walk->offset = wire_offset(c);
}

/* Shows the |len| of |full_len| bytes at the cursor. */
static inline int show(struct cursor *c, uint32_t len, uint32_t full_len, uint64_t value,
                       uint32_t index, bool whole)
{
    struct visit *visit = &c->visit;

    note_place(c);
    visit->field = c->field;
    visit->data = c->data + c->pos;
    visit->len = len;
    visit->full_len = full_len;
    visit->offset = c->walk->offset;
    visit->value = value;
    visit->index = index;
    visit->whole = whole;
    return c->visitor->visit(c->visitor->ctx, visit);
}

/* Shows a value whose captured part is |len| of |full_len| bytes; |here|: its bytes are in data. */
static int show_bytes(struct cursor *c, uint32_t len, uint32_t full_len, bool here)
{
    int result;

    c->visit.cut = here && len < full_len;
    result = show(c, len, full_len, 0, c->step->index, false);
    c->visit.cut = false;
    return result;
}

/* Shows the structure that begins at the cursor, if it is to be shown. */
static inline int show_whole(struct cursor *c)
{
    int32_t size = c->field->sub->fixed_size;

    if (size > 0 && (uint32_t)size > c->cap - c->pos)
        return 0;
    return show(c, size > 0 ? (uint32_t)size : 0, size > 0 ? (uint32_t)size : 0, 0, c->step->index,
                true);
}

static enum walk_result malformed(struct cursor *c, const char *problem)
{
    note_place(c);
    c->walk->problem = problem;
    return WALK_MALFORMED;
}

/* |need| bytes are not there: were they cut off, or are they missing? */
static enum walk_result lack(struct cursor *c, uint32_t need)
{
    if (need > c->wire - c->pos)
        return malformed(c, "the message ends within this value");
    note_place(c);
    c->walk->offset += c->cap - c->pos;
    return WALK_TRUNCATED;
}

/* Goes down into |type|, which stands at the current field. Returns false when tables nest too
 * deep, which their test excludes. */
static inline bool enter(struct cursor *c, const struct type *type, const char *arm,
                         const struct field *list, uint32_t index, uint32_t left)
{
    struct walk_step *step = c->step + 1;

    if (step == c->walk->steps + WALK_DEPTH_MAX)
        return false;
    c->step->field = c->field;
    step->type = type;
    step->arm = arm;
    step->list = list;
    step->index = index;
    step->left = left;
    c->step = step;
    c->walk->depth++;
    c->field = type->fields;
    return true;
}

/* Opaque and string: returns WALK_OK when the walk goes on behind it. */
static enum walk_result walk_bytes(struct cursor *c, uint32_t len, bool elided)
{
    uint64_t padded = ((uint64_t)len + 3) & ~(uint64_t)3;
    uint32_t have = c->cap - c->pos;

    if (len > c->wire - c->pos)
        return malformed(c, "length passes the message's end");
    if (padded > c->wire - c->pos)
        return malformed(c, "padding passes the message's end");
    if (elided) {
        if (is_wanted(c, c->field) && show_bytes(c, 0, len, false))
            return WALK_STOPPED;
        c->wire -= (uint32_t)padded;
        if (c->cap > c->wire)
            c->cap = c->wire;
        return WALK_OK;
    }
    if (is_wanted(c, c->field) && show_bytes(c, len < have ? len : have, len, true))
        return WALK_STOPPED;
    if (padded > have)
        return lack(c, (uint32_t)padded);
    c->pos += (uint32_t)padded;
    return WALK_OK;
}

/* Passes over elements that nobody wants to see, from the boolean before one to another boolean.
 * What stands there then is for the loop below, whatever it is. */
static uint32_t pass_elements(struct cursor *c, const struct type *element, uint32_t index)
{
    const uint8_t *at = c->data + c->pos, *end = c->data + c->cap;
    struct list_form form;

    if (((element->roles | c->field->role | c->every) & c->wanted) || !list_form(&form, element))
        return index;
    c->pos = (uint32_t)(list_pass(&form, at, end, &index) - c->data);
    return index;
}

/* Long since it is the one loop over all kinds of fields, which share its stack. */
static enum walk_result run(struct cursor *c, bool elided)
{
    const struct arm *arm;
    const struct type *sub;
    enum walk_result result;
    uint32_t value, index, left;

    for (;;) {
        const struct field *f = c->field;

        switch (f->kind) {
        case XDR_END:
            if (c->step == c->walk->steps)
                return WALK_OK;
            index = c->step->index + 1;
            left = c->step->left;
            f = c->step->list;
            c->step--;
            c->walk->depth--;
            c->field = c->step->field;
            if (!f)
                break;
            if (f->kind == XDR_LIST)
                goto list;
            if (left) {
                enter(c, f->sub, NULL, f, index, left - 1);
                continue;
            }
            break;

        case XDR_U32:
        case XDR_I32:
        case XDR_ENUM:
            if (c->cap - c->pos < 4)
                return lack(c, 4);
            if (is_wanted(c, f)) {
                value = load_be32(c->data + c->pos);
                if (show(c, 4, 4, f->kind == XDR_I32 ? (uint64_t)(int64_t)(int32_t)value : value,
                         c->step->index, false))
                    return WALK_STOPPED;
            }
            c->pos += 4;
            break;

        case XDR_U64:
            if (c->cap - c->pos < 8)
                return lack(c, 8);
            if (is_wanted(c, f) &&
                show(c, 8, 8, load_be64(c->data + c->pos), c->step->index, false))
                return WALK_STOPPED;
            c->pos += 8;
            break;

        case XDR_BOOL:
            if (c->cap - c->pos < 4)
                return lack(c, 4);
            value = load_be32(c->data + c->pos);
            if (value > 1)
                return malformed(c, "boolean is neither 0 nor 1");
            if (is_wanted(c, f) && show(c, 4, 4, value, c->step->index, false))
                return WALK_STOPPED;
            c->pos += 4;
            break;

        case XDR_FIXED:
            if (c->cap - c->pos < ((f->max + 3) & ~3u))
                return lack(c, (f->max + 3) & ~3u);
            if (is_wanted(c, f) && show(c, f->max, f->max, 0, c->step->index, false))
                return WALK_STOPPED;
            c->pos += (f->max + 3) & ~3u;
            break;

        case XDR_OPAQUE:
        case XDR_STRING:
            if (c->cap - c->pos < 4)
                return lack(c, 4);
            value = load_be32(c->data + c->pos);
            if (f->max && value > f->max)
                return malformed(c, "length is above its bound");
            c->pos += 4;
            result = walk_bytes(c, value, elided && f->cls == CLASS_DATA);
            if (result != WALK_OK)
                return result;
            break;

        case XDR_STRUCT:
            if (f->role && is_wanted(c, f) && show_whole(c))
                return WALK_STOPPED;
            sub = f->sub;
            if (can_pass_over(c, sub)) {
                c->pos += (uint32_t)sub->fixed_size;
                break;
            }
            if (!enter(c, sub, NULL, NULL, c->step->index, 0))
                return malformed(c, "nested too deep");
            continue;

        case XDR_OPTIONAL:
            if (c->cap - c->pos < 4)
                return lack(c, 4);
            value = load_be32(c->data + c->pos);
            if (value > 1)
                return malformed(c, "boolean is neither 0 nor 1");
            if (((f->role & ~(uint32_t)ATTRIBUTES) | c->every) & c->wanted &&
                show(c, 4, 4, value, c->step->index, false))
                return WALK_STOPPED;
            c->pos += 4;
            if (!value)
                break;
            if (f->role & ATTRIBUTES && is_wanted(c, f) && show_whole(c))
                return WALK_STOPPED;
            sub = f->sub;
            if (can_pass_over(c, sub)) {
                c->pos += (uint32_t)sub->fixed_size;
                break;
            }
            if (!enter(c, sub, NULL, NULL, c->step->index, 0))
                return malformed(c, "nested too deep");
            continue;

        case XDR_LIST:
            index = 0;
        list:
            if (index == LIST_WALKED)
                index = pass_elements(c, c->field->sub, index);
            if (c->cap - c->pos < 4)
                return lack(c, 4);
            value = load_be32(c->data + c->pos);
            if (value > 1)
                return malformed(c, "boolean is neither 0 nor 1");
            if (is_wanted(c, c->field) && show(c, 4, 4, value, index, false))
                return WALK_STOPPED;
            c->pos += 4;
            if (!value)
                break;
            if (!enter(c, c->field->sub, NULL, c->field, index, 0))
                return malformed(c, "nested too deep");
            continue;

        case XDR_ARRAY:
            if (c->cap - c->pos < 4)
                return lack(c, 4);
            value = load_be32(c->data + c->pos);
            if (f->max && value > f->max)
                return malformed(c, "count is above its bound");
            /* An element has at least 4 bytes, as everything in XDR. */
            if (value > (c->wire - c->pos - 4) / 4)
                return malformed(c, "count passes the message's end");
            if (is_wanted(c, f) && show(c, 4, 4, value, c->step->index, false))
                return WALK_STOPPED;
            c->pos += 4;
            if (!value)
                break;
            if (!enter(c, f->sub, NULL, f, 0, value - 1))
                return malformed(c, "nested too deep");
            continue;

        case XDR_UNION:
            if (c->cap - c->pos < 4)
                return lack(c, 4);
            value = load_be32(c->data + c->pos);
            arm = arm_find(f->arms, value);
            if (!arm)
                return malformed(c, "no such value");
            if (is_wanted(c, f) && show(c, 4, 4, value, c->step->index, false))
                return WALK_STOPPED;
            c->pos += 4;
            sub = arm->type;
            if (!sub)
                break;
            if (can_pass_over(c, sub)) {
                c->pos += (uint32_t)sub->fixed_size;
                break;
            }
            if (!enter(c, sub, arm->name, NULL, c->step->index, 0))
                return malformed(c, "nested too deep");
            continue;
        }
        c->field++;
    }
}

enum walk_result walk(struct walk *walk, const struct type *type, const uint8_t *data,
                      uint32_t cap_len, uint32_t wire_len, bool elided,
                      const struct visitor *visitor)
{
    static const uint8_t nothing[1];
    struct cursor c = {
        .walk = walk,
        .visitor = visitor,
        .data = data ? data : nothing,
        .field = type->fields,
        .step = walk->steps,
        .cap = cap_len < wire_len ? cap_len : wire_len,
        .wire = wire_len,
        .wire_len = wire_len,
        .visit.walk = walk,
    };
    enum walk_result result;

    if (visitor) {
        c.every = visitor->roles ? 0 : EVERY;
        c.wanted = visitor->roles ? visitor->roles : EVERY;
    }
    walk->root = type;
    walk->problem = NULL;
    walk->surplus = false;
    walk->depth = 0;
    walk->steps[0] = (struct walk_step){ .field = type->fields, .type = type };
    result = run(&c, elided);
    if (result != WALK_OK)
        return result;
    walk->surplus = c.pos < c.wire || c.pos < cap_len;
    if (walk->surplus)
        return malformed(&c, "bytes are left over");
    note_place(&c);
    return WALK_OK;
}

static char *append(char *at, const char *end, const char *name)
{
    if (name && at < end)
        *at++ = '.';
    while (name && *name && at < end)
        *at++ = *name++;
    return at;
}

const char *walk_path(const struct walk *walk, const struct field *field, char text[WALK_PATH_MAX])
{
    const char *end = text + WALK_PATH_MAX - 1, *name = walk->root->name;
    const struct walk_step *step;
    char *at = text;

    while (*name && at < end)
        *at++ = *name++;
    for (step = walk->steps; step < walk->steps + walk->depth; step++)
        at = append(at, end, step->field->kind == XDR_UNION ? step[1].arm : step->field->name);
    if (!field)
        field = step->field;
    if (field->kind != XDR_END)
        at = append(at, end, field->name);
    *at = '\0';
    return text;
}
