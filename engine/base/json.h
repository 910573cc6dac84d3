/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/json.h
 *
 * Writes JSON (RFC 8259), value by value, for everything here that writes it:
 *
 *     struct json j = { .out = stdout };
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
 * Commas come by themselves.  Whatever goes in, what comes out is UTF-8 without lone surrogates, on
 * one line, and harmless on a terminal: characters that one does not just show (utf8.h) become
 * \uNNNN, bytes that are not UTF-8 the text \xNN, as in names (escape.h).
 *
 * Errors of a stream are stdio's.  When there is no memory, |failed| is set and stays: what was
 * written is not whole.  Only one thread may use the stream meanwhile.
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
    bool more, breaks, one_line; /* json.c's */
    unsigned depth, one_line_at;
};

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);
void json_end(struct json *j); /* a newline; what follows is another text */

void json_text(struct json *j, const char *key, const char *text); /* NULL is null */
/* Bytes, escaped as names are; slashes stay. */
void json_name(struct json *j, const char *key, struct bytes name);
void json_hex(struct json *j, const char *key, struct bytes data);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
/* A number as |format| prints it, below 64 characters. */
void json_number(struct json *j, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What comes next begins a line. */
void json_break(struct json *j);
/* The object or array that comes next stands on one line, though others are indented. */
void json_one_line(struct json *j);

#endif
