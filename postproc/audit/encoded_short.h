/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/encoded_short.h
 *
 * Names of the original of SHORT_NAME_LEAST to ENCODED_LEAST - 1 bytes that stand encoded as whole
 * values of the anonymized file: in another case, reversed, in hexadecimal digits, base 64, UTF-16
 * or with characters as their numbers.  Such a value may be a pseudonym by chance, so they are
 * counted by encoding.
 *
 * What chance has: a value that has digits, letters and others in the places of an encoding is that
 * one with a probability of 1/10 for each digit and 1/16 for each letter, at the most (pseudonyms
 * have 22 letters or more); times the values that have them there, each counted once, summed over
 * the encodings of all names.  Fewer hits than CHANCE_LIMIT allows are no finding: one value of 12
 * and more digits and letters is one alone, of short ones several are.
 *
 * Memory: SHORT_NAMES with at most 12 encodings each, 70 bytes an encoding; SHORT_VALUES, 43 bytes
 * each and as many for what they look like.
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

/* Texts of other lengths are passed over. */
int short_names_add(struct short_names *s, const uint8_t *data, size_t len, uint64_t frame,
                    struct err *err);

/* A value, or a piece of it between what may stay.  1: it was not seen before and is an encoding of
 * a name, |name| and |code| say which; 0: it is none. */
int short_names_see(struct short_names *s, const uint8_t *data, uint32_t len, struct secret *name,
                    enum decode_code *code, struct err *err);

/* How many values were encodings of a kind, and how many by chance. */
struct short_names_row {
    uint64_t hits;
    double expected;
};
/* When all values were seen. */
void short_names_count(const struct short_names *s, struct short_names_row rows[DECODE_CODES]);

#endif
