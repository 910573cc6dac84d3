/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/json.h
 *
 * Writes JSON (RFC 8259), value by value, for everything here that writes it:
 *
 *     struct json j = { .out = file };
 *
 *     json_object(&j, NULL);
 *     json_text(&j, "name", name);
 *     json_array(&j, "sizes");
 *     json_u64(&j, NULL, size);
 *     json_array_end(&j);
 *     json_object_end(&j);
 *     json_end(&j);
 *
 * |key| is the member's name, or NULL for an element of an array and for the outermost value.
 * Commas are added automatically.  For any input, the output is UTF-8 without lone surrogates, on
 * one line, and harmless on a terminal.  Characters that a terminal does not simply show (utf8.h)
 * become \uNNNN.  Bytes that are not UTF-8 become the text \xNN, as in names (escape.h).
 *
 * Errors of a stream are stdio's.  When there is no memory, |failed| is set and stays, and the
 * output is incomplete.  Only one thread may use the stream meanwhile.
 */
#ifndef NFSDIGEST_BASE_JSON_H
#define NFSDIGEST_BASE_JSON_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdio.h>

struct json {
    FILE *out;      /* a stream, or */
    struct buf *to; /* a buffer to append to */
    bool indented;  /* each member and element on a line of its own */
    bool failed;
    bool more, breaks, one_line; /* for json.c only */
    unsigned depth, one_line_at;
};

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);
void json_end(struct json *j); /* a newline; another JSON text may follow */

void json_text(struct json *j, const char *key, const char *text); /* NULL is null */
/* Writes bytes as a string, escaped like names; slashes stay. */
void json_name(struct json *j, const char *key, struct bytes name);
/* The same of a file's name. */
void json_file(struct json *j, const char *key, const char *path);
void json_hex(struct json *j, const char *key, struct bytes data);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
/* Writes a number as |format| prints it; it must have less than 64 characters. */
void json_number(struct json *j, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts a line break before the next member or element. */
void json_break(struct json *j);
/* Writes the next object or array on one line, even if others are indented. */
void json_one_line(struct json *j);

#endif
