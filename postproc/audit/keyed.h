/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/keyed.h
 *
 * Checks whether pseudonyms depend on a key.  They do not if they follow from their originals by a
 * calculation that everybody can do (a constant added or xored, a factor, bytes reversed, the order
 * kept, a known digest), or if parts of the originals are left in them.  Each case is counted over
 * distinct pairs, and compared with how often chance has it.
 *
 * Memory: constant.
 */
#ifndef NFSDIGEST_AUDIT_KEYED_H
#define NFSDIGEST_AUDIT_KEYED_H

#include "audit/pairs.h"

enum keyed_test {
    KEYED_AFFINE,   /* as far from the last one, times a factor, as the original was */
    KEYED_XOR,      /* xored with the same as the last one */
    KEYED_ONE_BYTE, /* all bytes xored with one */
    KEYED_REVERSED,
    KEYED_LEFT,        /* bytes equal to the original's in their places */
    KEYED_RUN,         /* 7 of them in a row, which one value alone may show */
    KEYED_START,       /* a text that begins as its original */
    KEYED_DIGEST,      /* of a known kind, keyed_digest.h: 8 letters, 4 bytes */
    KEYED_DIGEST_LONG, /* 12 letters, 8 bytes, which one value alone may show */
    KEYED_ORDER,       /* the smaller original has the smaller pseudonym, or always the larger */
    KEYED_TESTS
};

enum { KEYED_NUMBERS = 4096 }; /* so many of a kind are digested in all ways, others as they are */

struct keyed_row {
    uint64_t pairs;
    uint64_t hits[KEYED_TESTS];
    double expected[KEYED_TESTS];          /* of hits; of KEYED_ORDER how many were compared */
    uint64_t from, to, step_from, step_to; /* the last ones, as numbers */
    uint32_t len;
    uint8_t xored[64]; /* the last original with its pseudonym */
    uint32_t xored_len;
};

struct keyed {
    struct keyed_row rows[DOMAIN_MAX][3]; /* bytes and texts; 32 bits; 64 bits */
};

/* A pair of an original and its pseudonym that was not met before and is not allowed to be equal.
 * Texts: the first |kept[0]| and the last |kept[1]| bytes of both may be. */
void keyed_pair(struct keyed *k, const struct pair_values *pair, bool is_text,
                const uint32_t kept[2]);

/* An address of 4 or 16 bytes.  Only digests are tested: pseudonyms keep what addresses share. */
void keyed_address(struct keyed *k, enum domain domain, struct pair_value from,
                   struct pair_value to);

/* Bytes of which only digests are tested, as texts may stand in them. */
void keyed_digests(struct keyed *k, enum domain domain, struct pair_value from,
                   struct pair_value to);

/* The same of 8 bytes of which each half has a pseudonym of its own; |is_new|: which half was not
 * met before.  Halves come again in other pairs, which would count what chance did once many times.
 */
void keyed_halves(struct keyed *k, enum domain domain, const bool is_new[2], struct pair_value from,
                  struct pair_value to);

/* Words for the test when chance does not explain its hits, else NULL. */
const char *keyed_verdict(const struct keyed_row *row, enum keyed_test test);

#endif
