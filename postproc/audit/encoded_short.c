/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/encoded_short.c
 *
 * Keeps each encoding of each short name by its hash, and looks up each distinct value among them.
 * It also counts values by their look: which of their places have digits, letters and others.  What
 * chance has is computed from these counts.  For encoded.c.  The contract is in encoded_short.h.
 */
#include "audit/encoded_short.h"
#include "audit/encoded.h"
#include "base/digest.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* What is hashed in which way; with lower case but for base 64. */
enum { SEED_FOLDED, SEED_EXACT, SEED_NAME, SEED_VALUE, SEED_LOOK };

struct encoding {
    uint64_t look;
    double chance; /* of a value that looks so */
    uint32_t name;
    uint8_t code;
};

struct short_names {
    struct secret *names;
    uint32_t name_count, name_cap;
    struct encoding *encodings;
    uint32_t encoding_count, encoding_cap;
    struct table by_name, by_text;
    struct table values, looks; /* seen; how many of a look, by slot */
    uint32_t *look_counts;
    uint32_t value_count, look_count, look_cap;
    uint64_t hits[DECODE_CODES];
};

struct short_names *short_names_new(struct err *err)
{
    struct short_names *s = calloc(1, sizeof(*s));

    if (!s)
        err_memory(err, "short names");
    return s;
}

void short_names_free(struct short_names *s)
{
    if (!s)
        return;
    table_free(&s->by_name);
    table_free(&s->by_text);
    table_free(&s->values);
    table_free(&s->looks);
    free(s->names);
    free(s->encodings);
    free(s->look_counts);
    free(s);
}

static int no_memory(struct err *err)
{
    return err_memory(err, "short names");
}

static uint32_t find(const struct table *t, uint64_t hash)
{
    uint32_t at;

    return table_first(t, hash, &at);
}

static void fold(const uint8_t *data, uint32_t len, uint8_t *out)
{
    for (uint32_t i = 0; i < len; i++)
        out[i] = data[i] >= 'A' && data[i] <= 'Z' ? data[i] | 0x20 : data[i];
}

/* What a text looks like: which places have digits, letters, others above ASCII; and the rest. */
static uint64_t look_of(const uint8_t *text, uint32_t len, double *chance)
{
    enum { DIGITS = 10, LETTERS = 16, ABOVE = 32 };
    uint8_t look[SHORT_VALUE_MAX];

    *chance = 1;
    for (uint32_t i = 0; i < len; i++) {
        uint8_t c = text[i];

        look[i] = c;
        if (c >= '0' && c <= '9') {
            look[i] = '0';
            *chance /= DIGITS;
        } else if (c >= 'a' && c <= 'z') {
            look[i] = 'a';
            *chance /= LETTERS;
        } else if (c >= 0x80) {
            look[i] = 0x80;
            *chance /= ABOVE;
        }
    }
    return XXH3_64bits_withSeed(look, len, SEED_LOOK);
}

/* --- encodings --- */

struct text {
    uint8_t data[SHORT_VALUE_MAX];
    uint32_t len;
};

static int put(struct short_names *s, enum decode_code code, const struct text *t, struct err *err)
{
    bool exact = code == DECODE_BASE64;
    uint8_t folded[SHORT_VALUE_MAX];
    uint64_t hash;
    struct encoding *e;

    fold(t->data, t->len, folded);
    hash = XXH3_64bits_withSeed(exact ? t->data : folded, t->len, exact ? SEED_EXACT : SEED_FOLDED);
    if (find(&s->by_text, hash) != TABLE_NONE)
        return 0;
    if (GROW(s->encodings, s->encoding_count, s->encoding_cap) < 0 ||
        table_add(&s->by_text, hash, s->encoding_count) < 0)
        return no_memory(err);
    e = &s->encodings[s->encoding_count++];
    e->look = look_of(folded, t->len, &e->chance);
    e->name = s->name_count - 1;
    e->code = (uint8_t)code;
    return 0;
}

static int put_hex(struct short_names *s, const uint8_t *p, uint32_t len, const char *before,
                   struct err *err)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t extra = (uint32_t)strlen(before);
    struct text t = { .len = 0 };

    for (uint32_t i = 0; i < len; i++) {
        memcpy(t.data + t.len, before, extra);
        t.len += extra;
        t.data[t.len++] = (uint8_t)digits[p[i] >> 4];
        t.data[t.len++] = (uint8_t)digits[p[i] & 15];
    }
    return put(s, extra ? DECODE_PERCENT : DECODE_HEX, &t, err);
}

/* With and without what fills up the last four letters, in both alphabets, RFC 4648. */
static int put_base64(struct short_names *s, const uint8_t *p, uint32_t len, const char *last,
                      struct err *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    struct text t = { .len = 0 };
    uint32_t held = 0, left = 0;

    for (uint32_t i = 0; i < len || left; left -= left < 6 ? left : 6) {
        uint32_t digit;

        if (left < 6 && i < len) {
            held = held << 8 | p[i++];
            left += 8;
        }
        digit = (left < 6 ? held << (6 - left) : held >> (left - 6)) & 63;
        t.data[t.len++] = (uint8_t)(digit < 62 ? letters[digit] : last[digit - 62]);
    }
    if (put(s, DECODE_BASE64, &t, err) < 0)
        return -err->code;
    while (t.len % 4)
        t.data[t.len++] = '=';
    return put(s, DECODE_BASE64, &t, err);
}

static int put_utf16(struct short_names *s, const uint8_t *p, uint32_t len, unsigned high,
                     struct err *err)
{
    struct text t = { .len = 2 * len };

    for (uint32_t i = 0; i < len; i++) {
        if (p[i] >= 0x80)
            return 0;
        t.data[2 * i + !high] = p[i];
    }
    return put(s, DECODE_UTF16, &t, err);
}

static int put_all(struct short_names *s, const uint8_t *p, uint32_t len, struct err *err)
{
    static const char *const signs[] = { "", "%", "=", "\\x" };
    struct text same = { .len = len }, reversed = { .len = len };
    int rc;

    for (uint32_t i = 0; i < len; i++) {
        same.data[i] = p[i];
        reversed.data[i] = p[len - 1 - i];
    }
    rc = put(s, DECODE_CASE, &same, err);
    if (rc == 0)
        rc = put(s, DECODE_REVERSED, &reversed, err);
    for (unsigned i = 0; rc == 0 && i < 2; i++)
        rc = put_utf16(s, p, len, i, err);
    for (unsigned i = 0; rc == 0 && i < sizeof(signs) / sizeof(*signs); i++)
        rc = put_hex(s, p, len, signs[i], err);
    if (rc == 0)
        rc = put_base64(s, p, len, "+/", err);
    return rc < 0 ? rc : put_base64(s, p, len, "-_", err);
}

int short_names_add(struct short_names *s, const uint8_t *data, size_t len, uint64_t frame,
                    struct err *err)
{
    uint64_t hash = XXH3_64bits_withSeed(data, len, SEED_NAME);
    uint8_t folded[ENCODED_LEAST];

    if (len < SHORT_NAME_LEAST || len >= ENCODED_LEAST || s->name_count == SHORT_NAMES ||
        find(&s->by_name, hash) != TABLE_NONE)
        return 0;
    if (GROW(s->names, s->name_count, s->name_cap) < 0 ||
        table_add(&s->by_name, hash, s->name_count) < 0)
        return no_memory(err);
    s->names[s->name_count] = (struct secret){ .len = (uint8_t)len, .frame = frame };
    memcpy(s->names[s->name_count++].data, data, len);
    fold(data, (uint32_t)len, folded);
    if (put_all(s, data, (uint32_t)len, err) < 0)
        return -err->code;
    return memcmp(folded, data, len) == 0 ? 0 : put_all(s, folded, (uint32_t)len, err);
}

/* --- values --- */

static int count_look(struct short_names *s, const uint8_t *folded, uint32_t len, struct err *err)
{
    double chance;
    uint64_t look = look_of(folded, len, &chance);
    uint32_t slot = find(&s->looks, look);

    if (slot == TABLE_NONE) {
        slot = s->look_count;
        if (GROW(s->look_counts, slot, s->look_cap) < 0 || table_add(&s->looks, look, slot) < 0)
            return no_memory(err);
        s->look_counts[s->look_count++] = 0;
    }
    s->look_counts[slot]++;
    return 0;
}

int short_names_see(struct short_names *s, const uint8_t *data, uint32_t len, struct secret *name,
                    enum decode_code *code, struct err *err)
{
    uint8_t folded[SHORT_VALUE_MAX];
    uint64_t hash;
    uint32_t slot;

    if (len < SHORT_NAME_LEAST || len > SHORT_VALUE_MAX || !s->name_count ||
        s->value_count == SHORT_VALUES)
        return 0;
    hash = XXH3_64bits_withSeed(data, len, SEED_VALUE);
    if (find(&s->values, hash) != TABLE_NONE)
        return 0;
    if (table_add(&s->values, hash, s->value_count++) < 0)
        return no_memory(err);
    /* one that is a name as it is was found as that */
    if (find(&s->by_name, XXH3_64bits_withSeed(data, len, SEED_NAME)) != TABLE_NONE)
        return 0;
    fold(data, len, folded);
    if (count_look(s, folded, len, err) < 0)
        return -err->code;
    slot = find(&s->by_text, XXH3_64bits_withSeed(folded, len, SEED_FOLDED));
    if (slot == TABLE_NONE)
        slot = find(&s->by_text, XXH3_64bits_withSeed(data, len, SEED_EXACT));
    if (slot == TABLE_NONE)
        return 0;
    *code = (enum decode_code)s->encodings[slot].code;
    *name = s->names[s->encodings[slot].name];
    s->hits[*code]++;
    return 1;
}

void short_names_count(const struct short_names *s, struct short_names_row rows[DECODE_CODES])
{
    memset(rows, 0, DECODE_CODES * sizeof(*rows));
    for (uint32_t i = 0; i < s->encoding_count; i++) {
        const struct encoding *e = &s->encodings[i];
        uint32_t slot = find(&s->looks, e->look);

        if (slot != TABLE_NONE)
            rows[e->code].expected += e->chance * s->look_counts[slot];
    }
    for (unsigned c = 0; c < DECODE_CODES; c++)
        rows[c].hits = s->hits[c];
}
