/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/chance.h
 *
 * The probability that a short secret appears by chance.
 */
#ifndef NFSDIGEST_AUDIT_CHANCE_H
#define NFSDIGEST_AUDIT_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below this, hits are no chance. */
#define CHANCE_LIMIT 1e-6

/* A chain knows frequencies only roughly: so much more than it says is still chance. */
#define MODEL_ERROR 1.5

/* The probability of |hits| or more when |expected| are (Poisson). */
double chance_of(uint64_t hits, double expected);

/* Which bytes follow which: a Markov chain of order 1. */
struct chain {
    uint64_t pairs[256][256], firsts[256], total;
    double symbols; /* different ones that may follow */
};

/* One of printable values, one of all others: what follows a letter differs. */
struct chains {
    struct chain texts, others;
};

void chains_bytes(struct chains *chains, const uint8_t *data, size_t len);

/* How often |data| is to be expected in all that the chains have seen, when it was there |seen|
 * times: these don't count for it. */
double chains_expected(const struct chains *chains, const uint8_t *data, size_t len, uint64_t seen);

#endif
