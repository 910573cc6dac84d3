/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/markup.h"
#include "base/err.h"
#include "base/escape.h"

#include <stdarg.h>
#include <stdio.h>

static const char *reference(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

int markup_plain(struct buf *to, const char *text)
{
    const struct bytes whole = { (const uint8_t *)text, (uint32_t)strnlen(text, 1 << 20) };
    struct buf plain = { 0 };
    int result = escape_name(whole, true, &plain);

    for (size_t i = 0; result == 0 && i < plain.len; i++) {
        const char *p = (const char *)plain.data + i;

        if (plain.len - i >= 3 &&
            (memcmp(p, "\xef\xbf\xbe", 3) == 0 || memcmp(p, "\xef\xbf\xbf", 3) == 0)) {
            result = buf_append(to, "?", 1); /* U+FFFE and U+FFFF: XML 1.0 s2.2 has no place */
            i += 2;
        } else {
            result = buf_append(to, p, 1);
            if (*p == '\\' && i + 1 < plain.len && p[1] == '\\')
                i++; /* here nobody has to tell it from an escape */
        }
    }
    buf_free(&plain);
    return result;
}

int markup_text(struct buf *to, const char *text)
{
    struct buf plain = { 0 };
    int result = markup_plain(&plain, text);

    for (size_t i = 0; result == 0 && i < plain.len; i++) {
        const char *name = reference((char)plain.data[i]);

        result = name ? buf_append(to, name, strlen(name)) : buf_append(to, plain.data + i, 1);
    }
    buf_free(&plain);
    return result;
}

int markup_format(struct buf *to, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || buf_reserve(to, (size_t)len + 1) < 0)
        return -ERR_SYSTEM;
    va_start(args, format);
    vsnprintf((char *)to->data + to->len, (size_t)len + 1, format, args);
    va_end(args);
    to->len += (size_t)len;
    return 0;
}
