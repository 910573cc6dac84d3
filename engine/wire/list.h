/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/list.h
 *
 * Reads the elements of XDR lists fast: directory listings have a hundred of them in a message.
 * What an element consists of is taken from its type's table once, and written down side by side,
 * so that nothing has to be looked up for each element.
 *
 * This accepts what the walker (walk.h) accepts, and the same bytes: an element that it does not
 * accept is one for the walker, which knows why.
 */
#ifndef NFSDIGEST_WIRE_LIST_H
#define NFSDIGEST_WIRE_LIST_H

#include "base/bytes.h"
#include "wire/field.h"

enum { LIST_PARTS = 16 };
#define LIST_ABSENT UINT32_MAX

enum list_kind {
    LIST_FIXED,  /* |size| bytes of any value */
    LIST_BYTES,  /* a length, at most |size| if that is not 0, and so many bytes, padded */
    LIST_CHOICE, /* a boolean; if it is 0, the next |skip| parts are not there */
};

struct list_part {
    uint8_t kind, skip;
    uint32_t size;
    const struct field *field; /* of fixed structures: the one whose structure it is */
};

/* Where a part of the last element was: behind the element's start, or, of the parts that follow
 * the part that varies, behind the end of that. */
struct list_place {
    uint32_t at, len; /* without length and padding; |at| LIST_ABSENT: the part is not there */
};

/* A length or a choice behind the part that varies: what the last element had there. */
struct list_word {
    uint32_t at, value; /* |value|: little-endian, since it is compared only */
};

struct list_form {
    uint32_t count;
    uint32_t varies; /* the first part that is LIST_BYTES; LIST_PARTS: none, or behind a choice */
    struct list_part parts[LIST_PARTS];
    /* The last element.  Most are like the one before but for the length of one part, the name: so
     * it is enough to compare the words that decide what follows that. */
    const uint8_t *lead, *tail; /* its start; the end of part |varies| */
    uint32_t lead_len, tail_len, word_count;
    bool repeats; /* an element was read, and others like it can be read so */
    struct list_place places[LIST_PARTS];
    struct list_word words[LIST_PARTS];
};

/* Fills |form| from the type of a list's elements.  Returns false if such elements may hold more
 * than this can read: unions, arrays, other lists, booleans that are values, contents of files. */
bool list_form(struct list_form *form, const struct type *element);

/* Reads the element at |at|.  Returns the element's end, or NULL if it is not valid or not whole
 * before |end|. */
const uint8_t *list_element(struct list_form *form, const uint8_t *at, const uint8_t *end);

/* Passes over elements, from the boolean before the first one on, and counts them.  Returns the
 * first boolean that is not 1, or behind which there is no valid and whole element; or what stands
 * in its place. */
const uint8_t *list_pass(struct list_form *form, const uint8_t *at, const uint8_t *end,
                         uint32_t *count);

/* Returns the bytes of part |i| of the element that was read last, without length and padding; no
 * bytes if the part is not there. */
static inline struct bytes list_piece(const struct list_form *form, uint32_t i)
{
    const uint8_t *from = i <= form->varies ? form->lead : form->tail;

    return form->places[i].at != LIST_ABSENT
               ? (struct bytes){ from + form->places[i].at, form->places[i].len }
               : (struct bytes){ 0 };
}

#endif
