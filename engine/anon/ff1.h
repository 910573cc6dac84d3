/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/ff1.h
 *
 * FF1 of NIST SP 800-38G: a keyed permutation of the strings of |n| digits of a radix.  Each n and
 * each tweak give another permutation.  The caller owns a struct ff1.  Two threads must not use it
 * at the same time.
 */
#ifndef NFSDIGEST_ANON_FF1_H
#define NFSDIGEST_ANON_FF1_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { FF1_DIGITS_MIN = 2, FF1_DIGITS_MAX = 320, FF1_TWEAK_MAX = 64 };

struct ff1;

/* |key|: 16, 24 or 32 bytes.  |radix|: 2 to 65536.  The tweak is part of the key here. */
struct ff1 *ff1_new(const void *key, size_t key_len, unsigned radix, const void *tweak,
                    size_t tweak_len, struct err *err);
void ff1_free(struct ff1 *f);

/* |digits|: |n| numbers below the radix, the most significant first, changed in place; |n| is
 * FF1_DIGITS_MIN to FF1_DIGITS_MAX. */
void ff1_encrypt(struct ff1 *f, uint16_t *digits, unsigned n);
void ff1_decrypt(struct ff1 *f, uint16_t *digits, unsigned n);

/* Encrypts 4 digits of radix 256 by a table of the round function's values.  Filling the table
 * costs 655,360 blocks of AES; after that it is faster.  Only for a radix of 256 and a tweak of at
 * most 9 bytes. */
enum { FF1_ROUNDS = 10, FF1_TABLE_LEN = FF1_ROUNDS << 16 };
void ff1_fill_table(struct ff1 *f, uint16_t table[FF1_TABLE_LEN]);

static inline uint32_t ff1_table_encrypt(const uint16_t table[FF1_TABLE_LEN], uint32_t value)
{
    uint16_t a = (uint16_t)(value >> 16), b = (uint16_t)value;

    for (unsigned i = 0; i < FF1_ROUNDS; i++) {
        uint16_t c = (uint16_t)(a + table[i << 16 | b]);

        a = b;
        b = c;
    }
    return (uint32_t)a << 16 | b;
}

#endif
