/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/bind_rows_parts.h
 *
 * The rows of a struct while bound_new makes its program (bind_new.c): found by path, each member
 * checked (bind_rows.c).
 */
#ifndef NFSDIGEST_WIRE_BIND_ROWS_PARTS_H
#define NFSDIGEST_WIRE_BIND_ROWS_PARTS_H

#include "wire/bind.h"

/* The row of a field, after nested structs were taken apart. */
struct bind_leaf {
    const struct bind_row *row;
    uint32_t offset;
    bool used;
    char path[WALK_PATH_MAX];
};

/* The bytes of the struct that fields of one message use. */
struct bind_taken {
    uint64_t bits[BIND_STRUCT_MAX / 64];
};

struct bind_rows {
    const struct type *type;
    struct bind_leaf *leaves; /* to be freed */
    uint32_t count, cap;
    struct bind_taken taken;
    char path[WALK_PATH_MAX]; /* of the present field */
    struct err *err;
};

/* Reports |problem| with |path|.  Returns -ERR_USAGE. */
int bind_refuse(struct bind_rows *rows, const char *path, const char *problem);

/* Replaces everything behind the first |len| characters of the path by |name|. */
int bind_go(struct bind_rows *rows, int len, const char *name);

/* Takes the rows of a struct of |size| bytes apart. */
int bind_add_rows(struct bind_rows *rows, const struct bind_row *row, size_t size);

/* Finds the row of the present field.  Its member must be a |member| of |size| bytes.  Marks these
 * bytes as used. */
int bind_find(struct bind_rows *rows, enum bind_member member, uint32_t size,
              const struct bind_leaf **to);

/* Returns an error if there is a row without a field. */
int bind_check_used(struct bind_rows *rows);

#endif
