/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/text.h
 *
 * Texts of names and links, which may have any bytes: allocated, with their length before them.
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

/* The caller's to free(); NULL: no memory. */
char *text_new(struct bytes text);

#endif
