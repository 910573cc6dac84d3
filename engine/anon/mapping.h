/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/mapping.h
 *
 * Replaces values by pseudonyms.  A pseudonym depends only on key, policy and value, not on other
 * values that were seen.  So captures that are anonymized separately agree.
 *
 * Two values never have the same pseudonym.  For numbers, addresses, and bytes and texts of the
 * same length this follows from the construction (keyed permutations: FF1, NIST SP 800-38G;
 * Crypto-PAn for addresses).  Two tokens are equal only if 80 bits are equal by chance.  0, empty
 * values and the kept values of the policy are mapped to themselves.
 *
 * Memory: at most MAPPING_BYTES of caches; a value that fell out is computed again.  With the
 * built-in policies it is 16 MiB for handles and names, 1 MiB for each class of 64-bit numbers in
 * the capture, and 1.3 MiB for each class of 32 bits; and buffers as long as the longest value.
 * Two threads must not use it at the same time.
 */
#ifndef NFSDIGEST_ANON_MAPPING_H
#define NFSDIGEST_ANON_MAPPING_H

#include "anon/key.h"
#include "anon/policy.h"
#include "anon/verifier_times.h"
#include "link/frame.h"

enum { MAPPING_BYTES = 64 << 20, TOKEN_LEN = 16 };

struct mapping;

/* |policy| must outlive it; the key is not needed any more. */
struct mapping *mapping_new(const struct key *key, const struct policy *policy, struct err *err);
void mapping_free(struct mapping *m);

/* Returns the pseudonym of a number, or (mapping_number_back) the original of a pseudonym.  The
 * class is UID, GID, FILEID, FSID, DEVICE, COOKIE, VERIFIER, LOCK_OWNER, TIME (seconds), MODE, or
 * any other with RULE_KEEP or RULE_ZERO.  |bits| is 32 or 64. */
uint64_t mapping_number(struct mapping *m, enum field_class cls, enum rule rule, unsigned bits,
                        uint64_t value);
uint64_t mapping_number_back(struct mapping *m, enum field_class cls, enum rule rule, unsigned bits,
                             uint64_t value);
/* Maps a number of a time that is half a verifier (verifier_times.h) to the number that the
 * verifier's pseudonym has in the same place.  |order| is not VERIFIER_NONE.  Call it only if
 * mapping_hides_verifier_times returns true. */
uint32_t mapping_verifier_time(struct mapping *m, enum verifier_order order, uint32_t number);
/* Returns false with a key of KEY_VERSION_1, and if the policy makes times zeros anyway. */
bool mapping_hides_verifier_times(const struct mapping *m);

/* Map a value of EXTRA_STAMP, EXTRA_XID or EXTRA_PORT (16 bits), forward and back. */
uint32_t mapping_extra(struct mapping *m, enum policy_extra extra, uint32_t value);
uint32_t mapping_extra_back(struct mapping *m, enum policy_extra extra, uint32_t value);

/* Maps a string (|text|) or opaque of any class.  |max| is its bound, or 0; a path whose tokens
 * would exceed it becomes one token.  |out| points into memory that is valid until the next call.
 * Fails only if there is no memory.
 * - CLASS_NAME: one component.
 * - CLASS_PATH: its slashes stay.
 * - CLASS_HOST: becomes a token.  An address with or without a prefix length becomes the address's
 *   pseudonym, with RULE_SAME, too, so its length can change.  "*" and a netgroup's "@" stay.
 * - CLASS_ADDRESS: RPCBIND's universal address (RFC 5665 s5.2.3); anything else becomes a token.
 * - CLASS_NONE: a well-known network id or protocol name stays; anything else becomes a token.
 * - CLASS_DATA under RULE_ZERO: becomes zeros. */
int mapping_bytes(struct mapping *m, enum field_class cls, enum rule rule, bool text, uint32_t max,
                  const uint8_t *data, uint32_t len, struct bytes *out, struct err *err);
/* Prefetches the memory for a handle that will be mapped soon. */
void mapping_expect_handle(struct mapping *m, const uint8_t *data, uint32_t len);
/* The inverse of mapping_bytes.  There is one for bytes with RULE_KEYED except CLASS_OPAQUE and
 * CLASS_DATA; for CLASS_NAME, CLASS_PATH and CLASS_HOST with RULE_SAME; and for addresses as texts.
 * Returns -ERR_INPUT if there is no inverse. */
int mapping_bytes_back(struct mapping *m, enum field_class cls, enum rule rule, const uint8_t *data,
                       uint32_t len, struct bytes *out, struct err *err);

void mapping_address(struct mapping *m, const struct address *in, struct address *out);
void mapping_address_back(struct mapping *m, const struct address *in, struct address *out);

/* Returns the seconds to add to capture times: 0, or with RULE_SHIFT for CLASS_TIME an offset that
 * only the key determines.  mapping_number adds the same to attribute times, modulo 2^32, except to
 * well-known constants: 0, 1, 1980-01-01, and others that mean no time. */
int64_t mapping_shift(const struct mapping *m);

/* Returns how many paths became one token because their tokens would have exceeded their bound. */
uint64_t mapping_overflows(const struct mapping *m);

#endif
