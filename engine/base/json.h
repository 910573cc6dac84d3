/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/json.h
 *
 * Strings of JSON (RFC 8259), for everything here that writes it.  Whatever goes in, what comes out
 * is UTF-8 without lone surrogates, on one line, and harmless on a terminal: characters that one
 * does not just show (utf8.h) become \uNNNN, bytes that are not UTF-8 the text \xNN, as in names
 * (escape.h).
 */
#ifndef NFSDIGEST_BASE_JSON_H
#define NFSDIGEST_BASE_JSON_H

#include "base/bytes.h"

#include <stdio.h>

/* Each appends to |out| and returns 0 or -ERR_SYSTEM. */
int json_put(struct buf *out, const char *raw); /* as it is */
int json_put_text(struct buf *out, struct bytes text);
int json_put_name(struct buf *out,
                  struct bytes name); /* bytes, escaped as names are, slashes stay */
int json_put_hex(struct buf *out, struct bytes data);

/* The same to a stream; its errors are those of stdio.  NULL is null. */
void json_text(FILE *out, const char *text);
void json_name(FILE *out, const char *name);
void json_hex(FILE *out, const uint8_t *data, size_t len);

#endif
