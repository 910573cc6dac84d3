/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/bind_rows_parts.h
 *
 * The rows of a struct while bound_new makes its program (bind_new.c): found by path, each member
 * checked (bind_rows.c).
 */
#ifndef NFSDIGEST_WIRE_BIND_ROWS_PARTS_H
#define NFSDIGEST_WIRE_BIND_ROWS_PARTS_H

#include "wire/bind.h"

/* A row of a field, where nested structs are dissolved. */
struct bind_leaf {
    const struct bind_row *row;
    uint32_t offset;
    bool used;
    char path[WALK_PATH_MAX];
};

/* Bytes of the struct that fields of one message have taken. */
struct bind_taken {
    uint64_t bits[BIND_STRUCT_MAX / 64];
};

struct bind_rows {
    const struct type *type;
    struct bind_leaf *leaves; /* to be freed */
    uint32_t count, cap;
    struct bind_taken taken;
    char path[WALK_PATH_MAX]; /* where we are */
    struct err *err;
};

/* An -ERR_USAGE about |path|. */
int bind_refuse(struct bind_rows *rows, const char *path, const char *problem);

/* Goes to |name| behind the first |len| characters of the path. */
int bind_go(struct bind_rows *rows, int len, const char *name);

/* Takes the rows of a struct of |size| bytes apart. */
int bind_add_rows(struct bind_rows *rows, const struct bind_row *row, size_t size);

/* The row of the field where we are, whose member must be a |member| of |size| bytes, and takes
 * these. */
int bind_find(struct bind_rows *rows, enum bind_member member, uint32_t size,
              const struct bind_leaf **to);

/* An error if a row has not been found by any field. */
int bind_check_used(struct bind_rows *rows);

#endif
