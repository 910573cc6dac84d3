/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/markup.h
 *
 * Texts in XML and HTML, between tags and in quoted attributes.
 */
#ifndef NFSDIGEST_SHOW_MARKUP_H
#define NFSDIGEST_SHOW_MARKUP_H

#include "base/bytes.h"

/* Appends |text| as UTF-8 that can be printed: other bytes, control characters, and those that set
 * the direction of others or separate lines, become \xNN.  0 or -ERR_SYSTEM. */
int markup_plain(struct buf *to, const char *text);

/* The same, and nothing but text: what markup gives a meaning to becomes a reference. */
int markup_text(struct buf *to, const char *text);

/* Appends printf's output, which is markup itself.  0 or -ERR_SYSTEM. */
int markup_format(struct buf *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
