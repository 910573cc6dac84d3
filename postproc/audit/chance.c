/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/chance.h"

#include <math.h>

double chance_of(uint64_t hits, double expected)
{
    double term, sum = 0, k = (double)hits;

    if (!hits || k <= expected)
        return 1;
    if (expected <= 0)
        return 0;
    term = exp(k * log(expected) - expected - lgamma(k + 1));
    for (unsigned i = 0; i < 10000 && term > sum * 1e-12; i++) {
        sum += term;
        k++;
        term *= expected / k;
    }
    return sum;
}

void chain_bytes(struct chain *chain, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        chain->firsts[data[i]]++;
        if (i)
            chain->pairs[data[i - 1]][data[i]]++;
    }
    chain->total += len;
}

double chain_expected(const struct chain *chain, const uint8_t *data, size_t len)
{
    double expected;

    if (!len || !chain->total)
        return 0;
    expected = (double)chain->firsts[data[0]];
    /* one more of each, so that what was never seen stays possible */
    for (size_t i = 1; i < len; i++)
        expected *= ((double)chain->pairs[data[i - 1]][data[i]] + 1) /
                    ((double)chain->firsts[data[i - 1]] + 256);
    return expected;
}
