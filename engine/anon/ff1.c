/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/ff1.c
 *
 * FF1 in both directions: the round function, and its numbers as limbs of 32 bits.  Names of
 * variables are those of SP 800-38G, algorithms 7 and 8.  Values that depend only on the length are
 * computed once for each length.  Radix 256 needs no arithmetic, and 32-bit numbers can have a
 * table of the round function.  For mapping*.c.  The contract is in ff1.h.
 */
#include "anon/ff1.h"
#include "anon/cipher.h"

#include <stdlib.h>
#include <string.h>

enum {
    HALF_MAX = FF1_DIGITS_MAX / 2,
    B_MAX = 2 * HALF_MAX, /* bytes of NUM(B): 2 for each digit */
    D_MAX = 4 * ((B_MAX + 3) / 4) + 4,
    Q_MAX = FF1_TWEAK_MAX + CIPHER_BLOCK + 1 + B_MAX,
    LIMBS_MAX = D_MAX / 4,
};

/* What only depends on n. */
struct length {
    uint16_t b;              /* bytes of NUM(B); 0: not known yet */
    uint8_t p[CIPHER_BLOCK]; /* P, encrypted */
};

struct ff1 {
    gcry_cipher_hd_t aes;
    unsigned radix;
    uint32_t chunk; /* radix^chunk_digits, the greatest below 2^32 */
    unsigned chunk_digits;
    unsigned tweak_len;
    uint8_t tweak[FF1_TWEAK_MAX];
    struct length lengths[FF1_DIGITS_MAX + 1];
};

struct ff1 *ff1_new(const void *key, size_t key_len, unsigned radix, const void *tweak,
                    size_t tweak_len, struct err *err)
{
    struct ff1 *f = calloc(1, sizeof(*f));

    if (!f) {
        err_memory(err, "a permutation");
        return NULL;
    }
    if (radix < 2 || radix > 65536 || tweak_len > FF1_TWEAK_MAX) {
        err_set(err, ERR_USAGE, "no permutation has radix %u and a tweak of %zu bytes", radix,
                tweak_len);
        ff1_free(f);
        return NULL;
    }
    f->radix = radix;
    f->chunk = radix;
    f->chunk_digits = 1;
    while ((uint64_t)f->chunk * radix <= UINT32_MAX) {
        f->chunk *= radix;
        f->chunk_digits++;
    }
    f->tweak_len = (unsigned)tweak_len;
    if (tweak_len)
        memcpy(f->tweak, tweak, tweak_len);
    if (aes_open(&f->aes, key, key_len, err) < 0) {
        ff1_free(f);
        return NULL;
    }
    return f;
}

void ff1_free(struct ff1 *f)
{
    if (!f)
        return;
    cipher_close(f->aes);
    explicit_bzero(f, sizeof(*f));
    free(f);
}

/* --- numbers of many digits: limbs of 32 bits, the least significant first --- */

/* number = number * factor + add; returns the number of limbs in use. */
static unsigned multiply_add(uint32_t *limbs, unsigned used, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;

    for (unsigned i = 0; i < used; i++) {
        carry += (uint64_t)limbs[i] * factor;
        limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        limbs[used++] = (uint32_t)carry;
    return used;
}

/* number = number / divisor; returns the remainder. */
static uint32_t divide(uint32_t *limbs, unsigned *used, uint32_t divisor)
{
    uint64_t rest = 0;

    for (unsigned i = *used; i-- > 0;) {
        rest = rest << 32 | limbs[i];
        limbs[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    while (*used && !limbs[*used - 1])
        --*used;
    return (uint32_t)rest;
}

/* NUM_radix(digits) as |b| bytes, big-endian. */
static void number_bytes(const struct ff1 *f, const uint16_t *digits, unsigned m, uint8_t *out,
                         unsigned b)
{
    uint32_t limbs[LIMBS_MAX];
    unsigned used = 0;

    if (f->radix == 256) {
        memset(out, 0, b - m);
        for (unsigned i = 0; i < m; i++)
            out[b - m + i] = (uint8_t)digits[i];
        return;
    }
    for (unsigned i = 0; i < m;) {
        uint32_t factor = 1, value = 0;

        for (unsigned k = 0; k < f->chunk_digits && i < m; k++, i++) {
            factor *= f->radix;
            value = value * f->radix + digits[i];
        }
        used = multiply_add(limbs, used, factor, value);
    }
    for (unsigned i = 0; i < b; i++)
        out[b - 1 - i] = i / 4 < used ? (uint8_t)(limbs[i / 4] >> 8 * (i % 4)) : 0;
}

/* The last |m| digits of the number in |d| bytes (a multiple of 4). */
static void last_digits(const struct ff1 *f, const uint8_t *bytes, unsigned d, uint16_t *digits,
                        unsigned m)
{
    uint32_t limbs[LIMBS_MAX];
    unsigned used = d / 4;

    if (f->radix == 256) {
        for (unsigned i = 0; i < m; i++)
            digits[i] = bytes[d - m + i];
        return;
    }
    for (unsigned i = 0; i < used; i++)
        limbs[i] = load_be32(bytes + d - 4 * (i + 1));
    while (m) {
        uint32_t rest = divide(limbs, &used, f->chunk);

        for (unsigned k = 0; k < f->chunk_digits && m; k++, rest /= f->radix)
            digits[--m] = (uint16_t)(rest % f->radix);
    }
}

/* --- the round function --- */

static const struct length *length_of(struct ff1 *f, unsigned n)
{
    struct length *l = &f->lengths[n];
    uint32_t limbs[LIMBS_MAX] = { 0 };
    unsigned used = 0, v = n - n / 2, bits = 0;

    if (l->b)
        return l;
    /* bits of radix^v - 1, the greatest NUM(B): what ceil(v * log2(radix)) is without rounding */
    for (unsigned i = 0; i < v; i++)
        used = multiply_add(limbs, used, f->radix, f->radix - 1);
    bits = 32 * used - (unsigned)__builtin_clz(limbs[used - 1]);
    l->p[0] = 1;
    l->p[1] = 2;
    l->p[2] = 1;
    l->p[3] = (uint8_t)(f->radix >> 16);
    l->p[4] = (uint8_t)(f->radix >> 8);
    l->p[5] = (uint8_t)f->radix;
    l->p[6] = 10;
    l->p[7] = (uint8_t)(n / 2);
    store_be32(l->p + 8, n);
    store_be32(l->p + 12, f->tweak_len);
    aes_blocks(f->aes, l->p, CIPHER_BLOCK);
    l->b = (uint16_t)((bits + 7) / 8);
    return l;
}

static void xor_block(uint8_t *to, const uint8_t *from)
{
    for (unsigned i = 0; i < CIPHER_BLOCK; i++)
        to[i] ^= from[i];
}

/* y mod radix^m as |m| digits, of round |i| with the half |half| of |half_len| digits.  |q| holds Q
 * with all that is the same in all rounds, of |q_len| bytes. */
static void round_digits(struct ff1 *f, const struct length *l, uint8_t *q, unsigned q_len,
                         unsigned i, const uint16_t *half, unsigned half_len, uint16_t *y,
                         unsigned m)
{
    unsigned d = 4 * ((l->b + 3u) / 4) + 4;
    uint8_t s[D_MAX + CIPHER_BLOCK], *r = s;

    q[q_len - l->b - 1] = (uint8_t)i;
    number_bytes(f, half, half_len, q + q_len - l->b, l->b);
    memcpy(r, l->p, CIPHER_BLOCK);
    for (unsigned at = 0; at < q_len; at += CIPHER_BLOCK) {
        xor_block(r, q + at);
        aes_blocks(f->aes, r, CIPHER_BLOCK);
    }
    if (d > CIPHER_BLOCK) {
        unsigned blocks = (d - 1) / CIPHER_BLOCK;

        for (unsigned j = 1; j <= blocks; j++) {
            uint8_t *block = s + j * CIPHER_BLOCK;

            memcpy(block, r, CIPHER_BLOCK);
            block[CIPHER_BLOCK - 1] ^= (uint8_t)j; /* at most 41 of them */
        }
        aes_blocks(f->aes, s + CIPHER_BLOCK, blocks * CIPHER_BLOCK);
    }
    last_digits(f, s, d, y, m);
}

static unsigned begin_q(const struct ff1 *f, const struct length *l, uint8_t *q)
{
    unsigned used = f->tweak_len + 1 + l->b;
    unsigned len = (used + CIPHER_BLOCK - 1) / CIPHER_BLOCK * CIPHER_BLOCK;

    memset(q, 0, len);
    memcpy(q, f->tweak, f->tweak_len);
    return len;
}

static void add_digits(const struct ff1 *f, uint16_t *a, const uint16_t *y, unsigned m)
{
    unsigned carry = 0;

    while (m-- > 0) {
        unsigned sum = (unsigned)a[m] + y[m] + carry;

        carry = sum >= f->radix;
        a[m] = (uint16_t)(carry ? sum - f->radix : sum);
    }
}

static void subtract_digits(const struct ff1 *f, uint16_t *a, const uint16_t *y, unsigned m)
{
    unsigned borrow = 0;

    while (m-- > 0) {
        unsigned less = (unsigned)y[m] + borrow;

        borrow = a[m] < less;
        a[m] = (uint16_t)(borrow ? a[m] + f->radix - less : a[m] - less);
    }
}

/* The halves stay where they are: in even rounds the first one changes, in odd ones the second,
 * which is the standard's swapping without copying. */
void ff1_encrypt(struct ff1 *f, uint16_t *digits, unsigned n)
{
    const struct length *l = length_of(f, n);
    unsigned u = n / 2, v = n - u;
    uint16_t *a = digits, *b = digits + u, y[HALF_MAX + 1];
    uint8_t q[Q_MAX];
    unsigned q_len = begin_q(f, l, q);

    for (unsigned i = 0; i < FF1_ROUNDS; i += 2) {
        round_digits(f, l, q, q_len, i, b, v, y, u);
        add_digits(f, a, y, u);
        round_digits(f, l, q, q_len, i + 1, a, u, y, v);
        add_digits(f, b, y, v);
    }
}

void ff1_decrypt(struct ff1 *f, uint16_t *digits, unsigned n)
{
    const struct length *l = length_of(f, n);
    unsigned u = n / 2, v = n - u;
    uint16_t *a = digits, *b = digits + u, y[HALF_MAX + 1];
    uint8_t q[Q_MAX];
    unsigned q_len = begin_q(f, l, q);

    for (unsigned i = FF1_ROUNDS; i > 0; i -= 2) {
        round_digits(f, l, q, q_len, i - 1, a, u, y, v);
        subtract_digits(f, b, y, v);
        round_digits(f, l, q, q_len, i - 2, b, v, y, u);
        subtract_digits(f, a, y, u);
    }
}

void ff1_fill_table(struct ff1 *f, uint16_t table[FF1_TABLE_LEN])
{
    enum { BATCH = 256 };
    const struct length *l = length_of(f, 4);
    uint8_t blocks[BATCH * CIPHER_BLOCK], q[Q_MAX];

    begin_q(f, l, q);
    for (unsigned at = 0; at < FF1_TABLE_LEN; at += BATCH) {
        q[CIPHER_BLOCK - 3] = (uint8_t)(at >> 16);
        for (unsigned i = 0; i < BATCH; i++) {
            uint8_t *block = blocks + i * CIPHER_BLOCK;

            store_be16(q + CIPHER_BLOCK - 2, (uint16_t)(at + i));
            memcpy(block, l->p, CIPHER_BLOCK);
            xor_block(block, q);
        }
        aes_blocks(f->aes, blocks, sizeof(blocks));
        for (unsigned i = 0; i < BATCH; i++) /* the end of S's 8 bytes */
            table[at + i] = load_be16(blocks + i * CIPHER_BLOCK + 6);
    }
}
