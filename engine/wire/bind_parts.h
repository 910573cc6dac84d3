/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/bind_parts.h
 *
 * The program that bound_new makes (bind_new.c) and that bind_read.c and bind_write.c run.
 */
#ifndef NFSDIGEST_WIRE_BIND_PARTS_H
#define NFSDIGEST_WIRE_BIND_PARTS_H

#include "wire/bind.h"

enum bind_code {
    BIND_DONE = 0,
    BIND_SPAN,     /* checks that |max| bytes are there, for the operations before |next|; these
                    * are of the four kinds below, which check no length themselves */
    BIND_U32S,     /* |count| numbers, side by side in the struct, too */
    BIND_U64S,     /* */
    BIND_TRUTH,    /* a BOOL */
    BIND_OCTETS,   /* |max| bytes, padded */
    BIND_OPAQUE,   /* a length of at most |max|, and padded bytes */
    BIND_OPTIONAL, /* a BOOL; goes to |next| if it is false */
    BIND_UNION,    /* goes to the target of its case, one of |count| cases from |next| */
    BIND_JUMP,     /* goes to |next| */
    BIND_ELEMENTS, /* a LIST of elements |next| */
    BIND_ARRAY,    /* an ARRAY of at most |max| elements |next| */
};

struct bind_op {
    uint8_t code;  /* enum bind_code */
    bool is_truth; /* the discriminant's member is a bool */
    uint16_t count;
    uint32_t offset; /* of the member in the struct */
    uint32_t max, next;
};

/* An arm.  The one for all other values comes last. */
struct bind_case {
    uint32_t value;
    uint32_t target : 31, is_default : 1;
};

struct bound {
    const char *name; /* of the type */
    uint32_t struct_size;
    uint32_t op_count, op_cap, case_count, case_cap, element_count, element_cap, list_count;
    struct bind_op *ops;
    struct bind_case *cases;
    struct bound **elements;        /* of its lists and arrays */
    uint32_t lists[BIND_LISTS_MAX]; /* where they are in the struct */
};

/* Stands for an empty byte string, and for the struct of void. */
static const uint8_t bind_nothing[1];

static inline size_t bind_padded(uint32_t len)
{
    return ((size_t)len + 3) & ~(size_t)3;
}

/* Returns the case of a value, or NULL if no arm has it. */
static inline const struct bind_case *bind_find_case(const struct bound *b,
                                                     const struct bind_op *op, uint32_t value)
{
    const struct bind_case *at = b->cases + op->next, *end = at + op->count;

    for (; at < end; at++)
        if (at->value == value || at->is_default)
            return at;
    return NULL;
}

#endif
