/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/keyed_digest.c
 *
 * Computes all digests of all inputs, and looks in them for a pseudonym: for the first letters of a
 * text, or for the first or last bytes of another value.  Everything that was compared adds to what
 * chance has.  For keyed.c.  The contract is in keyed_digest.h.
 */
#include "audit/keyed_digest.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "link/frame.h"

#include <ctype.h>
#include <gcrypt.h>
#include <math.h>
#include <stdio.h>

enum { DIGEST_MAX = 32, DIGEST_KINDS = 9, ENCODED_MAX = 80, CODES = 5, PIECES_MAX = 4 };

static const unsigned letters_compared[] = { 8, 12 }, bytes_compared[] = { 4, 8 };

static uint32_t digest(unsigned kind, struct pair_value v, uint8_t out[DIGEST_MAX])
{
    enum { OTHER_ORDER = 3 }; /* kinds that come after those in the usual one */
    static const int algorithms[] = { GCRY_MD_MD5, GCRY_MD_SHA1, GCRY_MD_SHA256, GCRY_MD_CRC32 };
    bool reversed = kind >= DIGEST_KINDS - OTHER_ORDER;
    uint32_t len = 8;
    uint64_t number;

    kind -= reversed ? OTHER_ORDER : 0;
    if (kind < sizeof(algorithms) / sizeof(*algorithms)) {
        gcry_md_hash_buffer(algorithms[kind], out, v.data, v.len);
        len = gcry_md_get_algo_dlen(algorithms[kind]);
    } else {
        number = kind == 4 ? XXH3_64bits(v.data, v.len) : XXH64(v.data, v.len, 0);
        store_be64(out, number);
    }
    for (uint32_t i = 0; reversed && i < len / 2; i++) {
        uint8_t c = out[i];

        out[i] = out[len - 1 - i];
        out[len - 1 - i] = c;
    }
    return len;
}

/* --- inputs --- */

static void put(struct digest_inputs *inputs, const void *data, size_t len)
{
    uint8_t *to = inputs->data[inputs->count];

    memcpy(to, data, len);
    inputs->all[inputs->count++] = (struct pair_value){ to, (uint32_t)len };
}

static void put_both_orders(struct digest_inputs *inputs, struct pair_value v)
{
    const uint8_t *p = v.data;
    uint8_t reversed[16];

    inputs->count = 0;
    put(inputs, v.data, v.len);
    for (uint32_t i = 0; i < v.len; i++)
        reversed[i] = p[v.len - 1 - i];
    put(inputs, reversed, v.len);
}

void digest_number_inputs(struct pair_value v, struct digest_inputs *inputs)
{
    char text[24];
    uint64_t number = v.len == 4 ? load_be32(v.data) : load_be64(v.data);

    put_both_orders(inputs, v);
    put(inputs, text, (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)number));
}

void digest_address_inputs(struct pair_value v, struct digest_inputs *inputs)
{
    struct address address = { .version = v.len == 4 ? 4 : 6 };
    char text[DIGEST_INPUT_MAX];

    put_both_orders(inputs, v);
    memcpy(address.bytes, v.data, v.len);
    address_text(&address, text);
    put(inputs, text, strlen(text));
}

/* --- letters --- */

static const struct code {
    const char *letters;
    unsigned bits;
} codes[CODES] = {
    { "0123456789abcdef", 4 },
    { "abcdefghijklmnopqrstuvwxyz234567", 5 },
    { "0123456789abcdefghijklmnopqrstuv", 5 },
    { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6 },
    { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 6 },
};

/* Digits and letters of fewer bits stand in either case. */
static bool any_case(const struct code *code)
{
    return code->bits < 6;
}

/* As letters; returns how many. */
static uint32_t encode(const uint8_t *data, uint32_t len, const struct code *code,
                       char out[ENCODED_MAX])
{
    uint32_t n = 0, held = 0, left = 0;

    for (uint32_t i = 0; i < len || left >= code->bits;) {
        if (left < code->bits) {
            held = held << 8 | data[i++];
            left += 8;
        }
        while (left >= code->bits && n + 1 < ENCODED_MAX) {
            left -= code->bits;
            out[n++] = code->letters[held >> left & ((1u << code->bits) - 1)];
        }
    }
    out[n] = '\0';
    return n;
}

/* How many of the first letters of |text| the code has; zeros are none. */
static uint32_t letters_of_code(const struct code *code, struct pair_value text)
{
    const uint8_t *p = text.data;
    uint32_t n = 0;

    while (n < text.len && n < letters_compared[1] && p[n] &&
           strchr(code->letters, any_case(code) ? tolower(p[n]) : p[n]))
        n++;
    return n;
}

static bool has(const struct code *code, const char *encoded, struct pair_value text, uint32_t n)
{
    char word[16] = "";

    memcpy(word, text.data, n);
    return (any_case(code) ? strcasestr(encoded, word) : strstr(encoded, word)) != NULL;
}

void digest_find_text(const struct pair_value *inputs, unsigned count, struct pair_value to,
                      struct digest_found *found)
{
    uint32_t known[CODES], most = 0;

    *found = (struct digest_found){ 0 };
    for (unsigned c = 0; c < CODES; c++) {
        known[c] = letters_of_code(&codes[c], to);
        most = known[c] > most ? known[c] : most;
    }
    if (most < letters_compared[0])
        return;
    for (unsigned i = 0; i < count * DIGEST_KINDS; i++) {
        uint8_t d[DIGEST_MAX];
        uint32_t len = digest(i % DIGEST_KINDS, inputs[i / DIGEST_KINDS], d);

        for (unsigned c = 0; c < CODES; c++) {
            char encoded[ENCODED_MAX];
            uint32_t letters;

            if (known[c] < letters_compared[0])
                continue;
            letters = encode(d, len, &codes[c], encoded);
            for (unsigned k = 0; k < 2; k++) {
                uint32_t n = letters_compared[k];

                if (known[c] < n || letters < n)
                    continue;
                found->expected[k] += (letters - n + 1) * ldexp(1, -(int)(codes[c].bits * n));
                found->is[k] = found->is[k] || has(&codes[c], encoded, to, n);
            }
        }
    }
}

/* --- bytes --- */

/* The first and the last |n| bytes, each in both orders; returns how many. */
static unsigned pieces_of(struct pair_value to, uint32_t n, uint8_t pieces[PIECES_MAX][8])
{
    const uint8_t *p = to.data;
    unsigned count = to.len == n ? 2 : to.len > n ? 4 : 0;

    for (uint32_t i = 0; count && i < n; i++) {
        pieces[0][i] = p[i];
        pieces[1][n - 1 - i] = p[i];
        pieces[2][i] = p[to.len - n + i];
        pieces[3][n - 1 - i] = p[to.len - n + i];
    }
    return count;
}

void digest_find_bytes(const struct pair_value *inputs, unsigned count, struct pair_value to,
                       struct digest_found *found)
{
    enum { ONE_ORDER = DIGEST_KINDS - 3 }; /* of digests: pieces have both */
    uint8_t pieces[2][PIECES_MAX][8];
    unsigned piece_count[2];

    *found = (struct digest_found){ 0 };
    for (unsigned k = 0; k < 2; k++)
        piece_count[k] = pieces_of(to, bytes_compared[k], pieces[k]);
    for (unsigned i = 0; i < count * ONE_ORDER && piece_count[0]; i++) {
        uint8_t d[DIGEST_MAX];
        uint32_t len = digest(i % ONE_ORDER, inputs[i / ONE_ORDER], d);

        for (unsigned k = 0; k < 2; k++) {
            uint32_t n = bytes_compared[k];

            if (len < n)
                continue;
            found->expected[k] += piece_count[k] * (len - n + 1) * pow(256, -(double)n);
            for (unsigned j = 0; j < piece_count[k]; j++)
                found->is[k] = found->is[k] || memmem(d, len, pieces[k][j], n);
        }
    }
}
