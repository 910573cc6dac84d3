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
    KEYED_AFFINE,   /* the distance to the last one is that of the originals times a factor */
    KEYED_XOR,      /* xored with the same value as the last one */
    KEYED_ONE_BYTE, /* all bytes xored with one */
    KEYED_REVERSED,
    KEYED_LEFT,        /* bytes equal to the original's in their places */
    KEYED_RUN,         /* 7 of them in a row, which one value alone may show */
    KEYED_START,       /* a text that begins as its original */
    KEYED_DIGEST,      /* of a known kind (keyed_digest.h): 8 letters, 4 bytes */
    KEYED_DIGEST_LONG, /* 12 letters, 8 bytes, which one value alone may show */
    KEYED_ORDER,       /* the smaller original has the smaller pseudonym, or always the larger */
    KEYED_TESTS
};

/* Numbers of a kind that are digested in all ways.  Later ones are digested as they are. */
enum { KEYED_NUMBERS = 4096 };

struct keyed_row {
    uint64_t pairs;
    uint64_t hits[KEYED_TESTS];
    double expected[KEYED_TESTS];          /* of hits; for KEYED_ORDER the number of comparisons */
    uint64_t from, to, step_from, step_to; /* the last ones, as numbers */
    uint32_t len;
    uint8_t xored[64]; /* the last original with its pseudonym */
    uint32_t xored_len;
};

struct keyed {
    struct keyed_row rows[DOMAIN_MAX][3]; /* bytes and texts; 32 bits; 64 bits */
};

/* Tests a new pair of an original and its pseudonym, which must not be equal.  In texts, the first
 * |kept[0]| and the last |kept[1]| bytes of both may be equal. */
void keyed_pair(struct keyed *k, const struct pair_values *pair, bool is_text,
                const uint32_t kept[2]);

/* Tests an address of 4 or 16 bytes, for digests only: pseudonyms keep common prefixes of
 * addresses. */
void keyed_address(struct keyed *k, enum domain domain, struct pair_value from,
                   struct pair_value to);

/* Tests bytes for digests only, because they may have texts in them. */
void keyed_digests(struct keyed *k, enum domain domain, struct pair_value from,
                   struct pair_value to);

/* Tests 8 bytes in which each half has its own pseudonym, for digests only.  |is_new| says which
 * half is new.  Halves repeat in other pairs: if they counted again, one chance hit would count
 * many times. */
void keyed_halves(struct keyed *k, enum domain domain, const bool is_new[2], struct pair_value from,
                  struct pair_value to);

/* Returns a text for the test if its hits are too many for chance.  Returns NULL if they are
 * not. */
const char *keyed_verdict(const struct keyed_row *row, enum keyed_test test);

#endif
