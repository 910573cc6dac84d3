/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

uint32_t utf8_read(const uint8_t *p, size_t left, uint32_t *code)
{
    static const uint32_t least[UTF8_MAX + 1] = { 0, 0, 0x80, 0x800, 0x10000 };
    uint32_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

    if (!len || p[0] > 0xf4 || len > left)
        return 0;
    *code = len == 1 ? p[0] : p[0] & (0x7fu >> len);
    for (uint32_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3f);
    }
    if (*code < least[len] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
        return 0;
    return len;
}

bool utf8_is_shown(uint32_t code)
{
    if (code < 0x061c)
        return code >= 0x20 && (code < 0x7f || code >= 0xa0);
    return code != 0x061c && code != 0x200e && code != 0x200f &&
           !(code >= 0x2028 && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
}
