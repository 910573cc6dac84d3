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

/* Hits with a probability below this are not chance. */
#define CHANCE_LIMIT 1e-6

/* A chain knows frequencies only roughly: up to this factor above its estimate is still chance. */
#define MODEL_ERROR 1.5

/* Returns the probability of |hits| or more if |expected| are expected (Poisson). */
double chance_of(uint64_t hits, double expected);

/* The frequencies of pairs of bytes: a Markov chain of order 1. */
struct chain {
    uint64_t pairs[256][256], firsts[256], total;
    double symbols; /* different ones that may follow */
};

/* One chain for printable values and one for all others, because other bytes follow a letter
 * there. */
struct chains {
    struct chain texts, others;
};

void chains_bytes(struct chains *chains, const uint8_t *data, size_t len);

/* Returns how often |data| is expected in the bytes that the chains have seen.  If it was there
 * |seen| times, these do not count. */
double chains_expected(const struct chains *chains, const uint8_t *data, size_t len, uint64_t seen);

#endif
