/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/write.c
 *
 * The walker in reverse: a loop over the tables that asks a filler for each value.  Contract:
 * write.h; write_named.c is the filler for values with names.
 */
#include "wire/write.h"

struct writer {
    struct walk walk; /* for paths, and for the filler */
    struct walk_step *step;
    const struct field *field;
    struct xdr_put *to;
    const struct filler *filler;
    struct fill fill;
    struct err *err;
    bool elided;
};

static int refuse(struct writer *w, const char *problem)
{
    char path[WALK_PATH_MAX];

    w->step->field = w->field;
    return err_set(w->err, ERR_USAGE, "%s: %s", walk_path(&w->walk, w->field, path), problem);
}

/* Asks for the value of the current field. */
static int ask(struct writer *w, uint32_t index)
{
    w->step->field = w->field;
    w->fill = (struct fill){ .field = w->field, .walk = &w->walk, .index = index };
    return w->filler->fill(w->filler->ctx, &w->fill);
}

static int down(struct writer *w, const struct type *type, const char *arm,
                const struct field *list, uint32_t index, uint32_t left)
{
    if (w->walk.depth + 1 == WALK_DEPTH_MAX)
        return refuse(w, "nested too deep");
    w->step->field = w->field;
    w->walk.depth++;
    w->step++;
    *w->step = (struct walk_step){
        .field = type->fields, .list = list, .type = type, .arm = arm, .left = left, .index = index
    };
    w->field = type->fields;
    return 0;
}

static int put_number(struct writer *w)
{
    uint64_t value = w->fill.value;

    switch (w->field->kind) {
    case XDR_U64:
        xdr_put_u64(w->to, value);
        return 0;
    case XDR_I32:
        if ((uint64_t)(int64_t)(int32_t)value != value)
            return refuse(w, "a number that 32 bits with a sign do not hold");
        break;
    case XDR_BOOL:
    case XDR_OPTIONAL:
    case XDR_LIST:
        if (value > 1)
            return refuse(w, "a boolean is 0 or 1");
        break;
    default:
        if (value > UINT32_MAX)
            return refuse(w, "a number above 32 bits");
        break;
    }
    xdr_put_u32(w->to, (uint32_t)value);
    return 0;
}

static int put_value(struct writer *w)
{
    const struct field *f = w->field;
    const struct bytes *b = &w->fill.bytes;

    if (f->kind == XDR_FIXED) {
        if (b->len && b->len != f->max)
            return refuse(w, "it has another length");
        xdr_put_fixed(w->to, b->len ? b->data : NULL, f->max);
        return 0;
    }
    if (f->max && b->len > f->max)
        return refuse(w, "longer than it may be");
    if (w->elided && f->cls == CLASS_DATA)
        xdr_put_u32(w->to, b->len);
    else
        xdr_put_opaque(w->to, *b);
    return 0;
}

/* One value, or what stands before the part that follows; goes down into that, or on. */
static int write_field(struct writer *w)
{
    const struct field *f = w->field;
    const struct arm *arm;
    int result = f->kind == XDR_STRUCT ? 0 : ask(w, w->step->index);

    if (result < 0)
        return result;
    switch (f->kind) {
    case XDR_STRUCT:
        return down(w, f->sub, NULL, NULL, w->step->index, 0);
    case XDR_FIXED:
    case XDR_OPAQUE:
    case XDR_STRING:
        result = put_value(w);
        break;
    case XDR_OPTIONAL:
        result = put_number(w);
        if (result == 0 && w->fill.value)
            return down(w, f->sub, NULL, NULL, w->step->index, 0);
        break;
    case XDR_ARRAY:
        if (f->max && w->fill.value > f->max)
            return refuse(w, "more elements than it may have");
        result = put_number(w);
        if (result == 0 && w->fill.value)
            return down(w, f->sub, NULL, f, 0, (uint32_t)w->fill.value - 1);
        break;
    case XDR_UNION:
        if (w->fill.value > UINT32_MAX || !(arm = arm_find(f->arms, (uint32_t)w->fill.value)))
            return refuse(w, "no such value");
        result = put_number(w);
        if (result == 0 && arm->type)
            return down(w, arm->type, arm->name, NULL, w->step->index, 0);
        break;
    default:
        result = put_number(w);
        break;
    }
    w->field++;
    return result;
}

/* Whether the list at the current field has an element |index|, then goes down into it; else on. */
static int write_link(struct writer *w, uint32_t index)
{
    int result = ask(w, index);

    if (result == 0)
        result = put_number(w);
    if (result == 0 && w->fill.value)
        return down(w, w->field->sub, NULL, w->field, index, 0);
    w->field++;
    return result;
}

/* Behind the last field of a level: the next element, or the level above. */
static int up(struct writer *w)
{
    const struct field *list = w->step->list;
    uint32_t index = w->step->index + 1, left = w->step->left;

    w->step--;
    w->walk.depth--;
    w->field = w->step->field;
    if (list && list->kind == XDR_LIST)
        return write_link(w, index);
    if (list && left)
        return down(w, list->sub, NULL, list, index, left - 1);
    w->field++;
    return 0;
}

int write_body(struct xdr_put *to, const struct type *type, bool elided,
               const struct filler *filler, struct err *err)
{
    struct writer w = { .to = to,
                        .filler = filler,
                        .err = err,
                        .elided = elided,
                        .field = type->fields,
                        .walk = { .root = type } };
    int result = 0;

    w.step = w.walk.steps;
    w.walk.steps[0] = (struct walk_step){ .field = type->fields, .type = type };
    while (result == 0 && !to->problem && (w.field->kind != XDR_END || w.walk.depth))
        result = w.field->kind == XDR_END    ? up(&w)
                 : w.field->kind == XDR_LIST ? write_link(&w, 0)
                                             : write_field(&w);
    return result == 0 ? xdr_put_end(to, type->name, err) : result;
}
