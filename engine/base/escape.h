/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/escape.h
 *
 * Names of a trace are bytes; where people and databases see them they are text, everywhere the
 * same: each byte of what is not UTF-8, and of every character that a terminal does not just show
 * (utf8.h), becomes \xNN, a backslash becomes \\ and, within the name of a directory entry, a slash
 * becomes \x2f.  So the text is harmless UTF-8 on one line, no two names become the same text, and
 * unescape_name gives the bytes again.
 */
#ifndef NFSDIGEST_BASE_ESCAPE_H
#define NFSDIGEST_BASE_ESCAPE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdio.h>

/* Appends the text of |name| to |out|; |is_path|: slashes stay. 0 or -ERR_SYSTEM. */
int escape_name(struct bytes name, bool is_path, struct buf *out);

/* Appends the bytes that |text| stands for.  Text without escapes stays as it is.  Returns 0 or
 * -ERR_SYSTEM. */
int unescape_name(const char *text, size_t len, struct buf *out);

/* Prints what may hold anything, such as a message with a file's name in it: as escape_name, but
 * backslashes and newlines stay. */
void escape_print(FILE *out, const char *text);

#endif
