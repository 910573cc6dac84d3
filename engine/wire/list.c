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
    form->repeats = false;
    if (!add_fields(form, element))
        return false;
    form->varies = 0;
    while (form->varies < form->count && form->parts[form->varies].kind == LIST_FIXED)
        form->varies++;
    if (form->varies == form->count || form->parts[form->varies].kind != LIST_BYTES)
        form->varies = LIST_PARTS;
    return true;
}

static inline uint64_t padded(uint64_t len)
{
    return (len + 3) & ~UINT64_C(3);
}

static inline bool is_above_bound(const struct list_part *part, uint32_t len)
{
    return part->size && len > part->size;
}

/* Returns the end of part |varies| of an element that is like the last one but for the length of
 * that part, |*len|; NULL: it is not like that, or not whole. */
static inline const uint8_t *find_tail(const struct list_form *form, const uint8_t *at,
                                       const uint8_t *end, uint32_t *len)
{
    uint64_t left = (uint64_t)(end - at), before = form->lead_len;
    const struct list_word *word = form->words, *words_end = word + form->word_count;
    const uint8_t *tail;

    if (left < before)
        return NULL;
    *len = load_be32(at + before - 4);
    if (is_above_bound(&form->parts[form->varies], *len) ||
        left < before + padded(*len) + form->tail_len)
        return NULL;
    tail = at + before + padded(*len);
    while (word < words_end && load_le32(tail + word->at) == word->value)
        word++;
    return word == words_end ? tail : NULL;
}

/* Reads an element part by part, and notes where they are.  Kept apart from list_element, which
 * needs no room of its own so. */
static __attribute__((noinline)) const uint8_t *read_any(struct list_form *form, const uint8_t *at,
                                                         const uint8_t *end)
{
    form->lead = form->tail = at;
    form->word_count = 0;
    form->repeats = false;
    for (uint32_t i = 0; i < form->count; i++) {
        const struct list_part *part = &form->parts[i];
        uint32_t len = part->size;

        if (part->kind != LIST_FIXED) {
            if (end - at < 4)
                return NULL;
            len = load_be32(at);
            if (i > form->varies)
                form->words[form->word_count++] =
                    (struct list_word){ (uint32_t)(at - form->tail), load_le32(at) };
            at += 4;
        }
        if (part->kind == LIST_CHOICE) {
            if (len > 1)
                return NULL;
            for (uint32_t left = len ? 0 : part->skip; left; left--)
                form->places[++i].at = LIST_ABSENT;
            continue;
        }
        if ((part->kind == LIST_BYTES && is_above_bound(part, len)) ||
            (uint64_t)(end - at) < padded(len))
            return NULL;
        form->places[i] = (struct list_place){ (uint32_t)(at - form->tail), len };
        if (i == form->varies)
            form->lead_len = (uint32_t)(at - form->lead);
        at += padded(len);
        if (i == form->varies)
            form->tail = at;
    }
    form->tail_len = (uint32_t)(at - form->tail);
    form->repeats = form->varies != LIST_PARTS;
    return at;
}

const uint8_t *list_element(struct list_form *form, const uint8_t *at, const uint8_t *end)
{
    uint32_t len;
    const uint8_t *tail = form->repeats ? find_tail(form, at, end, &len) : NULL;

    if (!tail)
        return read_any(form, at, end);
    form->lead = at;
    form->tail = tail;
    form->places[form->varies].len = len;
    return tail + form->tail_len;
}

const uint8_t *list_pass(struct list_form *form, const uint8_t *at, const uint8_t *end,
                         uint32_t *count)
{
    while (end - at >= 4 && load_be32(at) == 1) {
        uint32_t len;
        const uint8_t *tail = form->repeats ? find_tail(form, at + 4, end, &len) : NULL;
        const uint8_t *next = tail ? tail + form->tail_len : read_any(form, at + 4, end);

        if (!next)
            break;
        at = next;
        ++*count;
    }
    return at;
}
