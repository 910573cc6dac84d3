/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/escape.h
 *
 * Converts names, which are bytes, to text for people and databases, and back:
 * - Bytes that are not UTF-8 become \xNN.  So does each byte of a character that a terminal does
 * not simply show (utf8.h).
 * - A backslash becomes \\.
 * - Within the name of a directory entry, a slash becomes \x2f.
 * So the text is harmless UTF-8 on one line, no two names have the same text, and unescape_name
 * returns the original bytes.
 */
#ifndef NFSDIGEST_BASE_ESCAPE_H
#define NFSDIGEST_BASE_ESCAPE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdio.h>

/* Appends the text of |name| to |out|.  |is_path|: slashes stay.  Returns 0 or -ERR_SYSTEM. */
int escape_name(struct bytes name, bool is_path, struct buf *out);

/* The same for a text of |size| bytes at most, with its zero byte: cut behind the last character
 * that fits.  Returns |to|. */
const char *escape_to(char *to, size_t size, struct bytes name, bool is_path);

/* Appends the bytes that |text| stands for.  Text without escapes stays as it is.  Returns 0 or
 * -ERR_SYSTEM. */
int unescape_name(const char *text, size_t len, struct buf *out);

/* Prints text that may hold any bytes, such as a message with a file's name in it.  Escapes it as
 * escape_name, but backslashes and newlines stay. */
void escape_print(FILE *out, const char *text);

#endif
