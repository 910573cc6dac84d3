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

int escape_name(struct bytes name, bool is_path, struct buf *out)
{
    uint8_t *to;

    if (!name.len)
        return 0;
    if (buf_reserve(out, (size_t)name.len * 4) < 0)
        return -ERR_SYSTEM;
    to = out->data + out->len;
    for (uint32_t i = 0; i < name.len;) {
        const uint8_t *p = name.data + i;
        uint32_t len = shown(p, name.len - i);

        if (*p == '\\') {
            *to++ = '\\';
            *to++ = '\\';
            i++;
        } else if (!len || (*p == '/' && !is_path)) {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = (uint8_t)hex[*p >> 4];
            *to++ = (uint8_t)hex[*p & 15];
            i++;
        } else {
            for (uint32_t k = 0; k < len; k++)
                *to++ = p[k];
            i += len;
        }
    }
    out->len = (size_t)(to - out->data);
    return 0;
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
