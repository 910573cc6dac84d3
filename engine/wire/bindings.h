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

/* The binding of one procedure.  void has the size 0, and bind_read, bind_write and bind_size take
 * NULL for it.  A NULL pointer: there is no struct for it. */
struct wire_binding {
    size_t arguments_size, result_size;
    const struct bound *arguments, *result;
};

/* The bindings of one program.  All zeros: not made. */
struct bindings {
    struct wire_binding *of; /* by procedure */
    uint32_t count;
};

/* The structs of some types of a program. */
struct bind_structs {
    const struct program *program;
    const struct bind_struct *structs;
    size_t count;
};

/* Binds all types that are void or have a struct.  Does nothing if |to| has been made before.
 * Returns 0, or bound_new's error; then |to| is all zeros. */
int bindings_make(struct bindings *to, const struct bind_structs *from, struct err *err);
void bindings_free(struct bindings *bindings);

/* Binds one type, if there is a struct for it. */
int bind_type(const struct type *type, const struct bind_structs *from, const struct bound **to,
              size_t *size, struct err *err);

/* Returns NULL if there is no such procedure, or if the bindings have not been made. */
static inline const struct wire_binding *bindings_find(const struct bindings *bindings,
                                                       uint32_t procedure)
{
    return procedure < bindings->count ? &bindings->of[procedure] : NULL;
}

#endif
