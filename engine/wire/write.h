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

/* A value that is asked for. */
struct fill {
    const struct field *field;
    const struct walk *walk; /* where: walk_path(walk, field, ...) */
    uint32_t index;          /* of the innermost list or array element, from 0 */
    /* The answer, zeros before: */
    uint64_t value; /* numbers (I32 sign-extended), booleans, discriminants; OPTIONAL: 1 if it is
                     * there; LIST: 1 if there is one more element; ARRAY: how many there are */
    struct bytes bytes; /* FIXED, OPAQUE, STRING.  NULL with a length: that many zeros; FIXED
                         * without a length: all zeros */
};

struct filler {
    /* Called for each leaf, and for the discriminant, boolean or count of each UNION, OPTIONAL,
     * LIST and ARRAY: what a visitor without roles sees, but for |whole| structures.  Returns 0 or
     * a negative code with the message in the struct err that it was made with. */
    int (*fill)(void *ctx, struct fill *fill);
    void *ctx;
};

/* Writes |type| behind what is in |to|.  With |elided|, of CLASS_DATA fields the length alone, as
 * records keep them.  Returns 0; what the filler returned; or -ERR_USAGE, with the path of the
 * field, for a value that it cannot have; or xdr_put_end's.  What was written until then stays. */
int write_body(struct xdr_put *to, const struct type *type, bool elided,
               const struct filler *filler, struct err *err);

/* A value by its path without the type's name in front, elements counted from 0:
 *
 *     { "what.name", .bytes = name }, { "new_attributes.mode.set_it", 1 },
 *     { "resok.reply.entries[0].fileid", 42 },
 *
 * where OPTIONAL, LIST, ARRAY and UNION are named like other fields: "obj_attributes" of 1 is
 * there, "entries[0]" of 1 is an element. */
struct named_value {
    const char *name;
    uint64_t value;
    struct bytes bytes;
};

enum { NAMED_VALUES_MAX = 64 };

/* write_body with the |count| <= NAMED_VALUES_MAX values.  A number, string or opaque without a
 * value is an error, and so is a value that nothing asked for; booleans, OPTIONAL, LIST, ARRAY and
 * UNION without one are 0.  Searches the list for each field: for requests made by hand. */
int write_named(struct xdr_put *to, const struct type *type, const struct named_value *values,
                size_t count, struct err *err);

#endif
