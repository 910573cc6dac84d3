/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/bind_write.c
 *
 * Runs the programs of bound structs to write messages, or to find their lengths.  Contract:
 * bind.h; bind_new.c makes the programs.
 *
 * Elements of a list are written by recursion.  Its depth is that of lists in the tables (two).
 */
#include "wire/bind_parts.h"

static inline uint32_t discriminant(const struct bind_op *op, const void *member)
{
    uint32_t value;

    if (op->is_truth)
        return *(const bool *)member;
    memcpy(&value, member, sizeof(value));
    return value;
}

static void write_ops(const struct bound *b, struct xdr_put *p, const uint8_t *from);

static inline bool can_list(const struct bind_op *op, const struct bind_list *list)
{
    return !list->count || (list->elements && (op->code != BIND_ARRAY || list->count <= op->max));
}

static void write_list(const struct bound *b, const struct bind_op *op, struct xdr_put *p,
                       const struct bind_list *list)
{
    const uint8_t *element = list->elements;

    if (!can_list(op, list)) {
        xdr_put_fail(p, XDR_PUT_BAD);
        return;
    }
    if (op->code == BIND_ARRAY)
        xdr_put_u32(p, list->count);
    for (uint32_t i = 0; i < list->count && !p->problem; i++, element += b->struct_size) {
        if (op->code == BIND_ELEMENTS)
            xdr_put_u32(p, 1);
        write_ops(b, p, element);
    }
    if (op->code == BIND_ELEMENTS)
        xdr_put_u32(p, 0);
}

static inline void write_opaque(const struct bind_op *op, struct xdr_put *p,
                                const struct bytes *value)
{
    size_t whole = bind_padded(value->len);
    uint8_t *at;

    if (value->len > op->max) {
        xdr_put_fail(p, XDR_PUT_BAD);
        return;
    }
    at = xdr_put_room(p, 4 + whole);
    if (!at)
        return;
    store_be32(at, value->len);
    if (!value->len)
        return;
    store_be32(at + whole, 0); /* its last word: the padding, before the bytes */
    if (value->data)
        memcpy(at + 4, value->data, value->len);
    else
        memset(at + 4, 0, value->len);
}

static inline uint8_t *write_u32s(uint8_t *to, const uint8_t *from, uint32_t count)
{
    for (; count; count--, from += 4, to += 4) {
        uint32_t value;

        memcpy(&value, from, 4);
        store_be32(to, value);
    }
    return to;
}

static inline uint8_t *write_u64s(uint8_t *to, const uint8_t *from, uint32_t count)
{
    for (; count; count--, from += 8, to += 8) {
        uint64_t value;

        memcpy(&value, from, 8);
        store_be64(to, value);
    }
    return to;
}

static inline uint8_t *write_octets(uint8_t *to, const uint8_t *from, uint32_t len)
{
    memcpy(to, from, len);
    memset(to + len, 0, bind_padded(len) - len);
    return to + bind_padded(len);
}

/* Long since it is the one loop over all operations.  |at| is where a span goes on. */
static void write_ops(const struct bound *b, struct xdr_put *p, const uint8_t *from)
{
    const struct bind_op *op = b->ops;
    const struct bind_case *arm;
    uint8_t *at = NULL;

    for (;;) {
        const uint8_t *member = from + op->offset;

        switch ((enum bind_code)op->code) {
        case BIND_DONE:
            return;
        case BIND_SPAN:
            at = xdr_put_room(p, op->max);
            if (!at)
                return;
            break;
        case BIND_U32S:
            at = write_u32s(at, member, op->count);
            break;
        case BIND_U64S:
            at = write_u64s(at, member, op->count);
            break;
        case BIND_TRUTH:
            store_be32(at, *(const bool *)member);
            at += 4;
            break;
        case BIND_OCTETS:
            at = write_octets(at, member, op->max);
            break;
        case BIND_OPAQUE:
            write_opaque(op, p, (const void *)member);
            break;
        case BIND_OPTIONAL:
            xdr_put_u32(p, *(const bool *)member);
            if (*(const bool *)member)
                break;
            op = b->ops + op->next;
            continue;
        case BIND_UNION:
            arm = bind_find_case(b, op, discriminant(op, member));
            if (!arm) {
                xdr_put_fail(p, XDR_PUT_BAD);
                return;
            }
            xdr_put_u32(p, discriminant(op, member));
            op = b->ops + arm->target;
            continue;
        case BIND_JUMP:
            op = b->ops + op->next;
            continue;
        case BIND_ELEMENTS:
        case BIND_ARRAY:
            write_list(b->elements[op->next], op, p, (const void *)member);
            break;
        }
        op++;
    }
}

int bind_write(const struct bound *bound, struct xdr_put *to, const void *from)
{
    write_ops(bound, to, bound->struct_size ? from : bind_nothing);
    return to->problem ? xdr_put_end(to, bound->name, NULL) : 0;
}

/* --- lengths */

static size_t list_size(const struct bound *b, const struct bind_op *op,
                        const struct bind_list *list)
{
    size_t size = 4 + (op->code == BIND_ELEMENTS ? 4 * (size_t)list->count : 0);
    const uint8_t *element = list->elements;

    if (!can_list(op, list))
        return 4;
    for (uint32_t i = 0; i < list->count; i++, element += b->struct_size)
        size += bind_size(b, element);
    return size;
}

size_t bind_size(const struct bound *b, const void *from)
{
    const struct bind_op *op = b->ops;
    const struct bind_case *arm;
    size_t size = 0;

    if (!b->struct_size)
        from = bind_nothing;
    for (;;) {
        const void *member = (const uint8_t *)from + op->offset;

        switch ((enum bind_code)op->code) {
        case BIND_DONE:
            return size;
        case BIND_SPAN:
            size += op->max;
            op = b->ops + op->next;
            continue;
        case BIND_U32S:
        case BIND_U64S:
        case BIND_TRUTH:
        case BIND_OCTETS:
            break;
        case BIND_OPAQUE:
            size += 4 + bind_padded(((const struct bytes *)member)->len);
            break;
        case BIND_OPTIONAL:
            size += 4;
            if (*(const bool *)member)
                break;
            op = b->ops + op->next;
            continue;
        case BIND_UNION:
            size += 4;
            arm = bind_find_case(b, op, discriminant(op, member));
            if (!arm)
                return size;
            op = b->ops + arm->target;
            continue;
        case BIND_JUMP:
            op = b->ops + op->next;
            continue;
        case BIND_ELEMENTS:
        case BIND_ARRAY:
            size += list_size(b->elements[op->next], op, member);
            break;
        }
        op++;
    }
}
