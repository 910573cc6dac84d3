/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/list.h"

static bool add_fields(struct list_form *form, const struct type *type);

static struct list_part *add(struct list_form *form, enum list_kind kind, uint32_t size,
                             const struct field *field)
{
    struct list_part *part;

    if (form->count == LIST_PARTS)
        return NULL;
    part = &form->parts[form->count++];
    *part = (struct list_part){ .kind = (uint8_t)kind, .size = size, .field = field };
    return part;
}

/* A structure in place, as one part if it can be passed over. */
static bool add_struct(struct list_form *form, const struct field *field)
{
    const struct type *type = field->sub;

    return type->plain ? add(form, LIST_FIXED, (uint32_t)type->fixed_size, field) != NULL
                       : add_fields(form, type);
}

static bool add_optional(struct list_form *form, const struct field *field)
{
    struct list_part *choice = add(form, LIST_CHOICE, 0, field);
    uint32_t count = form->count;

    if (!choice || !add_struct(form, field))
        return false;
    choice->skip = (uint8_t)(form->count - count);
    return true;
}

static bool add_field(struct list_form *form, const struct field *field)
{
    switch ((enum xdr_kind)field->kind) {
    case XDR_U32:
    case XDR_I32:
    case XDR_ENUM:
        return add(form, LIST_FIXED, 4, field);
    case XDR_U64:
        return add(form, LIST_FIXED, 8, field);
    case XDR_FIXED:
        return add(form, LIST_FIXED, (field->max + 3) & ~3u, field);
    case XDR_OPAQUE:
    case XDR_STRING:
        return field->cls != CLASS_DATA && add(form, LIST_BYTES, field->max, field);
    case XDR_STRUCT:
        return add_struct(form, field);
    case XDR_OPTIONAL:
        return add_optional(form, field);
    case XDR_END:
    case XDR_BOOL:
    case XDR_LIST:
    case XDR_ARRAY:
    case XDR_UNION:
        break;
    }
    return false;
}

/* Recursion over our own tables, which have no cycles (program.c). */
static bool add_fields(struct list_form *form, const struct type *type)
{
    for (const struct field *field = type->fields; field->kind != XDR_END; field++)
        if (!add_field(form, field))
            return false;
    return true;
}

bool list_form(struct list_form *form, const struct type *element)
{
    form->count = 0;
    return add_fields(form, element);
}

const uint8_t *list_element(const struct list_form *form, const uint8_t *at, const uint8_t *end,
                            struct bytes pieces[LIST_PARTS])
{
    for (uint32_t i = 0; i < form->count; i++) {
        const struct list_part *part = &form->parts[i];
        uint64_t len = part->size;

        if (part->kind != LIST_FIXED) {
            if (end - at < 4)
                return NULL;
            len = load_be32(at);
            at += 4;
        }
        if (part->kind == LIST_CHOICE) {
            if (len > 1)
                return NULL;
            for (uint32_t left = len ? 0 : part->skip; left; left--)
                pieces[++i] = (struct bytes){ 0 };
            continue;
        }
        if ((part->kind == LIST_BYTES && part->size && len > part->size) ||
            (uint64_t)(end - at) < ((len + 3) & ~UINT64_C(3)))
            return NULL;
        pieces[i] = (struct bytes){ at, (uint32_t)len };
        at += (len + 3) & ~UINT64_C(3);
    }
    return at;
}
