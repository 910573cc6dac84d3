/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/address_pan.h
 *
 * Crypto-PAn (Xu, Fan, Ammar, Moon: Prefix-Preserving IP Address Anonymization, 2002): two
 * addresses that share their first n bits have pseudonyms that share exactly n bits.  IPv4 as its
 * authors published it, IPv6 by the same construction over 128 bits.
 */
#ifndef NFSDIGEST_ANON_ADDRESS_PAN_H
#define NFSDIGEST_ANON_ADDRESS_PAN_H

#include "anon/cipher.h"

enum { PAN_KEY_LEN = 32 };

struct pan {
    gcry_cipher_hd_t aes;
    uint8_t pad[CIPHER_BLOCK];
};

/* The key's first half is that of AES-128, the second half, encrypted, pads what is encrypted. */
int pan_open(struct pan *pan, const uint8_t key[PAN_KEY_LEN], struct err *err);
void pan_close(struct pan *pan);

/* |len|: 4 or 16 bytes.  The first |keep| bits stay as they are; what the others become depends on
 * all of |in| before them.  |in| may be |out|. */
void pan_encrypt(const struct pan *pan, const uint8_t *in, uint8_t *out, unsigned len,
                 unsigned keep);
void pan_decrypt(const struct pan *pan, const uint8_t *in, uint8_t *out, unsigned len,
                 unsigned keep);

#endif
