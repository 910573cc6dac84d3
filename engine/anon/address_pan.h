/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/address_pan.h
 *
 * Crypto-PAn (Xu, Fan, Ammar, Moon: Prefix-Preserving IP Address Anonymization, 2002): two
 * addresses that share their first n bits have pseudonyms that share exactly n bits.  One bit of
 * AES over the bits before it decides if a bit is flipped.  There are two ways to fill the rest of
 * the block:
 * - PAN_NUMBERED: a one and zeros, so that the block says how many bits are before it, and no two
 *   bits of an address have the same block: each is flipped or not by itself;
 * - PAN_PUBLISHED: a secret pad, as the authors published it for IPv4 (IPv6: the same over 128
 * bits). Where the next bit of the address is the pad's, the next block is the same, so about half
 * of the bits are flipped as the one before them is: pseudonyms have half the entropy they could
 * have, and of 1,000 keys some 7 leave 16 bits in a row as they are.
 */
#ifndef NFSDIGEST_ANON_ADDRESS_PAN_H
#define NFSDIGEST_ANON_ADDRESS_PAN_H

#include "anon/cipher.h"

enum { PAN_KEY_LEN = 32 };

enum pan_way { PAN_PUBLISHED, PAN_NUMBERED };

struct pan {
    gcry_cipher_hd_t aes;
    uint8_t pad[CIPHER_BLOCK];
    enum pan_way way;
};

/* The first half of the key is the AES-128 key.  The second half, encrypted, is the pad.
 * PAN_NUMBERED adds it to every block, so that the encrypted blocks are secret. */
int pan_open(struct pan *pan, const uint8_t key[PAN_KEY_LEN], enum pan_way way, struct err *err);
void pan_close(struct pan *pan);

/* |len|: 4 or 16 bytes.  The first |keep| bits stay as they are; what the others become depends on
 * all of |in| before them.  |in| may be |out|. */
void pan_encrypt(const struct pan *pan, const uint8_t *in, uint8_t *out, unsigned len,
                 unsigned keep);
void pan_decrypt(const struct pan *pan, const uint8_t *in, uint8_t *out, unsigned len,
                 unsigned keep);

#endif
