/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/bindings.h"

#include "wire/programs.h"

int bind_type(const struct type *type, const struct bind_struct *structs, size_t count,
              const struct bound **to, size_t *size, struct err *err)
{
    static const struct bind_row no_rows[] = { BIND_END };
    static const struct bind_struct nothing = { "void", no_rows, 0 };
    const struct bind_struct *found = type == &wire_void ? &nothing : NULL;

    for (size_t i = 0; i < count && !found; i++)
        if (strcmp(structs[i].type, type->name) == 0)
            found = &structs[i];
    if (!found)
        return 0;
    *to = bound_new(type, found->rows, found->size, err);
    *size = found->size;
    return *to ? 0 : -err->code;
}

int bindings_make(const struct program *program, const struct bind_struct *structs, size_t count,
                  struct binding *to, struct err *err)
{
    int result = 0;

    wire_init();
    memset(to, 0, program->procedure_count * sizeof(*to));
    for (uint32_t i = 0; result == 0 && i < program->procedure_count; i++) {
        const struct procedure *p = &program->procedures[i];

        if (!p->name)
            continue;
        result =
            bind_type(p->arguments, structs, count, &to[i].arguments, &to[i].arguments_size, err);
        if (result == 0)
            result = bind_type(p->result, structs, count, &to[i].result, &to[i].result_size, err);
    }
    if (result < 0)
        bindings_free(to, program->procedure_count);
    return result;
}

void bindings_free(struct binding *bindings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bound_free((struct bound *)bindings[i].arguments);
        bound_free((struct bound *)bindings[i].result);
        bindings[i] = (struct binding){ 0 };
    }
}
