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

/* What a visitor sees. */
struct visit {
    const struct field *field;
    const uint8_t *data; /* of the value: after the length word of OPAQUE and STRING */
    uint32_t len;        /* bytes at |data| without padding; captured ones only when |cut| */
    uint32_t full_len;   /* what the message says */
    uint32_t offset;     /* of |data| in the body */
    uint64_t value;      /* numbers, booleans, discriminants, and counts of arrays */
    uint32_t index;      /* of the innermost list or array element, from 0 */
    bool cut;            /* OPAQUE or STRING of which only a part was captured (the walk then
                          * ends with WALK_TRUNCATED) */
    const struct walk *walk;
};

struct visitor {
    /* Called for every leaf, for the discriminant of every UNION, and for OPTIONAL, LIST (each
     * boolean) and ARRAY (its count); also once for each STRUCT that has a role, before its fields,
     * with data at its start and len 0 unless the struct is of fixed size. Returns 0 to go on, else
     * the walk ends with WALK_STOPPED. */
    int (*visit)(void *ctx, const struct visit *visit);
    void *ctx;
    /* Only fields with one of these roles are shown, and types of fixed size that have none are
     * passed over at once.  0: all fields. */
    uint32_t roles;
};

struct walk_step {
    const struct field *field; /* where this level stands */
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
    uint32_t offset; /* of the next byte, or of the violation */
    const struct type *root;
    const char
        *problem; /* static text when WALK_MALFORMED, e.g. "length passes the message's end" */
};

/* Walks |type| over the |cap_len| captured bytes of a body that was |wire_len| >= cap_len long.
 * With |elided|, the bytes of CLASS_DATA fields are not in |data| at all (but their length word
 * is): the form in which records keep bodies.  |visitor| may be NULL: then it only checks. */
enum walk_result walk(struct walk *walk, const struct type *type, const uint8_t *data,
                      uint32_t cap_len, uint32_t wire_len, bool elided,
                      const struct visitor *visitor);

/* The dotted path of the field being visited, or of the violation: "READ3res.resok.eof".
 * Elements of lists have no index in it.  Returns |text|. */
const char *walk_path(const struct walk *walk, const struct field *field, char text[WALK_PATH_MAX]);

#endif
