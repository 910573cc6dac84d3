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

struct list_form {
    uint32_t count;
    struct list_part parts[LIST_PARTS];
};

/* Fills |form| from the type of a list's elements.  Returns false if such elements may hold more
 * than this can read: unions, arrays, other lists, booleans that are values, contents of files. */
bool list_form(struct list_form *form, const struct type *element);

/* Reads the element at |at|: |pieces|[i] becomes the bytes of part i, without length and padding;
 * no bytes if the part is not there.  Returns the element's end, or NULL if it is not valid or not
 * whole before |end|. */
const uint8_t *list_element(const struct list_form *form, const uint8_t *at, const uint8_t *end,
                            struct bytes pieces[LIST_PARTS]);

#endif
