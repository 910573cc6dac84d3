/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/escape.h
 *
 * Names of a trace are bytes; names in the database are text.  Bytes that are no UTF-8, and control
 * characters, become \xNN, a backslash becomes \\ and, within the name of a directory
 * entry, a slash becomes \x2f.  So the text is printable, and no two names become the same text.
 */
#ifndef NFSDIGEST_STORE_ESCAPE_H
#define NFSDIGEST_STORE_ESCAPE_H

#include "base/bytes.h"

#include <stdbool.h>

/* Appends the text of |name| to |out|; |is_path|: slashes stay. 0 or -ERR_SYSTEM. */
int escape_name(struct bytes name, bool is_path, struct buf *out);

/* Appends the bytes that |text| stands for; what is no escape stays as it is. 0 or -ERR_SYSTEM. */
int unescape_name(const char *text, size_t len, struct buf *out);

#endif
