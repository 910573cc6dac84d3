/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/escape.h"
#include "base/err.h"

/* Length of the UTF-8 sequence at |p| (RFC 3629 s4), or 0 when it is none or a control. */
static uint32_t printable(const uint8_t *p, uint32_t left)
{
    uint32_t len, code;

    if (p[0] < 0x80)
        return p[0] >= 0x20 && p[0] != 0x7f;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        len = 2;
    else if (p[0] >= 0xe0 && p[0] <= 0xef)
        len = 3;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        len = 4;
    else
        return 0;
    if (len > left)
        return 0;
    code = p[0] & (0x7fu >> len);
    for (uint32_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < 0xa0 || (len == 3 && code < 0x800) || (len == 4 && code < 0x10000) ||
        (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
        return 0; /* C1 controls, overlong forms, surrogates */
    return len;
}

int escape_name(struct bytes name, bool is_path, struct buf *out)
{
    static const char hex[] = "0123456789abcdef";
    uint8_t *to;

    if (!name.len)
        return 0;
    if (buf_reserve(out, (size_t)name.len * 4) < 0)
        return -ERR_SYSTEM;
    to = out->data + out->len;
    for (uint32_t i = 0; i < name.len;) {
        const uint8_t *p = name.data + i;
        uint32_t len = printable(p, name.len - i);

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
