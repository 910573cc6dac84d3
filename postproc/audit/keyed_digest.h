/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/keyed_digest.h
 *
 * Whether a pseudonym is a known digest of its original, whole or a part of it: MD5, SHA-1,
 * SHA-256, CRC-32, XXH3 and XXH64, these three in either byte order.
 *
 * What chance has: a digest of something else is any bytes, so that a piece of |n| bytes stands at
 * one place of it with a probability of 256^-n, and so many letters that its code has with 2^-bits
 * for each; times the places, digests, inputs and pieces that were compared.  This holds whatever
 * the pseudonyms are like.
 *
 * Memory: none.
 */
#ifndef NFSDIGEST_AUDIT_KEYED_DIGEST_H
#define NFSDIGEST_AUDIT_KEYED_DIGEST_H

#include "audit/pairs.h"

/* The inputs of a number or an address: its bytes, these reversed, and as text. */
enum { DIGEST_INPUTS = 3, DIGEST_INPUT_MAX = 80 };
struct digest_inputs {
    uint8_t data[DIGEST_INPUTS][DIGEST_INPUT_MAX];
    struct pair_value all[DIGEST_INPUTS];
    unsigned count;
};

/* [0]: 8 letters or 4 bytes are of a digest; [1]: 12 letters or 8 bytes, which one value alone may
 * show. */
struct digest_found {
    bool is[2];
    double expected[2]; /* by chance */
};

/* Of 4, 8 or 16 bytes. */
void digest_number_inputs(struct pair_value number, struct digest_inputs *inputs);
void digest_address_inputs(struct pair_value address, struct digest_inputs *inputs);

/* The first letters of |to|, anywhere in the letters of a digest. */
void digest_find_text(const struct pair_value *inputs, unsigned count, struct pair_value to,
                      struct digest_found *found);

/* The first or last bytes of |to|, in either order, anywhere in a digest. */
void digest_find_bytes(const struct pair_value *inputs, unsigned count, struct pair_value to,
                       struct digest_found *found);

#endif
