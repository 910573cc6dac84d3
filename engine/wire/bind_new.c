/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/bind_new.c
 *
 * Makes the program of a bound struct: follows the type's fields, finds the row of each by its
 * path (bind_rows.c), and emits the operations for it.  Contract: bind.h.
 *
 * It uses recursion, but only over our own tables, whose depth is checked.
 */
#include "wire/bind_parts.h"
#include "wire/bind_rows_parts.h"

#include "base/grow.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX };

struct compiler {
    struct bound *bound;
    struct bind_rows rows;
    uint32_t span; /* the open one's operation, or NONE */
    int depth;
};

static int no_memory(struct compiler *c)
{
    return err_memory(c->rows.err, c->rows.type->name);
}

/* --- operations */

static int emit(struct compiler *c, struct bind_op op)
{
    struct bound *b = c->bound;

    if (GROW(b->ops, b->op_count, b->op_cap) < 0)
        return no_memory(c);
    b->ops[b->op_count++] = op;
    return 0;
}

static void close_span(struct compiler *c)
{
    if (c->span != NONE)
        c->bound->ops[c->span].next = c->bound->op_count;
    c->span = NONE;
}

/* One that checks its length itself: what comes behind it begins a span. */
static int emit_open(struct compiler *c, struct bind_op op)
{
    close_span(c);
    return emit(c, op);
}

/* Where a jump leads to: nothing is merged with what stands before. */
static uint32_t label(struct compiler *c)
{
    close_span(c);
    return c->bound->op_count;
}

/* One that takes |size| bytes of a span. */
static int emit_fixed(struct compiler *c, struct bind_op op, uint32_t size)
{
    struct bound *b = c->bound;
    struct bind_op *last;

    if (c->span == NONE) {
        int result = emit(c, (struct bind_op){ .code = BIND_SPAN });

        if (result < 0)
            return result;
        c->span = b->op_count - 1;
    }
    b->ops[c->span].max += size;
    last = &b->ops[b->op_count - 1];
    if ((op.code == BIND_U32S || op.code == BIND_U64S) && last->code == op.code &&
        last->offset + last->count * size == op.offset && last->count < UINT16_MAX) {
        last->count++;
        return 0;
    }
    return emit(c, op);
}

static int emit_number(struct compiler *c, enum bind_member member)
{
    enum bind_code code = member == BIND_IS_U64    ? BIND_U64S
                          : member == BIND_IS_BOOL ? BIND_TRUTH
                                                   : BIND_U32S;
    uint32_t size = member == BIND_IS_BOOL ? sizeof(bool) : member == BIND_IS_U64 ? 8 : 4;
    const struct bind_leaf *leaf;
    int result = bind_find(&c->rows, member, size, &leaf);

    if (result < 0)
        return result;
    return emit_fixed(c,
                      (struct bind_op){ .code = (uint8_t)code, .count = 1, .offset = leaf->offset },
                      member == BIND_IS_U64 ? 8 : 4);
}

static int emit_bytes(struct compiler *c, const struct field *f)
{
    const struct bind_leaf *leaf;
    int result;

    if (f->kind == XDR_FIXED) {
        result = bind_find(&c->rows, BIND_IS_FIXED, f->max, &leaf);
        if (result < 0)
            return result;
        return emit_fixed(
            c, (struct bind_op){ .code = BIND_OCTETS, .offset = leaf->offset, .max = f->max },
            xdr_padded(f->max));
    }
    result = bind_find(&c->rows, BIND_IS_BYTES, sizeof(struct bytes), &leaf);
    if (result < 0)
        return result;
    return emit_open(c, (struct bind_op){ .code = BIND_OPAQUE,
                                          .offset = leaf->offset,
                                          .max = f->max ? f->max : UINT32_MAX });
}

/* --- fields */

static int compile_type(struct compiler *c, const struct type *type);
static struct bound *make(const struct type *type, const struct bind_row *rows, size_t struct_size,
                          int depth, struct err *err);

static int compile_optional(struct compiler *c, const struct field *f)
{
    const struct bind_leaf *leaf;
    uint32_t at;
    int result = bind_find(&c->rows, BIND_IS_BOOL, sizeof(bool), &leaf);

    if (result < 0)
        return result;
    at = c->bound->op_count;
    result = emit_open(c, (struct bind_op){ .code = BIND_OPTIONAL, .offset = leaf->offset });
    if (result == 0)
        result = compile_type(c, f->sub);
    if (result == 0)
        c->bound->ops[at].next = label(c);
    return result;
}

static int note_list(struct compiler *c, uint32_t offset)
{
    struct bound *b = c->bound;

    for (uint32_t i = 0; i < b->list_count; i++)
        if (b->lists[i] == offset)
            return 0;
    if (b->list_count == BIND_LISTS_MAX)
        return bind_refuse(&c->rows, c->rows.path, "the struct has too many lists");
    b->lists[b->list_count++] = offset;
    return 0;
}

static int compile_list(struct compiler *c, const struct field *f)
{
    struct bound *b = c->bound;
    const struct bind_leaf *leaf;
    int result = bind_find(&c->rows, BIND_IS_LIST, sizeof(struct bind_list), &leaf);

    if (result == 0)
        result = note_list(c, leaf->offset);
    if (result < 0)
        return result;
    if (GROW(b->elements, b->element_count, b->element_cap) < 0)
        return no_memory(c);
    b->elements[b->element_count] =
        make(f->sub, leaf->row->rows, leaf->row->element_size, c->depth, c->rows.err);
    if (!b->elements[b->element_count])
        return err_prefix(c->rows.err, "%s.%s", c->rows.type->name, c->rows.path);
    return emit_open(c, (struct bind_op){ .code = f->kind == XDR_LIST ? BIND_ELEMENTS : BIND_ARRAY,
                                          .offset = leaf->offset,
                                          .max = f->max ? f->max : UINT32_MAX,
                                          .next = b->element_count++ });
}

/* Whether 0 and 1 are all that there is. */
static bool is_truth(const struct arm *arm)
{
    for (; !arm->is_end; arm++)
        if (arm->value > 1)
            return false;
    return !arm->is_default;
}

/* The operations of one arm, to which |target| leads; they end in a jump, |*jump|, which names the
 * one before. |len| is the length of the path that the union stands in. */
static int compile_arm(struct compiler *c, const struct arm *arm, int len, uint32_t target,
                       uint32_t *jump)
{
    struct bound *b = c->bound;
    int result;

    b->cases[target] = (struct bind_case){ .value = arm->value,
                                           .target = label(c) & 0x7fffffff,
                                           .is_default = arm->is_default };
    result = bind_go(&c->rows, len, arm->name);
    if (result == 0 && arm->type)
        result = compile_type(c, arm->type);
    if (result == 0)
        result = emit_open(c, (struct bind_op){ .code = BIND_JUMP, .next = *jump });
    *jump = b->op_count - 1;
    return result;
}

/* |len|: the length of the path that the union stands in. */
static int compile_union(struct compiler *c, const struct field *f, int len)
{
    struct bound *b = c->bound;
    bool truth = is_truth(f->arms);
    struct bind_taken before, all;
    const struct bind_leaf *leaf;
    uint32_t arms = 0, first = b->case_count, jump = NONE, end;
    int result;

    while (!f->arms[arms].is_end)
        arms++;
    arms += f->arms[arms].is_default;
    if (GROW_TO(b->cases, b->case_count + arms, b->case_cap) < 0)
        return no_memory(c);
    b->case_count += arms;
    result =
        bind_find(&c->rows, truth ? BIND_IS_BOOL : BIND_IS_U32, truth ? sizeof(bool) : 4, &leaf);
    if (result == 0)
        result = emit_open(c, (struct bind_op){ .code = BIND_UNION,
                                                .is_truth = truth,
                                                .offset = leaf->offset,
                                                .count = (uint16_t)arms,
                                                .next = first });
    before = all = c->rows.taken;
    for (uint32_t i = 0; result == 0 && i < arms; i++) {
        c->rows.taken = before;
        result = compile_arm(c, &f->arms[i], len, first + i, &jump);
        for (uint32_t k = 0; k < BIND_STRUCT_MAX / 64; k++)
            all.bits[k] |= c->rows.taken.bits[k];
    }
    c->rows.taken = all;
    if (result == 0 && jump == b->op_count - 1) /* the last arm needs none */
        jump = b->ops[--b->op_count].next;
    end = label(c);
    while (result == 0 && jump != NONE) {
        uint32_t next = b->ops[jump].next;

        b->ops[jump].next = end;
        jump = next;
    }
    return result;
}

static int compile_field(struct compiler *c, const struct field *f, int outer)
{
    if (bind_go(&c->rows, outer, f->name) < 0)
        return -ERR_USAGE;
    switch ((enum xdr_kind)f->kind) {
    case XDR_U32:
    case XDR_ENUM:
        return emit_number(c, BIND_IS_U32);
    case XDR_I32:
        return emit_number(c, BIND_IS_I32);
    case XDR_U64:
        return emit_number(c, BIND_IS_U64);
    case XDR_BOOL:
        return emit_number(c, BIND_IS_BOOL);
    case XDR_FIXED:
    case XDR_OPAQUE:
    case XDR_STRING:
        return emit_bytes(c, f);
    case XDR_STRUCT:
        return compile_type(c, f->sub);
    case XDR_OPTIONAL:
        return compile_optional(c, f);
    case XDR_LIST:
    case XDR_ARRAY:
        return compile_list(c, f);
    case XDR_UNION:
        return compile_union(c, f, outer);
    case XDR_END:
        break;
    }
    return 0;
}

/* The fields of |type|, which stands at the current path. */
static int compile_type(struct compiler *c, const struct type *type)
{
    int outer = (int)strlen(c->rows.path), result = 0;

    if (c->depth == WALK_DEPTH_MAX)
        return bind_refuse(&c->rows, c->rows.path, "nested too deep");
    c->depth++;
    for (const struct field *f = type->fields; result == 0 && f->kind != XDR_END; f++)
        result = compile_field(c, f, outer);
    c->depth--;
    if (result == 0)
        c->rows.path[outer] = '\0';
    return result;
}

static int compile(struct compiler *c, const struct bind_row *rows, size_t struct_size)
{
    int result = bind_add_rows(&c->rows, rows, struct_size);

    c->bound->name = c->rows.type->name;
    c->bound->struct_size = (uint32_t)struct_size;
    if (result == 0)
        result = compile_type(c, c->rows.type);
    if (result == 0)
        result = bind_check_used(&c->rows);
    return result == 0 ? emit_open(c, (struct bind_op){ .code = BIND_DONE }) : result;
}

/* |depth|: of lists that this is an element of. */
static struct bound *make(const struct type *type, const struct bind_row *rows, size_t struct_size,
                          int depth, struct err *err)
{
    struct compiler c = { .rows = { .type = type, .err = err }, .span = NONE, .depth = depth };
    int result;

    c.bound = calloc(1, sizeof(*c.bound));
    if (!c.bound) {
        err_memory(err, type->name);
        return NULL;
    }
    result = compile(&c, rows, struct_size);
    free(c.rows.leaves);
    if (result == 0)
        return c.bound;
    bound_free(c.bound);
    return NULL;
}

struct bound *bound_new(const struct type *type, const struct bind_row *rows, size_t struct_size,
                        struct err *err)
{
    return make(type, rows, struct_size, 0, err);
}

void bound_free(struct bound *bound)
{
    if (!bound)
        return;
    for (uint32_t i = 0; i < bound->element_count; i++)
        bound_free(bound->elements[i]);
    free(bound->elements);
    free(bound->cases);
    free(bound->ops);
    free(bound);
}
