/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/encoded_short.h
 *
 * Finds names of the original of SHORT_NAME_LEAST to ENCODED_LEAST - 1 bytes that are encoded as
 * whole values of the anonymized file: in another case, reversed, in hexadecimal digits, base 64,
 * UTF-16, or with characters as numbers.  Such a value can be a pseudonym by chance, so they are
 * counted by encoding.
 *
 * The estimate for chance: a value has digits, letters and others in the same places as an
 * encoding.  Then it is this encoding with a probability of at most 1/10 for each digit and 1/16
 * for each letter (pseudonyms have 22 letters or more).  This is multiplied by the number of
 * distinct values that have them there, and summed over the encodings of all names.  It is not a
 * finding if CHANCE_LIMIT allows as many hits.  A single value with 12 or more digits and letters
 * is a finding; short values are one only if there are several.
 *
 * Memory: SHORT_NAMES with at most 12 encodings each, 70 bytes for each encoding; SHORT_VALUES, 43
 * bytes each and as many for their patterns.
 */
#ifndef NFSDIGEST_AUDIT_ENCODED_SHORT_H
#define NFSDIGEST_AUDIT_ENCODED_SHORT_H

#include "audit/decode.h"
#include "audit/secret.h"

enum {
    SHORT_NAME_LEAST = 3,
    SHORT_NAMES = 1 << 13,
    SHORT_VALUES = 1 << 16,
    SHORT_VALUE_MAX = 28, /* 7 characters as \x41 */
};

struct short_names;

struct short_names *short_names_new(struct err *err);
void short_names_free(struct short_names *s);

/* Adds a name; skips texts of other lengths. */
int short_names_add(struct short_names *s, const uint8_t *data, size_t len, uint64_t frame,
                    struct err *err);

/* Examines a value, or a piece of it between parts that may stay.  Returns 1 if it is new and is an
 * encoding of a name; |name| and |code| say which.  Returns 0 if it is not, or a negative code. */
int short_names_see(struct short_names *s, const uint8_t *data, uint32_t len, struct secret *name,
                    enum decode_code *code, struct err *err);

/* Number of values that were encodings of a kind, and the number that chance explains. */
struct short_names_row {
    uint64_t hits;
    double expected;
};
/* Counts the hits, after all values were seen. */
void short_names_count(const struct short_names *s, struct short_names_row rows[DECODE_CODES]);

#endif
