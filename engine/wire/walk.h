/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/walk.h
 *
 * Runs a type over the XDR bytes of one message body and calls a visitor for each
 * field.  Iterative: its depth is that of the tables, bounded by WALK_DEPTH_MAX at wire_init.
 * Every length is checked before use; it stops at the first violation and says where.
 */
#ifndef NFSDIGEST_WIRE_WALK_H
#define NFSDIGEST_WIRE_WALK_H

#include "base/err.h"
#include "wire/field.h"

#include <stddef.h>

enum { WALK_DEPTH_MAX = 16, WALK_PATH_MAX = 192 };

enum walk_result {
    WALK_OK = 0,
    WALK_TRUNCATED = 1, /* ran past the captured bytes, but not past the message */
    WALK_MALFORMED = 2, /* violates the table, or bytes are left over */
    WALK_STOPPED = 3,   /* the visitor said so */
};

struct walk_frame;

/* The field that a visitor is called for. */
struct visit {
    const struct field *field;
    const uint8_t *data; /* of the value: after the length word of OPAQUE and STRING */
    uint32_t len;        /* bytes at |data| without padding; captured ones only when |cut| */
    uint32_t full_len;   /* what the message says */
    uint32_t offset;     /* of |data| in the body as it was on the wire */
    uint64_t value;      /* numbers (I32 with its sign extended), booleans, discriminants, and
                          * counts of arrays */
    uint32_t index;      /* of the innermost list or array element, from 0 */
    bool cut;            /* only a part of this OPAQUE or STRING was captured; the walk then ends
                          * with WALK_TRUNCATED */
    bool whole;          /* not a leaf: a structure whose fields follow; see struct visitor */
    const struct walk *walk;
};

/* A walk visits, in the order of the message:
 * - every leaf; the discriminant of every UNION; the boolean of every OPTIONAL; the booleans of
 *   every LIST, before each element and at the end (|index| counts them); the count of every ARRAY.
 *   For all but leaves, |data| points to the 4 bytes, and |len| is 4.
 * - with |whole|, before its fields: each STRUCT field that has a role, and the structure in each
 *   present OPTIONAL field that has a ROLE_ATTRIBUTES role (any of the five) or ROLE_BEFORE.
 *   |field| is the STRUCT or OPTIONAL field, |data| the structure's start.  A structure of fixed
 *   size has that size in |len|, and is visited only if all of it was captured.  Another structure
 *   has |len| 0.
 * A bad value (boolean neither 0 nor 1, discriminant without an arm, length above its bound) is not
 * visited: the walk ends before it. */
struct visitor {
    /* Returns 0 to go on.  Any other value ends the walk with WALK_STOPPED. */
    int (*visit)(void *ctx, const struct visit *visit);
    void *ctx;
    /* 0: visit everything above.  Else visit only fields with one of these roles.  For OPTIONAL
     * fields with a ROLE_ATTRIBUTES role, this is only the structure, not the boolean: a visitor
     * with ROLE_ATTRIBUTES_PARENT sees the 84 bytes of a fattr3, or nothing.  Structures of fixed
     * size without such a role inside are passed over in one step.  The walk's result is the same.
     */
    uint32_t roles;
};

struct walk_step {
    const struct field *field; /* the place of the walk in this level */
    const struct field *list;  /* LIST or ARRAY that repeats this level, or NULL */
    const struct type *type;
    const char *arm; /* name of the union arm that led here, or NULL */
    uint32_t left;   /* elements of an ARRAY still to come */
    uint32_t index;
};

/* One walk; on the caller's stack. Read-only for visitors. */
struct walk {
    struct walk_step steps[WALK_DEPTH_MAX];
    uint32_t depth;
    uint32_t offset; /* on the wire: of the next byte, of the violation, or where capture ended */
    const struct type *root;
    const char
        *problem; /* static text when WALK_MALFORMED, e.g. "length passes the message's end" */
    bool surplus; /* WALK_MALFORMED only because bytes are left over */
};

/* Walks |type| over the |cap_len| captured bytes of a body that was |wire_len| >= cap_len long.
 * With |elided|, |data| has the length words of CLASS_DATA fields, but not their bytes and padding.
 * Records keep bodies in this form.  These fields are visited with their |full_len|, and |len| 0.
 * |visitor| may be NULL: then the walk only checks.
 *
 * Each value is judged by itself: one that passes |wire_len| is malformed, one that passes
 * |cap_len| only is truncated; the first such value ends the walk.  Padding bytes must be there,
 * with any value.  Bytes behind the type's end are malformed ("bytes are left over") after all of
 * it was visited, whether they were captured or not. */
enum walk_result walk(struct walk *walk, const struct type *type, const uint8_t *data,
                      uint32_t cap_len, uint32_t wire_len, bool elided,
                      const struct visitor *visitor);

/* Writes the dotted path of the field being visited into |text|: "READ3res.resok.eof".  After a
 * walk, with |field| NULL, it is the path of the field where the walk ended.  Elements of lists
 * have no index in it.  Returns |text|. */
const char *walk_path(const struct walk *walk, const struct field *field, char text[WALK_PATH_MAX]);

#endif
