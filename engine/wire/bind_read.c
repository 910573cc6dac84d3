/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/bind_read.c
 *
 * Runs the programs of bound structs to read messages.  Servers and clients do this for each
 * message, so it is fast: one check of length for a row of fields of fixed size, and no call for
 * each field.  Contract: bind.h; bind_new.c makes the programs.
 *
 * Elements of a list are read by recursion.  Its depth is that of lists in the tables (two); the
 * input cannot change it.
 */
#include "wire/bind_parts.h"

/* What is left of the body. */
struct reader {
    const uint8_t *at, *end;
};

static inline size_t left(const struct reader *r)
{
    return (size_t)(r->end - r->at);
}

static enum walk_result read_ops(const struct bound *b, struct reader *r, uint8_t *to);

static inline void clear(const struct bound *b, uint8_t *to)
{
    struct bind_list kept[BIND_LISTS_MAX];
    uint32_t i;

    for (i = 0; i < b->list_count; i++)
        memcpy(&kept[i], to + b->lists[i], sizeof(kept[i]));
    memset(to, 0, b->struct_size);
    for (i = 0; i < b->list_count; i++) {
        kept[i].count = 0;
        memcpy(to + b->lists[i], &kept[i], sizeof(kept[i]));
    }
}

static enum walk_result read_element(const struct bound *b, struct reader *r,
                                     struct bind_list *list)
{
    uint8_t *to;

    if (list->count == list->most)
        return WALK_STOPPED;
    to = (uint8_t *)list->elements + (size_t)list->count * b->struct_size;
    list->count++;
    clear(b, to);
    return read_ops(b, r, to);
}

static enum walk_result read_list(const struct bound *b, struct reader *r, struct bind_list *list)
{
    enum walk_result result;
    uint32_t follows;

    for (;;) {
        if (left(r) < 4)
            return WALK_MALFORMED;
        follows = load_be32(r->at);
        if (follows > 1)
            return WALK_MALFORMED;
        r->at += 4;
        if (!follows)
            return WALK_OK;
        result = read_element(b, r, list);
        if (result != WALK_OK)
            return result;
    }
}

static enum walk_result read_array(const struct bound *b, const struct bind_op *op,
                                   struct reader *r, struct bind_list *list)
{
    enum walk_result result = WALK_OK;
    uint32_t count;

    if (left(r) < 4)
        return WALK_MALFORMED;
    count = load_be32(r->at);
    r->at += 4;
    if (count > op->max || count > left(r) / 4) /* walk.c: an element has 4 bytes at least */
        return WALK_MALFORMED;
    while (result == WALK_OK && count--)
        result = read_element(b, r, list);
    return result;
}

static inline bool read_opaque(const struct bind_op *op, struct reader *r, struct bytes *to)
{
    uint32_t len;

    if (left(r) < 4)
        return false;
    len = load_be32(r->at);
    r->at += 4;
    if (len > op->max || bind_padded(len) > left(r))
        return false;
    *to = (struct bytes){ r->at, len };
    r->at += bind_padded(len);
    return true;
}

/* The operation that goes on behind a union; NULL: no arm. */
static inline const struct bind_op *read_union(const struct bound *b, const struct bind_op *op,
                                               struct reader *r, uint8_t *to)
{
    const struct bind_case *arm;
    uint32_t value;

    if (left(r) < 4)
        return NULL;
    value = load_be32(r->at);
    r->at += 4;
    arm = bind_find_case(b, op, value);
    if (!arm)
        return NULL;
    if (op->is_truth)
        *(bool *)(to + op->offset) = value;
    else
        memcpy(to + op->offset, &value, sizeof(value));
    return b->ops + arm->target;
}

static inline const uint8_t *read_u32s(const uint8_t *from, uint8_t *to, uint32_t count)
{
    for (; count; count--, from += 4, to += 4) {
        uint32_t value = load_be32(from);

        memcpy(to, &value, 4);
    }
    return from;
}

static inline const uint8_t *read_u64s(const uint8_t *from, uint8_t *to, uint32_t count)
{
    for (; count; count--, from += 8, to += 8) {
        uint64_t value = load_be64(from);

        memcpy(to, &value, 8);
    }
    return from;
}

/* Long since it is the one loop over all operations. */
static enum walk_result read_ops(const struct bound *b, struct reader *r, uint8_t *to)
{
    const struct bind_op *op = b->ops;
    enum walk_result result;
    uint32_t value;

    for (;;) {
        uint8_t *member = to + op->offset;

        switch ((enum bind_code)op->code) {
        case BIND_DONE:
            return WALK_OK;
        case BIND_SPAN:
            if (left(r) < op->max)
                return WALK_MALFORMED;
            break;
        case BIND_U32S:
            r->at = read_u32s(r->at, member, op->count);
            break;
        case BIND_U64S:
            r->at = read_u64s(r->at, member, op->count);
            break;
        case BIND_TRUTH:
            value = load_be32(r->at);
            if (value > 1)
                return WALK_MALFORMED;
            *(bool *)member = value;
            r->at += 4;
            break;
        case BIND_OCTETS:
            memcpy(member, r->at, op->max);
            r->at += bind_padded(op->max);
            break;
        case BIND_OPAQUE:
            if (!read_opaque(op, r, (void *)member))
                return WALK_MALFORMED;
            break;
        case BIND_OPTIONAL:
            if (left(r) < 4 || (value = load_be32(r->at)) > 1)
                return WALK_MALFORMED;
            *(bool *)member = value;
            r->at += 4;
            if (value)
                break;
            op = b->ops + op->next;
            continue;
        case BIND_UNION:
            op = read_union(b, op, r, to);
            if (!op)
                return WALK_MALFORMED;
            continue;
        case BIND_JUMP:
            op = b->ops + op->next;
            continue;
        case BIND_ELEMENTS:
            result = read_list(b->elements[op->next], r, (void *)member);
            if (result != WALK_OK)
                return result;
            break;
        case BIND_ARRAY:
            result = read_array(b->elements[op->next], op, r, (void *)member);
            if (result != WALK_OK)
                return result;
            break;
        }
        op++;
    }
}

enum walk_result bind_read(const struct bound *bound, struct bytes body, void *to)
{
    struct reader r = { body.data ? body.data : bind_nothing, NULL };
    uint8_t no_struct[1];
    enum walk_result result;

    r.end = r.at + body.len;
    if (bound->struct_size)
        clear(bound, to);
    result = read_ops(bound, &r, bound->struct_size ? to : no_struct);
    return result == WALK_OK && r.at != r.end ? WALK_MALFORMED : result;
}
