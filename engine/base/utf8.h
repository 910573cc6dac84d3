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

/* Length of the character at |p|, of which |left| > 0 bytes are there, and its number; 0: these
 * bytes are not UTF-8. */
uint32_t utf8_read(const uint8_t *p, size_t left, uint32_t *code);

/* Whether a terminal only shows the character.  False for controls (below
 * U+0020, U+007F to U+009F), separators of lines and paragraphs (U+2028, U+2029), and what changes
 * the direction of other text (Unicode Annex 9: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
 * U+2069), all of which have four hexadecimal digits at most. */
bool utf8_is_shown(uint32_t code);

#endif
