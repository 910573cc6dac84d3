/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/text.h
 *
 * Allocated texts of names and links.  They can hold any bytes, so their length is stored before
 * them.
 */
#ifndef NFSDIGEST_TREE_TEXT_H
#define NFSDIGEST_TREE_TEXT_H

#include "base/bytes.h"

static inline struct bytes text_bytes(const char *text)
{
    struct bytes b = { (const uint8_t *)text + 4, 0 };

    memcpy(&b.len, text, 4);
    return b;
}

/* Returns a copy; the caller frees it with free().  NULL: no memory. */
char *text_new(struct bytes text);

#endif
