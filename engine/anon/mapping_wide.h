/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/mapping_wide.h
 *
 * A keyed permutation of digit strings of any length, in linear time: four rounds of the
 * construction of Luby and Rackoff.  In each round, a stream changes one half; HMAC of the other
 * half begins the stream.  For strings that are too long for FF1: 129 digits and more.
 */
#ifndef NFSDIGEST_ANON_MAPPING_WIDE_H
#define NFSDIGEST_ANON_MAPPING_WIDE_H

#include "anon/cipher.h"

enum { WIDE_KEY_LEN = 64 };

struct wide {
    gcry_md_hd_t hmac;
    gcry_cipher_hd_t stream;
};

int wide_open(struct wide *wide, const uint8_t key[WIDE_KEY_LEN], struct err *err);
void wide_close(struct wide *wide);

/* Each |domain|, radix and |n| gives another permutation. */
void wide_encrypt(const struct wide *wide, uint32_t domain, uint32_t radix, uint16_t *digits,
                  uint32_t n);
void wide_decrypt(const struct wide *wide, uint32_t domain, uint32_t radix, uint16_t *digits,
                  uint32_t n);

#endif
