/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/bindings.h
 *
 * The bound structs (bind.h) of a program's procedures, found by the names of their types: the
 * struct of the type READ3args is called that, too, unless the list says otherwise.
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
#define BIND_STRUCT_OF(TYPE, TAG) { TYPE, TAG##_rows, sizeof(struct TAG) }
/* clang-format on */

/* Of one procedure.  The size 0 goes with what is void, for which bind_read and bind_write take
 * NULL.  NULL: the procedure is not bound. */
struct binding {
    size_t arguments_size, result_size;
    const struct bound *arguments, *result;
};

/* Binds the procedures of |program| whose types are among the |count| |structs| or are void.  |to|
 * has room for all of its procedures.  0, or bound_new's error, and then nothing is bound. */
int bindings_make(const struct program *program, const struct bind_struct *structs, size_t count,
                  struct binding *to, struct err *err);
/* Binds one type, if there is a struct for it. */
int bind_type(const struct type *type, const struct bind_struct *structs, size_t count,
              const struct bound **to, size_t *size, struct err *err);
void bindings_free(struct binding *bindings, size_t count);

#endif
