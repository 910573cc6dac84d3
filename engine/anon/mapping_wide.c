/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/mapping_wide.h"

#include <stdbool.h>
#include <string.h>

enum { ROUNDS = 4, PIECE = 256 };

int wide_open(struct wide *wide, const uint8_t key[WIDE_KEY_LEN], struct err *err)
{
    memset(wide, 0, sizeof(*wide));
    if (hmac_open(&wide->hmac, key, 32, err) < 0)
        return -ERR_SYSTEM;
    return stream_open(&wide->stream, key + 32, err);
}

void wide_close(struct wide *wide)
{
    hmac_close(wide->hmac);
    cipher_close(wide->stream);
    memset(wide, 0, sizeof(*wide));
}

/* Adds to |to|, digit by digit, or takes away, what |from| says. */
static void change(const struct wide *wide, const uint32_t head[4], const uint16_t *from,
                   uint32_t from_len, uint16_t *to, uint32_t to_len, bool back)
{
    uint8_t iv[HMAC_LEN];
    uint32_t words[PIECE], radix = head[2];

    hmac_compute(wide->hmac, (struct bytes){ (const uint8_t *)head, 4 * sizeof(*head) },
                 (struct bytes){ (const uint8_t *)from, from_len * (uint32_t)sizeof(*from) }, iv);
    stream_begin(wide->stream, iv);
    for (uint32_t i = 0; i < to_len; i++) {
        uint32_t add;

        if (i % PIECE == 0)
            stream_next(wide->stream, words, sizeof(words));
        add = words[i % PIECE] % radix;
        to[i] = (uint16_t)((to[i] + (back ? radix - add : add)) % radix);
    }
}

static void round_of(const struct wide *wide, uint32_t i, uint32_t domain, uint32_t radix,
                     uint16_t *digits, uint32_t n, bool back)
{
    const uint32_t head[4] = { i, domain, radix, n };
    uint32_t half = n / 2;

    if (i % 2 == 0)
        change(wide, head, digits, half, digits + half, n - half, back);
    else
        change(wide, head, digits + half, n - half, digits, half, back);
}

void wide_encrypt(const struct wide *wide, uint32_t domain, uint32_t radix, uint16_t *digits,
                  uint32_t n)
{
    for (uint32_t i = 0; i < ROUNDS; i++)
        round_of(wide, i, domain, radix, digits, n, false);
}

void wide_decrypt(const struct wide *wide, uint32_t domain, uint32_t radix, uint16_t *digits,
                  uint32_t n)
{
    for (uint32_t i = ROUNDS; i-- > 0;)
        round_of(wide, i, domain, radix, digits, n, true);
}
