/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/bindings.h
 *
 * The bound structs (bind.h) of a program's procedures, found by the names of their types.
 */
#ifndef NFSDIGEST_WIRE_BINDINGS_H
#define NFSDIGEST_WIRE_BINDINGS_H

#include "wire/bind.h"

/* The struct of a type. */
struct bind_struct {
    const char *type; /* its name */
    const struct bind_row *rows;
    size_t size;
};
/* clang-format off */
#define BIND_STRUCT_OF(TYPE, TAG) BIND_STRUCT_BY(TYPE, TAG, TAG##_rows)
#define BIND_STRUCT_BY(TYPE, TAG, ROWS) { TYPE, ROWS, sizeof(struct TAG) }
/* clang-format on */

/* Of one procedure.  The size 0 goes with what is void, for which bind_read, bind_write and
 * bind_size take NULL.  NULL: there is no struct. */
struct wire_binding {
    size_t arguments_size, result_size;
    const struct bound *arguments, *result;
};

/* Of one program.  All zeros: none. */
struct bindings {
    struct wire_binding *of; /* by procedure */
    uint32_t count;
};

/* The |count| |structs| of some of a program's types. */
struct bind_structs {
    const struct program *program;
    const struct bind_struct *structs;
    size_t count;
};

/* Binds what is among the structs or void; nothing, when |to| has been made before.  0, or
 * bound_new's error, and then |to| is all zeros. */
int bindings_make(struct bindings *to, const struct bind_structs *from, struct err *err);
void bindings_free(struct bindings *bindings);

/* Binds one type, if there is a struct for it. */
int bind_type(const struct type *type, const struct bind_structs *from, const struct bound **to,
              size_t *size, struct err *err);

/* NULL: there is no such procedure, or the bindings have not been made. */
static inline const struct wire_binding *bindings_find(const struct bindings *bindings,
                                                       uint32_t procedure)
{
    return procedure < bindings->count ? &bindings->of[procedure] : NULL;
}

#endif
