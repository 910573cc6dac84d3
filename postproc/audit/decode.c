/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/decode.c
 *
 * Decodes bytes piece by piece, in one way after the other, and gives each result to the visitor.
 * Pieces overlap, so that a secret on a border is whole in one of them.  For encoded.c.  The
 * contract is in decode.h.
 */
#include "audit/decode.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <string.h>

const char *decode_name(enum decode_code code)
{
    static const char *const names[DECODE_CODES] = {
        [DECODE_CASE] = "in another case",
        [DECODE_REVERSED] = "reversed",
        [DECODE_HEX] = "in hexadecimal digits",
        [DECODE_BASE64] = "in base 64",
        [DECODE_UTF16] = "in UTF-16",
        [DECODE_PERCENT] = "with characters as their numbers",
    };

    return names[code];
}

struct decoder {
    struct decoded *room;
    const uint8_t *data; /* of the piece, which begins at |at| of the input */
    uint32_t len, at;
    decode_visit *visit;
    void *ctx;
    struct err *err;
};

static uint8_t fold(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

static void begin(struct decoder *d, enum decode_code code)
{
    d->room->code = code;
    d->room->len = 0;
}

static void put(struct decoder *d, uint8_t c, uint32_t from, uint32_t to)
{
    struct decoded *r = d->room;

    if (r->len == DECODE_PIECE)
        return;
    r->text[r->len] = fold(c);
    r->from[r->len] = d->at + from;
    r->to[r->len++] = d->at + to;
}

static int give(struct decoder *d)
{
    return d->room->len < DECODE_LEAST ? 0 : d->visit(d->ctx, d->room, d->err);
}

static int decode_as_is(struct decoder *d)
{
    int rc;

    begin(d, DECODE_CASE);
    for (uint32_t i = 0; i < d->len; i++)
        put(d, d->data[i], i, i + 1);
    rc = give(d);
    if (rc)
        return rc;
    begin(d, DECODE_REVERSED);
    for (uint32_t i = d->len; i-- > 0;)
        put(d, d->data[i], i, i + 1);
    return give(d);
}

/* --- digits --- */

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = fold(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int base64_digit(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

/* Digits [start, end) of |bits| bits, as if each of the first ones began a byte or stood in it. */
static int decode_run(struct decoder *d, enum decode_code code, int (*digit)(uint8_t), int bits,
                      uint32_t start, uint32_t end)
{
    int rc = 0;

    for (int phase = 0; rc == 0 && phase < (bits == 4 ? 2 : 4); phase++) {
        uint32_t held = 0;
        int left = -phase * (8 - bits);

        begin(d, code);
        for (uint32_t i = start; i < end; i++) {
            held = held << bits | (uint32_t)digit(d->data[i]);
            left += bits;
            if (left < 8)
                continue;
            left -= 8;
            put(d, (uint8_t)(held >> left), i - 1, i + 1); /* either is of two digits */
        }
        rc = give(d);
    }
    return rc;
}

static int decode_digits(struct decoder *d, enum decode_code code, int (*digit)(uint8_t), int bits)
{
    uint32_t start = 0;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i <= d->len; i++) {
        if (i < d->len && digit(d->data[i]) >= 0)
            continue;
        if ((i - start) * (uint32_t)bits >= DECODE_LEAST * 8)
            rc = decode_run(d, code, digit, bits, start, i);
        start = i + 1;
    }
    return rc;
}

/* --- UTF-16, RFC 2781 --- */

static void put_character(struct decoder *d, unsigned c, uint32_t from)
{
    if (c < 0x80) {
        put(d, (uint8_t)c, from, from + 2);
        return;
    }
    put(d, (uint8_t)(0xc0 | c >> 6), from, from + 2);
    put(d, (uint8_t)(0x80 | (c & 0x3f)), from, from + 2);
}

/* The order of the bytes does not matter but for which the first one is: |high| is the place of the
 * upper byte in a pair that begins at |phase|. */
static int decode_utf16(struct decoder *d, unsigned phase, unsigned high)
{
    int rc = 0;

    begin(d, DECODE_UTF16);
    for (uint32_t i = phase; rc == 0 && i + 1 < d->len; i += 2) {
        unsigned c = (unsigned)d->data[i + high] << 8 | d->data[i + !high];

        if (c >= 0x20 && c < 0x800 && c != 0x7f) {
            put_character(d, c, i);
            continue;
        }
        rc = give(d);
        begin(d, DECODE_UTF16);
    }
    return rc ? rc : give(d);
}

/* --- numbers of characters --- */

static int decode_percent(struct decoder *d)
{
    bool any = false;

    begin(d, DECODE_PERCENT);
    for (uint32_t i = 0; i < d->len; i++) {
        uint32_t sign = i + 3 < d->len && d->data[i] == '\\' && fold(d->data[i + 1]) == 'x' ? 2 : 1;
        int upper = -1, lower = -1;

        if (i + sign + 1 < d->len && (sign == 2 || d->data[i] == '%' || d->data[i] == '=')) {
            upper = hex_digit(d->data[i + sign]);
            lower = hex_digit(d->data[i + sign + 1]);
        }
        if (upper < 0 || lower < 0) {
            put(d, d->data[i], i, i + 1);
            continue;
        }
        any = true;
        put(d, (uint8_t)(upper << 4 | lower), i, i + sign + 2);
        i += sign + 1;
    }
    return any ? give(d) : 0;
}

static int decode_piece(struct decoder *d)
{
    int rc;

    if (d->len < DECODE_LEAST || bytes_are_zeros(d->data, d->len))
        return 0;
    rc = decode_as_is(d);
    if (rc == 0)
        rc = decode_digits(d, DECODE_HEX, hex_digit, 4);
    if (rc == 0)
        rc = decode_digits(d, DECODE_BASE64, base64_digit, 6);
    for (unsigned i = 0; rc == 0 && i < 4; i++)
        rc = decode_utf16(d, i & 1, i >> 1);
    return rc ? rc : decode_percent(d);
}

int decode_each(const uint8_t *data, uint32_t len, struct decoded *room, decode_visit *visit,
                void *ctx, struct err *err)
{
    struct decoder d = { .room = room, .visit = visit, .ctx = ctx, .err = err };
    int rc = 0;

    while (rc == 0 && d.at < len) {
        d.data = data + d.at;
        d.len = len - d.at < DECODE_PIECE ? len - d.at : DECODE_PIECE;
        rc = decode_piece(&d);
        if (d.at + d.len == len)
            break;
        d.at += DECODE_PIECE - DECODE_OVERLAP;
    }
    return rc;
}
