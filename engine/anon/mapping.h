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

/* A number of class UID, GID, FILEID, FSID, DEVICE, COOKIE, VERIFIER, LOCK_OWNER, TIME (seconds),
 * MODE, or any other with RULE_KEEP or RULE_ZERO.  |bits| is 32 or 64. */
uint64_t mapping_number(struct mapping *m, enum field_class cls, enum rule rule, unsigned bits,
                        uint64_t value);
uint64_t mapping_number_back(struct mapping *m, enum field_class cls, enum rule rule, unsigned bits,
                             uint64_t value);
/* A number of a time (verifier_times.h) as the pseudonym of the verifier it is from would have it
 * in the same place: half of it in |order|, not VERIFIER_NONE.  Ask only where
 * mapping_hides_verifier_times. */
uint32_t mapping_verifier_time(struct mapping *m, enum verifier_order order, uint32_t number);
/* Not with a key of KEY_VERSION_1, and not where times are zeros anyway. */
bool mapping_hides_verifier_times(const struct mapping *m);

/* EXTRA_STAMP, EXTRA_XID, EXTRA_PORT (16 bits). */
uint32_t mapping_extra(struct mapping *m, enum policy_extra extra, uint32_t value);
uint32_t mapping_extra_back(struct mapping *m, enum policy_extra extra, uint32_t value);

/* A string (|text|) or opaque of any class.  |max|: its bound, 0 without one; a path whose tokens
 * would pass it becomes one token.  CLASS_NAME is one component; CLASS_PATH keeps its slashes;
 * CLASS_HOST is a token, or, when it reads as an address with or without a prefix length, that
 * address's pseudonym, with RULE_SAME too, so of another length; "*" and a netgroup's "@" stay;
 * CLASS_ADDRESS is RPCBIND's universal address (RFC 5665 s5.2.3) or a token; CLASS_NONE is kept
 * when it is a well-known network id or protocol name, else a token; CLASS_DATA under RULE_ZERO is
 * zeros.  |out| points into memory that lives until the next call. Fails only for lack of memory.
 */
int mapping_bytes(struct mapping *m, enum field_class cls, enum rule rule, bool text, uint32_t max,
                  const uint8_t *data, uint32_t len, struct bytes *out, struct err *err);
/* Says that a handle will be asked for soon, so that its memory is under way meanwhile. */
void mapping_expect_handle(struct mapping *m, const uint8_t *data, uint32_t len);
/* The inverse, of bytes with RULE_KEYED except CLASS_OPAQUE and CLASS_DATA, of CLASS_NAME,
 * CLASS_PATH and CLASS_HOST with RULE_SAME, and of addresses as texts; -ERR_INPUT where there is
 * none. */
int mapping_bytes_back(struct mapping *m, enum field_class cls, enum rule rule, const uint8_t *data,
                       uint32_t len, struct bytes *out, struct err *err);

void mapping_address(struct mapping *m, const struct address *in, struct address *out);
void mapping_address_back(struct mapping *m, const struct address *in, struct address *out);

/* Seconds to add to capture times: 0, or with RULE_SHIFT for CLASS_TIME an offset that only the key
 * knows. The same is added to attribute times by mapping_number, modulo 2^32, except to constants
 * that are known to everyone: 0, 1, 1980-01-01, and others that mean no time. */
int64_t mapping_shift(const struct mapping *m);

/* Paths that became one token because their tokens would have passed their bound. */
uint64_t mapping_overflows(const struct mapping *m);

#endif
