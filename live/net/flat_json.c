/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/flat_json.c
 *
 * One pass over the line.  Texts become shorter when their escapes go, so they are written over
 * themselves.  The contract is in flat_json.h.
 */
#include "net/flat_json.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

struct reader {
    char *p, *end;
    struct err *err;
};

static int bad(struct reader *r, const char *what)
{
    return err_set(r->err, ERR_INPUT, "not a JSON object of texts and numbers: %s", what);
}

static void skip(struct reader *r)
{
    while (r->p < r->end && strchr(" \t\r\n", *r->p) && *r->p)
        r->p++;
}

static bool take(struct reader *r, char c)
{
    skip(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

/* Four hexadecimal digits, or -1. */
static int32_t four(struct reader *r)
{
    int32_t value = 0;

    if (r->end - r->p < 4)
        return -1;
    for (int i = 0; i < 4; i++, r->p++) {
        char c = *r->p;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (char)(0xe0 | code >> 12);
        } else {
            *to++ = (char)(0xf0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (code & 0x3f));
    return to;
}

/* What follows on \u; NULL: not a character. */
static char *unicode(struct reader *r, char *to)
{
    int32_t code = four(r), low;

    if (code >= 0xd800 && code < 0xdc00) { /* RFC 8259 s7: the second half must follow */
        if (r->end - r->p < 2 || r->p[0] != '\\' || r->p[1] != 'u')
            return NULL;
        r->p += 2;
        low = four(r);
        if (low < 0xdc00 || low > 0xdfff)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return NULL;
    }
    return code <= 0 ? NULL : put_utf8(to, (uint32_t)code);
}

static char *escaped(struct reader *r, char *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *which;

    if (r->p == r->end)
        return NULL;
    if (*r->p == 'u') {
        r->p++;
        return unicode(r, to);
    }
    which = *r->p ? strchr(from, *r->p) : NULL;
    if (!which)
        return NULL;
    r->p++;
    *to = into[which - from];
    return to + 1;
}

/* The text behind its first quote; the last quote becomes a NUL, or stands behind one. */
static int read_text(struct reader *r, const char **value)
{
    char *to = r->p;

    *value = to;
    while (r->p < r->end && *r->p != '"') {
        uint32_t code, len;

        if (*r->p == '\\') {
            r->p++;
            to = escaped(r, to);
            if (!to)
                return bad(r, "an escape that JSON does not have");
            continue;
        }
        len = utf8_read((const uint8_t *)r->p, (size_t)(r->end - r->p), &code);
        if (!len || code < 0x20)
            return bad(r, len ? "a control character" : "bytes that are not UTF-8");
        memmove(to, r->p, len);
        to += len;
        r->p += len;
    }
    if (r->p == r->end)
        return bad(r, "a text without an end");
    r->p++;
    *to = '\0';
    return 0;
}

static size_t digits(const char *p)
{
    return strspn(p, "0123456789");
}

/* Length of the number at |p|, RFC 8259 s6; 0: none. */
static size_t number(const char *p)
{
    const char *at = p + (*p == '-');
    size_t len = digits(at);

    if (!len || (*at == '0' && len > 1))
        return 0;
    at += len;
    if (*at == '.') {
        if (!digits(at + 1))
            return 0;
        at += 1 + digits(at + 1);
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        if (!digits(at))
            return 0;
        at += digits(at);
    }
    return (size_t)(at - p);
}

/* A value that is not a text is ended by a NUL once what follows on it is read: |*last| is where.
 */
static int read_value(struct reader *r, const char **value, char **last)
{
    static const char *const words[] = { "true", "false", "null" };
    size_t len;

    *last = NULL;
    if (take(r, '"'))
        return read_text(r, value);
    if (r->p < r->end && (*r->p == '{' || *r->p == '['))
        return bad(r, "a value that is an object or array");
    len = number(r->p);
    for (size_t i = 0; !len && i < sizeof(words) / sizeof(*words); i++)
        if (strncmp(r->p, words[i], strlen(words[i])) == 0)
            len = strlen(words[i]);
    if (!len || strspn(r->p + len, " \t\r\n,}") == 0)
        return bad(r, "a value is missing, or is not one");
    *value = *r->p == 'n' ? NULL : r->p;
    r->p += len;
    *last = r->p;
    return 0;
}

static int read_member(struct reader *r, struct flat_member *members, uint32_t count)
{
    char *last, next;

    if (!take(r, '"'))
        return bad(r, "a member's name is missing");
    if (read_text(r, &members[count].name) < 0)
        return -ERR_INPUT;
    if (!take(r, ':'))
        return bad(r, "a colon is missing");
    if (read_value(r, &members[count].value, &last) < 0)
        return -ERR_INPUT;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(members[i].name, members[count].name) == 0)
            return bad(r, "two members of one name");
    skip(r);
    next = r->p < r->end ? *r->p++ : '\0';
    if (last)
        *last = '\0';
    return next == ',' || next == '}' ? next : bad(r, "a comma is missing");
}

int flat_json_read(char *line, size_t len, struct flat_member *members, uint32_t most,
                   struct err *err)
{
    struct reader r = { line, line + len, err };
    uint32_t count = 0;
    int next = ',';

    if (!take(&r, '{'))
        return bad(&r, "a brace is missing");
    if (take(&r, '}'))
        next = '}';
    while (next == ',') {
        if (count == most)
            return bad(&r, "too many members");
        next = read_member(&r, members, count++);
        if (next < 0)
            return next;
    }
    skip(&r);
    return r.p == r.end ? (int)count : bad(&r, "something follows on the object");
}
