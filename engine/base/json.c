/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/utf8.h"

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

int json_put(struct buf *out, const char *raw)
{
    return buf_append(out, raw, strlen(raw));
}

int json_put_text(struct buf *out, struct bytes text)
{
    const uint8_t *p = text.data, *end = text.len ? p + text.len : p; /* of nothing: NULL */
    char piece[8];

    if (json_put(out, "\"") < 0)
        return -ERR_SYSTEM;
    while (p < end) {
        size_t len = plain(p, end);

        if (len ? buf_append(out, p, len) < 0
                : (len = escape(p, end, piece), json_put(out, piece) < 0))
            return -ERR_SYSTEM;
        p += len;
    }
    return json_put(out, "\"");
}

int json_put_name(struct buf *out, struct bytes name)
{
    struct buf text = { 0 };
    int result = escape_name(name, true, &text);

    if (result == 0)
        result = json_put_text(out, (struct bytes){ text.data, (uint32_t)text.len });
    buf_free(&text);
    return result;
}

int json_put_hex(struct buf *out, struct bytes data)
{
    if (buf_reserve(out, 2 * (size_t)data.len + 2) < 0)
        return -ERR_SYSTEM;
    out->data[out->len++] = '"';
    for (uint32_t i = 0; i < data.len; i++) {
        out->data[out->len++] = (uint8_t)digits[data.data[i] >> 4];
        out->data[out->len++] = (uint8_t)digits[data.data[i] & 15];
    }
    out->data[out->len++] = '"';
    return 0;
}

void json_text(FILE *out, const char *text)
{
    const uint8_t *p = (const uint8_t *)text, *end;
    char piece[8];

    if (!text) {
        fputs("null", out);
        return;
    }
    end = p + strlen(text);
    putc('"', out);
    while (p < end) {
        size_t len = plain(p, end);

        if (len) {
            fwrite(p, 1, len, out);
        } else {
            len = escape(p, end, piece);
            fputs(piece, out);
        }
        p += len;
    }
    putc('"', out);
}

void json_name(FILE *out, const char *name)
{
    struct bytes bytes = { (const uint8_t *)name, name ? (uint32_t)strlen(name) : 0 };
    struct buf text = { 0 };

    if (!name || escape_name(bytes, true, &text) < 0 || buf_append(&text, "", 1) < 0)
        json_text(out, name); /* not reversible, but JSON */
    else
        json_text(out, (const char *)text.data);
    buf_free(&text);
}

void json_hex(FILE *out, const uint8_t *data, size_t len)
{
    putc('"', out);
    for (size_t i = 0; i < len; i++) {
        putc(digits[data[i] >> 4], out);
        putc(digits[data[i] & 15], out);
    }
    putc('"', out);
}
