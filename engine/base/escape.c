/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"
#include "base/err.h"
#include "base/utf8.h"

#include <string.h>

static const char hex[] = "0123456789abcdef";

/* Length of the character at |p| if it may be shown, or 0. */
static uint32_t shown(const uint8_t *p, size_t left)
{
    uint32_t code, len = utf8_read(p, left, &code);

    return len && utf8_is_shown(code) ? len : 0;
}

enum { ESCAPED_MOST = 4 };

/* Puts one character of a name, or a byte that is none, at |to|.  Returns how long that is;
 * |taken|: how much of |p| it stands for. */
static uint32_t escape_one(const uint8_t *p, size_t left, bool is_path, uint8_t to[ESCAPED_MOST],
                           uint32_t *taken)
{
    uint32_t len = shown(p, left);

    *taken = 1;
    if (*p == '\\') {
        to[0] = to[1] = '\\';
        return 2;
    }
    if (!len || (*p == '/' && !is_path)) {
        to[0] = '\\';
        to[1] = 'x';
        to[2] = (uint8_t)hex[*p >> 4];
        to[3] = (uint8_t)hex[*p & 15];
        return 4;
    }
    for (uint32_t k = 0; k < len; k++)
        to[k] = p[k];
    *taken = len;
    return len;
}

int escape_name(struct bytes name, bool is_path, struct buf *out)
{
    uint8_t *to;

    if (!name.len)
        return 0;
    if (buf_reserve(out, (size_t)name.len * ESCAPED_MOST) < 0)
        return -ERR_SYSTEM;
    to = out->data + out->len;
    for (uint32_t i = 0, taken; i < name.len; i += taken)
        to += escape_one(name.data + i, name.len - i, is_path, to, &taken);
    out->len = (size_t)(to - out->data);
    return 0;
}

const char *escape_to(char *to, size_t size, struct bytes name, bool is_path)
{
    uint8_t one[ESCAPED_MOST];
    size_t at = 0;

    for (uint32_t i = 0, taken; i < name.len; i += taken) {
        uint32_t len = escape_one(name.data + i, name.len - i, is_path, one, &taken);

        if (at + len >= size)
            break;
        memcpy(to + at, one, len);
        at += len;
    }
    to[at] = 0;
    return to;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

int unescape_name(const char *text, size_t len, struct buf *out)
{
    if (buf_reserve(out, len) < 0)
        return -ERR_SYSTEM;
    for (size_t i = 0; i < len; i++) {
        uint8_t byte = (uint8_t)text[i];

        if (text[i] == '\\' && i + 1 < len && text[i + 1] == '\\') {
            i++;
        } else if (text[i] == '\\' && i + 3 < len && text[i + 1] == 'x' &&
                   hex_digit(text[i + 2]) >= 0 && hex_digit(text[i + 3]) >= 0) {
            byte = (uint8_t)(hex_digit(text[i + 2]) << 4 | hex_digit(text[i + 3]));
            i += 3;
        }
        out->data[out->len++] = byte;
    }
    return 0;
}

void escape_print(FILE *out, const char *text)
{
    const uint8_t *p = (const uint8_t *)text, *from = p, *end = p + strlen(text);

    while (p < end) {
        uint32_t len = *p == '\n' ? 1 : shown(p, (size_t)(end - p));

        if (!len) {
            fwrite(from, 1, (size_t)(p - from), out);
            fprintf(out, "\\x%c%c", hex[*p >> 4], hex[*p & 15]);
            from = p + 1;
        }
        p += len ? len : 1;
    }
    fwrite(from, 1, (size_t)(p - from), out);
}
