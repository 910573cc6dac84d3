/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/keyed.h"
#include "audit/chance.h"
#include "base/bytes.h"
#include "base/digest.h"

#include <ctype.h>
#include <gcrypt.h>
#include <math.h>

/* so rare must hits be that chance does not explain them, for each of some 200 counts of a file */
#define KEYED_LIMIT 1e-9

enum { DIGEST_MAX = 32, DIGEST_KINDS = 5, ENCODED_MAX = 80, START = 4 };
enum { LETTERS_LEAST = 10 }; /* that texts of kept length have at each place */
enum { RUN = 7 };            /* so many bytes that are left in a row tell more than these */
enum { COMPARED = 8, COMPARED_LONG = 12, COMPARED_BYTES = 4, COMPARED_BYTES_LONG = 8 };

static void hit(struct keyed_row *row, enum keyed_test test, bool is, double by_chance)
{
    row->hits[test] += is;
    row->expected[test] += by_chance;
}

/* --- numbers, and handles as numbers of their first bytes --- */

static uint64_t number_of(struct pair_value v)
{
    uint8_t bytes[8] = { 0 };

    memcpy(bytes, v.data, v.len < 8 ? v.len : 8);
    return v.len == 4 ? load_be32(bytes) : load_be64(bytes);
}

static void test_numbers(struct keyed_row *row, struct pair_value from, struct pair_value to)
{
    unsigned bits = from.len == 4 ? 32 : 64, zeros;
    uint64_t mask = bits == 32 ? UINT32_MAX : UINT64_MAX;
    uint64_t x = number_of(from), y = number_of(to);
    uint64_t step_x = (x - row->from) & mask, step_y = (y - row->to) & mask;

    if (row->pairs && row->len == from.len && step_x) {
        hit(row, KEYED_ORDER, (x > row->from) == (y > row->to), 1);
        /* so many low bits of both products are zeros, whatever the steps */
        zeros = (unsigned)__builtin_ctzll(step_x | row->step_from) +
                (unsigned)__builtin_ctzll(step_y | row->step_to | UINT64_C(1) << 63);
        if (row->step_from && zeros + 32 <= bits)
            hit(row, KEYED_AFFINE,
                ((step_y * row->step_from) & mask) == ((row->step_to * step_x) & mask),
                ldexp(1, (int)zeros - (int)bits));
        row->step_from = step_x;
        row->step_to = step_y;
    }
    row->from = x;
    row->to = y;
    row->len = from.len;
}

static void test_bytes(struct keyed_row *row, struct pair_value from, struct pair_value to)
{
    const uint8_t *x = from.data, *y = to.data;
    bool one = true, as_last = row->xored_len == from.len;
    uint32_t run = 0, longest = 0;

    for (uint32_t i = 0; i < from.len; i++) {
        hit(row, KEYED_LEFT, x[i] == y[i], 1.0 / 256);
        run = x[i] == y[i] ? run + 1 : 0;
        longest = run > longest ? run : longest;
        one = one && (x[i] ^ y[i]) == (x[0] ^ y[0]);
    }
    hit(row, KEYED_ONE_BYTE, one, pow(256, 1 - (double)from.len));
    if (from.len >= RUN)
        hit(row, KEYED_RUN, longest >= RUN, (from.len - RUN + 1) * pow(256, -RUN));
    if (from.len > sizeof(row->xored))
        return;
    for (uint32_t i = 0; i < from.len; i++) {
        as_last = as_last && (x[i] ^ y[i]) == row->xored[i];
        row->xored[i] = x[i] ^ y[i];
    }
    if (row->xored_len == from.len)
        hit(row, KEYED_XOR, as_last, pow(256, -(double)from.len));
    row->xored_len = from.len;
}

static void test_reversed(struct keyed_row *row, struct pair_value from, struct pair_value to)
{
    const uint8_t *x = from.data, *y = to.data;
    bool reversed = true;

    for (uint32_t i = 0; i < from.len; i++)
        reversed = reversed && x[i] == y[from.len - 1 - i];
    hit(row, KEYED_REVERSED, reversed, pow(256, -(double)from.len));
}

/* --- digests --- */

static uint32_t digest(unsigned kind, const void *data, size_t len, uint8_t out[DIGEST_MAX])
{
    static const int algorithms[] = { GCRY_MD_MD5, GCRY_MD_SHA1, GCRY_MD_SHA256, GCRY_MD_CRC32 };

    if (kind < sizeof(algorithms) / sizeof(*algorithms)) {
        gcry_md_hash_buffer(algorithms[kind], out, data, len);
        return gcry_md_get_algo_dlen(algorithms[kind]);
    }
    store_be64(out, XXH3_64bits(data, len));
    return 8;
}

/* As letters of |bits| bits each. */
static void encode(const uint8_t *data, uint32_t len, const char *letters, unsigned bits,
                   char out[ENCODED_MAX])
{
    uint32_t n = 0, held = 0, left = 0;

    for (uint32_t i = 0; i < len || left >= bits;) {
        if (left < bits) {
            held = held << 8 | data[i++];
            left += 8;
        }
        while (left >= bits && n + 1 < ENCODED_MAX) {
            left -= bits;
            out[n++] = letters[held >> left & ((1u << bits) - 1)];
        }
    }
    out[n] = '\0';
}

static uint32_t alike(const char *a, const char *b, bool any_case)
{
    uint32_t n = 0;

    while (a[n] && b[n] &&
           (a[n] == b[n] || (any_case && tolower((uint8_t)a[n]) == tolower((uint8_t)b[n]))))
        n++;
    return n;
}

/* How many of the first COMPARED_LONG letters of |text| stand in the digest's letters; 0: below
 * COMPARED. */
static uint32_t letters_of_digest(const uint8_t *d, uint32_t len, struct pair_value text)
{
    static const struct {
        const char *letters;
        unsigned bits;
    } codes[] = {
        { "0123456789abcdef", 4 },
        { "abcdefghijklmnopqrstuvwxyz234567", 5 },
        { "0123456789abcdefghijklmnopqrstuv", 5 },
        { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6 },
        { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 6 },
    };
    char word[COMPARED_LONG + 1] = "", start[COMPARED + 1] = "", encoded[ENCODED_MAX];
    uint32_t most = 0;

    memcpy(word, text.data, text.len < COMPARED_LONG ? text.len : COMPARED_LONG);
    memcpy(start, word, COMPARED);
    if (strlen(start) < COMPARED) /* a zero is no letter */
        return 0;
    for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        bool any_case = codes[i].bits < 6;
        const char *at = encoded;

        encode(d, len, codes[i].letters, codes[i].bits, encoded);
        while ((at = any_case ? strcasestr(at, start) : strstr(at, start))) {
            uint32_t n = alike(at++, word, any_case);

            most = n > most ? n : most;
        }
    }
    return most;
}

/* The same of bytes: COMPARED_BYTES_LONG, COMPARED_BYTES or 0. */
static uint32_t bytes_of_digest(const uint8_t *d, uint32_t len, struct pair_value to)
{
    if (to.len >= COMPARED_BYTES_LONG && len >= COMPARED_BYTES_LONG &&
        memmem(d, len, to.data, COMPARED_BYTES_LONG))
        return COMPARED_BYTES_LONG;
    return memmem(d, len, to.data, COMPARED_BYTES) ? COMPARED_BYTES : 0;
}

/* |most|: as far as what is compared follows one of the known digests of |from|. */
static void find_digest(bool is_text, struct pair_value from, struct pair_value to, uint32_t *most)
{
    uint8_t d[DIGEST_MAX];

    for (unsigned kind = 0; kind < DIGEST_KINDS; kind++) {
        uint32_t len = digest(kind, from.data, from.len, d);
        uint32_t n = is_text ? letters_of_digest(d, len, to) : bytes_of_digest(d, len, to);

        *most = n > *most ? n : *most;
    }
}

/* |stem|: the original without what may stay of it. */
static void test_digests(struct keyed_row *row, bool is_text, struct pair_value from,
                         struct pair_value stem, struct pair_value to)
{
    enum { PLACES = 1000, BYTE_PLACES = 150 }; /* about so many words are compared with */
    uint32_t most = 0;

    if (to.len < (is_text ? COMPARED : COMPARED_BYTES))
        return;
    find_digest(is_text, from, to, &most);
    if (stem.len != from.len)
        find_digest(is_text, stem, to, &most);
    if (is_text) {
        hit(row, KEYED_DIGEST, most >= COMPARED, PLACES * pow(32, -COMPARED));
        hit(row, KEYED_DIGEST_LONG, most >= COMPARED_LONG, PLACES * pow(32, -COMPARED_LONG));
    } else {
        hit(row, KEYED_DIGEST, most > 0, BYTE_PLACES * pow(256, -COMPARED_BYTES));
        hit(row, KEYED_DIGEST_LONG, most == COMPARED_BYTES_LONG,
            BYTE_PLACES * pow(256, -COMPARED_BYTES_LONG));
    }
}

void keyed_pair(struct keyed *k, enum domain domain, unsigned bits, bool is_text,
                const uint32_t kept[2], struct pair_value from, struct pair_value to)
{
    struct keyed_row *row = &k->rows[domain][bits == 32 ? 1 : bits ? 2 : 0];
    struct pair_value stem = from;

    if (!is_text && from.len >= 4 && from.len == to.len) {
        test_reversed(row, from, to);
        test_bytes(row, from, to);
        test_numbers(row, from, to);
    }
    if (is_text) {
        const uint8_t *x = from.data, *y = to.data;

        if (from.len >= kept[0] + START && to.len >= kept[0] + START)
            hit(row, KEYED_START, memcmp(x + kept[0], y + kept[0], START) == 0,
                pow(LETTERS_LEAST, -START));
        to = (struct pair_value){ y + kept[0], to.len - kept[0] - kept[1] };
        stem = (struct pair_value){ x + kept[0], from.len - kept[0] - kept[1] };
    }
    test_digests(row, is_text, from, stem, to);
    row->pairs++;
}

void keyed_halves(struct keyed *k, enum domain domain, const bool is_new[2], struct pair_value from,
                  struct pair_value to)
{
    struct keyed_row *whole = &k->rows[domain][2], *row = &k->rows[domain][1];

    for (uint32_t i = 0; i < 2; i++) {
        const struct pair_value x = { (const uint8_t *)from.data + 4 * i, 4 },
                                y = { (const uint8_t *)to.data + 4 * i, 4 };

        if (!is_new[i])
            continue;
        test_bytes(row, x, y);
        test_numbers(row, x, y);
        row->pairs++;
    }
    test_reversed(whole, from, to);
    test_digests(whole, false, from, from, to);
    whole->pairs++;
}

const char *keyed_verdict(const struct keyed_row *row, enum keyed_test test)
{
    static const char *const words[KEYED_TESTS] = {
        [KEYED_AFFINE] = "follow from their originals by a factor and a sum",
        [KEYED_XOR] = "are their originals xored with one number",
        [KEYED_ONE_BYTE] = "are their originals with each byte xored with one",
        [KEYED_REVERSED] = "are their originals reversed",
        [KEYED_LEFT] = "have bytes of their originals in the same places",
        [KEYED_RUN] = "have a row of bytes of their originals in the same place",
        [KEYED_START] = "begin as their originals",
        [KEYED_DIGEST] = "are known digests of their originals, which anybody can compute",
        [KEYED_DIGEST_LONG] = "are known digests of their originals, which anybody can compute",
        [KEYED_ORDER] = "have the order of their originals",
    };
    double n = (double)row->hits[test], expected = row->expected[test];
    bool found = test == KEYED_ORDER ? fabs(n - expected / 2) > 3.5 * sqrt(expected)
                                     : chance_of(row->hits[test], expected) < KEYED_LIMIT;

    return found ? words[test] : NULL;
}
