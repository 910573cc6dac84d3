/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/json.c
 *
 * The writer of JSON for reports, records and lines of output.  It keeps no stack: the last thing
 * written decides if a comma is needed.  The contract is in json.h.
 */
#include "base/json.h"
#include "base/escape.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

/* How many bytes from |p| on stand in a string as they are. */
static size_t plain(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *at = p;
    uint32_t code, len;

    while (at < end) {
        if (*at >= 0x20 && *at < 0x7f) {
            if (*at == '"' || *at == '\\')
                break;
            at++;
            continue;
        }
        len = utf8_read(at, (size_t)(end - at), &code);
        if (!len || !utf8_is_shown(code))
            break;
        at += len;
    }
    return (size_t)(at - p);
}

/* What stands for the character at |p|, which is not plain; returns how long that is. */
static uint32_t escape(const uint8_t *p, const uint8_t *end, char text[8])
{
    uint32_t code, len = utf8_read(p, (size_t)(end - p), &code);

    if (!len)
        snprintf(text, 8, "\\\\x%02x", *p);
    else if (code == '"' || code == '\\')
        snprintf(text, 8, "\\%c", *p);
    else
        snprintf(text, 8, "\\u%04x", code & 0xffff);
    return len ? len : 1;
}

static void put(struct json *j, const void *data, size_t len)
{
    if (j->out)
        fwrite_unlocked(data, 1, len, j->out); /* ferror tells */
    else if (buf_append(j->to, data, len) < 0)
        j->failed = true;
}

static void put_quoted(struct json *j, struct bytes text)
{
    const uint8_t *p = text.data, *end = text.len ? p + text.len : p; /* of nothing: NULL */
    char piece[8];

    put(j, "\"", 1);
    while (p < end) {
        size_t len = plain(p, end);

        if (len) {
            put(j, p, len);
        } else {
            len = escape(p, end, piece);
            put(j, piece, strlen(piece));
        }
        p += len;
    }
    put(j, "\"", 1);
}

/* Where lines are not broken by json_break: before a member, an element, or the bracket that ends
 * them. */
static void put_space(struct json *j)
{
    if (j->one_line_at) {
        put(j, " ", 1);
        return;
    }
    put(j, "\n", 1);
    for (unsigned i = 0; i < j->depth; i++)
        put(j, "  ", 2);
}

/* What stands before a value. */
static void lead(struct json *j, const char *key)
{
    size_t len = key ? strlen(key) : 0, at = 0;
    char text[80];

    if (j->more)
        text[at++] = ',';
    if (j->breaks)
        text[at++] = '\n';
    j->more = true;
    if (key && !j->indented && len < sizeof(text) - 8 &&
        plain((const uint8_t *)key, (const uint8_t *)key + len) == len) { /* nearly always */
        text[at++] = '"';
        memcpy(text + at, key, len);
        at += len;
        text[at++] = '"';
        text[at++] = ':';
        key = NULL;
    }
    put(j, text, at);
    if (j->indented && j->depth && !j->breaks)
        put_space(j);
    if (key) {
        put_quoted(j, (struct bytes){ (const uint8_t *)key, (uint32_t)len });
        put(j, ": ", j->indented ? 2 : 1);
    }
    j->breaks = false;
}

static void begin(struct json *j, const char *key, const char *bracket)
{
    lead(j, key);
    put(j, bracket, 1);
    j->more = false;
    j->depth++;
    if (j->one_line)
        j->one_line_at = j->depth;
    j->one_line = false;
}

static void end(struct json *j, const char *bracket)
{
    j->depth--;
    if (j->indented && j->more)
        put_space(j);
    if (j->one_line_at > j->depth)
        j->one_line_at = 0;
    put(j, bracket, 1);
    j->more = true;
}

void json_object(struct json *j, const char *key)
{
    begin(j, key, "{");
}

void json_object_end(struct json *j)
{
    end(j, "}");
}

void json_array(struct json *j, const char *key)
{
    begin(j, key, "[");
}

void json_array_end(struct json *j)
{
    end(j, "]");
}

void json_end(struct json *j)
{
    put(j, "\n", 1);
    j->more = false;
}

void json_break(struct json *j)
{
    j->breaks = true;
}

void json_one_line(struct json *j)
{
    j->one_line = true;
}

void json_null(struct json *j, const char *key)
{
    lead(j, key);
    put(j, "null", 4);
}

void json_text(struct json *j, const char *key, const char *text)
{
    if (!text) {
        json_null(j, key);
        return;
    }
    lead(j, key);
    put_quoted(j, (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) });
}

void json_name(struct json *j, const char *key, struct bytes name)
{
    struct buf text = { 0 };

    lead(j, key);
    if (escape_name(name, true, &text) < 0) {
        j->failed = true;
        put_quoted(j, name); /* not reversible, but JSON */
    } else {
        put_quoted(j, (struct bytes){ text.data, (uint32_t)text.len });
    }
    buf_free(&text);
}

void json_file(struct json *j, const char *key, const char *path)
{
    json_name(j, key, (struct bytes){ (const uint8_t *)path, (uint32_t)strlen(path) });
}

void json_hex(struct json *j, const char *key, struct bytes data)
{
    char text[128];
    size_t at = 0;

    lead(j, key);
    text[at++] = '"';
    for (uint32_t i = 0; i < data.len; i++) {
        if (at > sizeof(text) - 3) {
            put(j, text, at);
            at = 0;
        }
        text[at++] = digits[data.data[i] >> 4];
        text[at++] = digits[data.data[i] & 15];
    }
    text[at++] = '"';
    put(j, text, at);
}

static void put_decimal(struct json *j, uint64_t value, bool negative)
{
    char text[24];
    size_t at = sizeof(text);

    do
        text[--at] = (char)('0' + value % 10);
    while (value /= 10);
    if (negative)
        text[--at] = '-';
    put(j, text + at, sizeof(text) - at);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
    lead(j, key);
    put_decimal(j, value, false);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
    lead(j, key);
    put_decimal(j, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
}

void json_bool(struct json *j, const char *key, bool value)
{
    lead(j, key);
    put(j, value ? "true" : "false", value ? 4 : 5);
}

void json_number(struct json *j, const char *key, const char *format, ...)
{
    char text[64];
    va_list args;
    int len;

    lead(j, key);
    va_start(args, format);
    len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof(text))
        j->failed = true;
    else
        put(j, text, (size_t)len);
}
