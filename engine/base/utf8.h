/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/utf8.h
 *
 * UTF-8 (RFC 3629), strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef NFSDIGEST_BASE_UTF8_H
#define NFSDIGEST_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_MAX = 4 };

/* Reads the character at |p|, where |left| > 0 bytes are left.  Sets |code| to its number.  Returns
 * its length in bytes, or 0 if these bytes are not UTF-8. */
uint32_t utf8_read(const uint8_t *p, size_t left, uint32_t *code);

/* Returns true if a terminal simply shows the character.  Returns false for controls (below U+0020,
 * U+007F to U+009F), separators of lines and paragraphs (U+2028, U+2029), and characters that
 * change the direction of other text (Unicode Annex 9: U+061C, U+200E, U+200F, U+202A to U+202E,
 * U+2066 to U+2069).  All of these have at most four hexadecimal digits. */
bool utf8_is_shown(uint32_t code);

#endif
