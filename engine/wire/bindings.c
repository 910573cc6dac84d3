/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/bindings.h"

#include "wire/programs.h"

#include <stdlib.h>

int bind_type(const struct type *type, const struct bind_structs *from, const struct bound **to,
              size_t *size, struct err *err)
{
    static const struct bind_row no_rows[] = { BIND_END };
    static const struct bind_struct nothing = { "void", no_rows, 0 };
    const struct bind_struct *found = type == &wire_void ? &nothing : NULL;

    for (size_t i = 0; i < from->count && !found; i++)
        if (strcmp(from->structs[i].type, type->name) == 0)
            found = &from->structs[i];
    if (!found)
        return 0;
    *to = bound_new(type, found->rows, found->size, err);
    *size = found->size;
    return *to ? 0 : -err->code;
}

static int bind_procedure(const struct procedure *p, const struct bind_structs *from,
                          struct wire_binding *to, struct err *err)
{
    int result;

    if (!p->name)
        return 0;
    result = bind_type(p->arguments, from, &to->arguments, &to->arguments_size, err);
    if (result == 0)
        result = bind_type(p->result, from, &to->result, &to->result_size, err);
    return result;
}

int bindings_make(struct bindings *to, const struct bind_structs *from, struct err *err)
{
    uint32_t count = from->program->procedure_count;
    int result = 0;

    if (to->of)
        return 0;
    wire_init();
    to->of = calloc(count, sizeof(*to->of));
    if (!to->of)
        return err_memory(err, from->program->name);
    to->count = count;
    for (uint32_t i = 0; result == 0 && i < count; i++)
        result = bind_procedure(&from->program->procedures[i], from, &to->of[i], err);
    if (result < 0)
        bindings_free(to);
    return result;
}

void bindings_free(struct bindings *bindings)
{
    for (uint32_t i = 0; i < bindings->count; i++) {
        bound_free((struct bound *)bindings->of[i].arguments);
        bound_free((struct bound *)bindings->of[i].result);
    }
    free(bindings->of);
    *bindings = (struct bindings){ 0 };
}
