/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/bind_new.c
 *
 * Makes the program of a bound struct: follows the type's fields, finds the row of each by its
 * path, and emits what reads and writes it.  Contract: bind.h.
 *
 * Recursion over our own tables and rows, whose depth is checked.
 */
#include "wire/bind_parts.h"

#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>

/* A row of a field, where nested structs are dissolved. */
struct leaf {
    const struct bind_row *row;
    uint32_t offset;
    bool used;
    char path[WALK_PATH_MAX];
};

/* Bytes of the struct that fields of one message have taken. */
struct taken {
    uint64_t bits[BIND_STRUCT_MAX / 64];
};

enum { NONE = UINT32_MAX };

struct compiler {
    struct bound *bound;
    const struct type *type;
    struct leaf *leaves;
    uint32_t leaf_count, leaf_cap;
    struct taken taken;
    uint32_t span; /* the open one's operation, or NONE */
    int depth;
    char path[WALK_PATH_MAX]; /* of the current field */
    struct err *err;
};

static int refuse(struct compiler *c, const char *path, const char *problem)
{
    return err_set(c->err, ERR_USAGE, "%s%s%s: %s", c->type->name, *path ? "." : "", path, problem);
}

static int no_memory(struct compiler *c)
{
    return err_memory(c->err, c->type->name);
}

/* Writes |name| behind the first |len| characters of a path.  Returns the new length, or -1. */
static int append(char path[WALK_PATH_MAX], int len, const char *name)
{
    int more = 0;

    path[len] = '\0';
    if (name && *name)
        more = snprintf(path + len, (size_t)(WALK_PATH_MAX - len), "%s%s", len ? "." : "", name);
    return more < WALK_PATH_MAX - len ? len + more : -1;
}

/* --- rows */

static int add_leaf(struct compiler *c, const struct bind_row *row, uint32_t offset,
                    const char *path)
{
    struct leaf *leaf;

    for (uint32_t i = 0; i < c->leaf_count; i++)
        if (strcmp(c->leaves[i].path, path) == 0)
            return refuse(c, path, "it has two rows");
    if (GROW(c->leaves, c->leaf_count, c->leaf_cap) < 0)
        return no_memory(c);
    leaf = &c->leaves[c->leaf_count++];
    *leaf = (struct leaf){ .row = row, .offset = offset };
    memcpy(leaf->path, path, strlen(path) + 1);
    return 0;
}

/* The rows of a struct that stands at |offset| and ends before |end|; |path| is its path. */
static int add_rows(struct compiler *c, const struct bind_row *row, uint32_t offset, uint32_t end,
                    int depth, const char *path)
{
    char inner[WALK_PATH_MAX];
    int result = 0, len = (int)strlen(path);

    memcpy(inner, path, (size_t)len + 1);
    for (; result == 0 && row->path; row++) {
        uint32_t at = offset + row->offset;

        if (depth == WALK_DEPTH_MAX || append(inner, len, row->path) < 0)
            return refuse(c, path, "its rows nest too deep");
        if (at > end || row->size > end - at)
            return refuse(c, inner, "its member lies outside of the struct");
        result = row->member == BIND_IS_STRUCT
                     ? add_rows(c, row->rows, at, at + row->size, depth + 1, inner)
                     : add_leaf(c, row, at, inner);
    }
    return result;
}

/* Takes the bytes of a member. */
static int take(struct compiler *c, const struct leaf *leaf)
{
    for (uint32_t i = leaf->offset; i < leaf->offset + leaf->row->size; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;

        if (c->taken.bits[i / 64] & bit)
            return refuse(c, c->path, "another field of the message has the same member");
        c->taken.bits[i / 64] |= bit;
    }
    return 0;
}

/* The row of the current field, whose member must be a |member| of |size| bytes. */
static int find_leaf(struct compiler *c, enum bind_member member, uint32_t size,
                     const struct leaf **to)
{
    static const char *const texts[] = {
        [BIND_IS_BOOL] = "its member must be a bool",
        [BIND_IS_U32] = "its member must be a uint32_t",
        [BIND_IS_I32] = "its member must be an int32_t",
        [BIND_IS_U64] = "its member must be a uint64_t",
        [BIND_IS_FIXED] = "its member must be an array of uint8_t of its length",
        [BIND_IS_BYTES] = "its member must be a struct bytes",
        [BIND_IS_LIST] = "its member must be a struct bind_list",
    };
    struct leaf *leaf = c->leaves, *end = leaf + c->leaf_count;

    while (leaf < end && strcmp(leaf->path, c->path) != 0)
        leaf++;
    if (leaf == end)
        return refuse(c, c->path, "it has no row");
    if (leaf->row->member != member || leaf->row->size != size)
        return refuse(c, c->path, texts[member]);
    leaf->used = true;
    *to = leaf;
    return take(c, leaf);
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
    const struct leaf *leaf;
    int result = find_leaf(c, member, size, &leaf);

    if (result < 0)
        return result;
    return emit_fixed(c,
                      (struct bind_op){ .code = (uint8_t)code, .count = 1, .offset = leaf->offset },
                      member == BIND_IS_U64 ? 8 : 4);
}

static int emit_bytes(struct compiler *c, const struct field *f)
{
    const struct leaf *leaf;
    int result;

    if (f->kind == XDR_FIXED) {
        result = find_leaf(c, BIND_IS_FIXED, f->max, &leaf);
        if (result < 0)
            return result;
        return emit_fixed(
            c, (struct bind_op){ .code = BIND_OCTETS, .offset = leaf->offset, .max = f->max },
            xdr_padded(f->max));
    }
    result = find_leaf(c, BIND_IS_BYTES, sizeof(struct bytes), &leaf);
    if (result < 0)
        return result;
    return emit_open(c, (struct bind_op){ .code = BIND_OPAQUE,
                                          .offset = leaf->offset,
                                          .max = f->max ? f->max : UINT32_MAX });
}

/* --- fields */

static int compile_type(struct compiler *c, const struct type *type);

static int compile_optional(struct compiler *c, const struct field *f)
{
    const struct leaf *leaf;
    uint32_t at;
    int result = find_leaf(c, BIND_IS_BOOL, sizeof(bool), &leaf);

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
        return refuse(c, c->path, "the struct has too many lists");
    b->lists[b->list_count++] = offset;
    return 0;
}

static int compile_list(struct compiler *c, const struct field *f)
{
    struct bound *b = c->bound;
    const struct leaf *leaf;
    int result = find_leaf(c, BIND_IS_LIST, sizeof(struct bind_list), &leaf);

    if (result == 0)
        result = note_list(c, leaf->offset);
    if (result < 0)
        return result;
    if (GROW(b->elements, b->element_count, b->element_cap) < 0)
        return no_memory(c);
    b->elements[b->element_count] =
        bound_new(f->sub, leaf->row->rows, leaf->row->element_size, c->err);
    if (!b->elements[b->element_count])
        return err_prefix(c->err, "%s.%s", c->type->name, c->path);
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
    int result = 0;

    b->cases[target] = (struct bind_case){ .value = arm->value,
                                           .target = label(c) & 0x7fffffff,
                                           .is_default = arm->is_default };
    if (append(c->path, len, arm->name) < 0)
        return refuse(c, c->path, "its path is too long");
    if (arm->type)
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
    struct taken before, all;
    const struct leaf *leaf;
    uint32_t arms = 0, first = b->case_count, jump = NONE, end;
    int result;

    while (!f->arms[arms].is_end)
        arms++;
    arms += f->arms[arms].is_default;
    if (GROW_TO(b->cases, b->case_count + arms, b->case_cap) < 0)
        return no_memory(c);
    b->case_count += arms;
    result = find_leaf(c, truth ? BIND_IS_BOOL : BIND_IS_U32, truth ? sizeof(bool) : 4, &leaf);
    if (result == 0)
        result = emit_open(c, (struct bind_op){ .code = BIND_UNION,
                                                .is_truth = truth,
                                                .offset = leaf->offset,
                                                .count = (uint16_t)arms,
                                                .next = first });
    before = all = c->taken;
    for (uint32_t i = 0; result == 0 && i < arms; i++) {
        c->taken = before;
        result = compile_arm(c, &f->arms[i], len, first + i, &jump);
        for (uint32_t k = 0; k < BIND_STRUCT_MAX / 64; k++)
            all.bits[k] |= c->taken.bits[k];
    }
    c->taken = all;
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
    if (append(c->path, outer, f->name) < 0)
        return refuse(c, c->path, "its path is too long");
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
    int outer = (int)strlen(c->path), result = 0;

    if (c->depth == WALK_DEPTH_MAX)
        return refuse(c, c->path, "nested too deep");
    c->depth++;
    for (const struct field *f = type->fields; result == 0 && f->kind != XDR_END; f++)
        result = compile_field(c, f, outer);
    c->depth--;
    if (result == 0)
        c->path[outer] = '\0';
    return result;
}

static int compile(struct compiler *c, const struct bind_row *rows, size_t struct_size)
{
    int result;

    if (struct_size > BIND_STRUCT_MAX)
        return refuse(c, "", "its struct is larger than BIND_STRUCT_MAX");
    c->bound->name = c->type->name;
    c->bound->struct_size = (uint32_t)struct_size;
    result = add_rows(c, rows, 0, (uint32_t)struct_size, 0, "");
    if (result == 0)
        result = compile_type(c, c->type);
    for (uint32_t i = 0; result == 0 && i < c->leaf_count; i++)
        if (!c->leaves[i].used)
            result = refuse(c, c->leaves[i].path, "no field has this row's path");
    return result == 0 ? emit_open(c, (struct bind_op){ .code = BIND_DONE }) : result;
}

struct bound *bound_new(const struct type *type, const struct bind_row *rows, size_t struct_size,
                        struct err *err)
{
    struct compiler c = { .type = type, .span = NONE, .err = err };
    int result;

    c.bound = calloc(1, sizeof(*c.bound));
    if (!c.bound) {
        err_memory(err, type->name);
        return NULL;
    }
    result = compile(&c, rows, struct_size);
    free(c.leaves);
    if (result == 0)
        return c.bound;
    bound_free(c.bound);
    return NULL;
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
