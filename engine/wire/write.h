/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/write.h
 *
 * The reverse of the walker (walk.h): writes arguments or results of any procedure by its tables.
 * It gets each value, in the order of the message, from a filler or from a list of named values.
 * walk() reads what it writes to the same values.  If a value exceeds a bound of the tables, an
 * error names the field.  It is iterative, and allocates nothing but the buffer, which |max| of
 * xdr_put.h bounds.
 */
#ifndef NFSDIGEST_WIRE_WRITE_H
#define NFSDIGEST_WIRE_WRITE_H

#include "wire/xdr_put.h"
#include "wire/walk.h"

/* A value that the filler must give. */
struct fill {
    const struct field *field;
    const struct walk *walk; /* for the path: walk_path(walk, field, ...) */
    uint32_t index;          /* of the innermost list or array element, from 0 */
    /* The answer; zeros before the call: */
    uint64_t value; /* numbers (I32 sign-extended), booleans, discriminants; OPTIONAL: 1 if it is
                     * there; LIST: 1 if there is one more element; ARRAY: how many there are */
    struct bytes bytes; /* FIXED, OPAQUE, STRING.  NULL with a length: that many zeros; FIXED
                         * without a length: all zeros */
};

struct filler {
    /* Called for each leaf, and for the discriminant, boolean or count of each UNION, OPTIONAL,
     * LIST and ARRAY: like a visitor without roles, but not for |whole| structures.  Returns 0, or
     * a negative code with a message in a struct err that |ctx| leads to. */
    int (*fill)(void *ctx, struct fill *fill);
    void *ctx;
};

/* Appends a |type| to |to|.  With |elided|, writes only the lengths of CLASS_DATA fields, as
 * records keep them.  Returns 0, what the filler returned, or what xdr_put_end returns.  Returns
 * -ERR_USAGE, with the path of the field, if a value is not allowed.  Bytes written before an error
 * stay. */
int write_body(struct xdr_put *to, const struct type *type, bool elided,
               const struct filler *filler, struct err *err);

/* A value and its path.  The path leaves out the type's name, and counts elements from 0:
 *
 *     { "what.name", .bytes = name }, { "new_attributes.mode.set_it", 1 },
 *     { "resok.reply.entries[0].fileid", 42 },
 *
 * OPTIONAL, LIST, ARRAY and UNION are named like other fields: "obj_attributes" with the value 1 is
 * present, "entries[0]" with the value 1 is an element. */
struct named_value {
    const char *name;
    uint64_t value;
    struct bytes bytes;
};

enum { NAMED_VALUES_MAX = 64 };

/* Writes a body with the |count| <= NAMED_VALUES_MAX values.  A number, string or opaque without a
 * value is an error, and so is a value that no field uses.  Booleans, OPTIONAL, LIST, ARRAY and
 * UNION without a value are 0.  Searches the list for each field, so use it only for requests made
 * by hand. */
int write_named(struct xdr_put *to, const struct type *type, const struct named_value *values,
                size_t count, struct err *err);

#endif
