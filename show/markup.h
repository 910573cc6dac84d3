/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/markup.h
 *
 * Texts in XML and HTML, between tags and in quoted attributes.
 */
#ifndef NFSDIGEST_SHOW_MARKUP_H
#define NFSDIGEST_SHOW_MARKUP_H

#include "base/bytes.h"

/* Appends |text| as printable UTF-8.  Other bytes, control characters, and characters that set the
 * text direction or separate lines become \xNN.  Returns 0 or -ERR_SYSTEM. */
int markup_plain(struct buf *to, const char *text);

/* The same, but also escapes characters with a meaning in markup, as references. */
int markup_text(struct buf *to, const char *text);

/* Appends printf's output, which must be markup.  Returns 0 or -ERR_SYSTEM. */
int markup_format(struct buf *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
