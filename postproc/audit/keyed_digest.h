/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/keyed_digest.h
 *
 * Checks whether a pseudonym is a known digest of its original, or a part of one: MD5, SHA-1,
 * SHA-256, CRC-32, XXH3 and XXH64, the last three in either byte order.
 *
 * The estimate for chance: a digest of something else has random bytes.  So the probability of a
 * piece of |n| bytes at one place of it is 256^-n.  For a piece of letters it is 2^-bits for each
 * letter of its code.  This is multiplied by the numbers of places, digests, inputs and pieces that
 * were compared.  It holds for any pseudonyms.
 *
 * Memory: none.
 */
#ifndef NFSDIGEST_AUDIT_KEYED_DIGEST_H
#define NFSDIGEST_AUDIT_KEYED_DIGEST_H

#include "audit/pairs.h"

/* The inputs for a number or an address: its bytes, its bytes reversed, and its text. */
enum { DIGEST_INPUTS = 3, DIGEST_INPUT_MAX = 80 };
struct digest_inputs {
    uint8_t data[DIGEST_INPUTS][DIGEST_INPUT_MAX];
    struct pair_value all[DIGEST_INPUTS];
    unsigned count;
};

/* [0]: 8 letters or 4 bytes are from a digest.  [1]: 12 letters or 8 bytes are; a single value is
 * enough to show this. */
struct digest_found {
    bool is[2];
    double expected[2]; /* by chance */
};

/* Makes the inputs for a value of 4, 8 or 16 bytes. */
void digest_number_inputs(struct pair_value number, struct digest_inputs *inputs);
void digest_address_inputs(struct pair_value address, struct digest_inputs *inputs);

/* Looks for the first letters of |to| anywhere in the letters of a digest. */
void digest_find_text(const struct pair_value *inputs, unsigned count, struct pair_value to,
                      struct digest_found *found);

/* Looks for the first or last bytes of |to|, in either order, anywhere in a digest. */
void digest_find_bytes(const struct pair_value *inputs, unsigned count, struct pair_value to,
                       struct digest_found *found);

#endif
