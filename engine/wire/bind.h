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

/* A C array of element structs.  bind_write writes |count| of them.  For bind_read there is room
 * for |most|; it sets |count|. */
struct bind_list {
    void *elements;
    uint32_t count, most;
};

struct bound;

/* Makes the program of |type| for a struct of |struct_size| bytes.  Keeps no pointer to the rows.
 * Returns NULL with |err| filled on failure.  It is an ERR_USAGE, with the path, for a field
 * without a row, a row without a field, two rows for one field, a member whose type or length does
 * not fit the field, or a member that two fields of a message share.  Memory: at most 16 bytes for
 * each field, and 8 for each arm of a union. */
struct bound *bound_new(const struct type *type, const struct bind_row *rows, size_t struct_size,
                        struct err *err);
void bound_free(struct bound *bound);

/* Reads a whole body into |to|, a struct of the rows.  Sets it to zeros first, except |elements|
 * and |most| of its lists, which the caller has set.  Does the same with each element that it
 * reads. Each struct bytes points into |body|.  Returns WALK_OK or WALK_MALFORMED, as walk() does
 * for the same bytes.  Returns WALK_STOPPED if a list has more than |most| elements; the rest is
 * then not checked.  If the result is not WALK_OK, |to| has the values read before. */
enum walk_result bind_read(const struct bound *bound, struct bytes body, void *to);

/* Appends |from| to |to|.  Returns 0, or xdr_put_end's code for |to->problem|.  This is XDR_PUT_BAD
 * for a discriminant without an arm, and for bytes or an array above their bound.  Ignores members
 * of other arms, and those of optional values that are absent. */
int bind_write(const struct bound *bound, struct xdr_put *to, const void *from);

/* Returns how many bytes bind_write would write, if it succeeds. */
size_t bind_size(const struct bound *bound, const void *from);

#endif
