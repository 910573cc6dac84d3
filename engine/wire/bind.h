/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/bind.h
 *
 * Messages as C structs.  Rows say which member of a struct holds which field of a type; bound_new
 * makes a program of them once, by the field tables, and reading and writing run that program.  The
 * tables alone say what is on the wire: rows only say where it is in C.
 *
 * A row's path is walk_path's without the type's name: "what.name", "resok.file_attributes.mode".
 * These fields have rows of their own:
 *
 *     U32, ENUM       uint32_t, or an enum           OPTIONAL   bool: whether it is there
 *     I32             int32_t                        UNION      uint32_t; or bool, if its arms are
 *     U64             uint64_t                                  those of 0 and 1
 *     BOOL            bool                           LIST,      struct bind_list, with the rows of
 *     OPAQUE, STRING  struct bytes                   ARRAY      an element, whose paths begin there
 *     FIXED           uint8_t[its length]
 *
 * Arms of a union may share members, also of one path.  Fields that can be in one message may not.
 */
#ifndef NFSDIGEST_WIRE_BIND_H
#define NFSDIGEST_WIRE_BIND_H

#include "wire/xdr_put.h"
#include "wire/walk.h"

enum { BIND_STRUCT_MAX = 1024, BIND_LISTS_MAX = 4 }; /* bytes of a struct, lists in it */

/* The type of a member. */
enum bind_member {
    BIND_IS_BOOL = 0,
    BIND_IS_U32,
    BIND_IS_I32,
    BIND_IS_U64,
    BIND_IS_FIXED,
    BIND_IS_BYTES,
    BIND_IS_LIST,
    BIND_IS_STRUCT,
};

struct bind_row {
    const char *path; /* NULL ends the rows */
    uint32_t offset, size;
    uint8_t member;              /* enum bind_member */
    const struct bind_row *rows; /* of the struct that the member is, their paths behind |path|; or
                                  * of a list's elements */
    uint32_t element_size;       /* of a list */
};

/* Rows of struct TAG are named TAG_rows.  The compiler checks that TAG has the member, and that it
 * is of a type that a row can have.
 *
 *     static const struct bind_row READ3args_rows[] = {
 *         BIND(READ3args, "file", file),
 *         BIND(READ3args, "offset", offset),
 *         BIND(READ3args, "count", count),
 *         BIND_END,
 *     };
 *     BIND_STRUCT(LOOKUP3args, "what", what, diropargs3)
 *     BIND_LIST(READDIR3res, "resok.reply.entries", entries, entry3)
 *
 * BIND_LIST_BY names the rows of the elements; with BIND_ALL the rows of the struct stand behind
 * PATH.
 */
/* clang-format off */
#define BIND(TAG, PATH, MEMBER) \
    { (PATH), offsetof(struct TAG, MEMBER), sizeof(BIND_THE(TAG, MEMBER)), \
      _Generic(&BIND_THE(TAG, MEMBER), \
               bool *: BIND_IS_BOOL, uint32_t *: BIND_IS_U32, int32_t *: BIND_IS_I32, \
               uint64_t *: BIND_IS_U64, struct bytes *: BIND_IS_BYTES, \
               uint8_t (*)[sizeof(BIND_THE(TAG, MEMBER))]: BIND_IS_FIXED), \
      NULL, 0 }
#define BIND_STRUCT(TAG, PATH, MEMBER, NESTED_TAG) \
    { (PATH), offsetof(struct TAG, MEMBER), sizeof(struct NESTED_TAG), BIND_IS_STRUCT, \
      _Generic(&BIND_THE(TAG, MEMBER), struct NESTED_TAG *: NESTED_TAG##_rows), 0 }
#define BIND_LIST(TAG, PATH, MEMBER, ELEMENT_TAG) \
    BIND_LIST_BY(TAG, PATH, MEMBER, ELEMENT_TAG, ELEMENT_TAG##_rows)
#define BIND_LIST_BY(TAG, PATH, MEMBER, ELEMENT_TAG, ROWS) \
    { (PATH), offsetof(struct TAG, MEMBER), sizeof(struct bind_list), \
      _Generic(&BIND_THE(TAG, MEMBER), struct bind_list *: BIND_IS_LIST), \
      ROWS, sizeof(struct ELEMENT_TAG) }
#define BIND_ALL(TAG, PATH) { (PATH), 0, sizeof(struct TAG), BIND_IS_STRUCT, TAG##_rows, 0 }
#define BIND_END { .path = NULL }
#define BIND_THE(TAG, MEMBER) (((struct TAG *)0)->MEMBER)
/* clang-format on */

/* A C array of element structs.  Writing: |count| of them.  Reading: there is room for |most|, and
 * |count| are read. */
struct bind_list {
    void *elements;
    uint32_t count, most;
};

struct bound;

/* The program of |type| for a struct of |struct_size| bytes.  -ERR_USAGE, with the path: a field
 * without a row, a row without a field, two rows for one field, a member of another type or length
 * than the field asks for, or one that two fields of a message share.  Keeps no pointer to the
 * rows.  NULL: |err| says why.  Memory: 16 bytes a field at most, and 8 a union's arm. */
struct bound *bound_new(const struct type *type, const struct bind_row *rows, size_t struct_size,
                        struct err *err);
void bound_free(struct bound *bound);

/* Reads a whole body into |to|, the struct that the rows are about.  All of it is zero first, but
 * for |elements| and |most| of its lists, which the caller has set; so are elements that are read
 * (and their lists kept).  struct bytes lead into |body|.
 * WALK_OK or WALK_MALFORMED, as walk() says of the same bytes; or WALK_STOPPED when a list has more
 * than |most| elements: what follows them was not looked at.  Unless it is WALK_OK, |to| has what
 * was read until then. */
enum walk_result bind_read(const struct bound *bound, struct bytes body, void *to);

/* Writes |from| behind what is in |to|.  0, or xdr_put_end's code for |to->problem|.  XDR_PUT_BAD:
 * a discriminant without an arm, bytes or an array above their bound.  Members of other arms, and
 * what a false bool says is not there, are not looked at. */
int bind_write(const struct bound *bound, struct xdr_put *to, const void *from);

/* How many bytes bind_write would write, if all can be written. */
size_t bind_size(const struct bound *bound, const void *from);

#endif
