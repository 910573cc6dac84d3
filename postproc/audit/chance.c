/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/chance.h"

#include <math.h>

enum { TEXT_SYMBOLS = 32 };

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

static void chain_bytes(struct chain *chain, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        chain->firsts[data[i]]++;
        if (i)
            chain->pairs[data[i - 1]][data[i]]++;
    }
    chain->total += len;
}

/* |seen|: how often |data| was there, which must not explain itself. */
static double chain_expected(const struct chain *chain, const uint8_t *data, size_t len,
                             uint64_t seen)
{
    double sum;

    if (!len || !chain->total)
        return 0;
    sum = (double)chain->firsts[data[0]];
    /* as if each symbol had followed each once more, so that what was never seen stays possible */
    for (size_t i = 1; i < len; i++) {
        uint64_t pairs = chain->pairs[data[i - 1]][data[i]], all = chain->firsts[data[i - 1]];

        pairs -= pairs < seen ? pairs : seen;
        all -= all < seen ? all : seen;
        sum *= ((double)pairs + 1) / ((double)all + (chain->symbols ? chain->symbols : 256));
    }
    return sum;
}

static bool is_text(const uint8_t *data, size_t len)
{
    size_t i = 0;

    while (i < len && data[i] >= 0x20 && data[i] < 0x7f)
        i++;
    return i == len;
}

void chains_bytes(struct chains *chains, const uint8_t *data, size_t len)
{
    chains->texts.symbols = TEXT_SYMBOLS;
    chain_bytes(is_text(data, len) ? &chains->texts : &chains->others, data, len);
}

/* Texts have no other bytes, so what was never seen is not possible there. */
double chains_expected(const struct chains *chains, const uint8_t *data, size_t len, uint64_t seen)
{
    return (is_text(data, len) ? chain_expected(&chains->texts, data, len, seen) : 0) +
           chain_expected(&chains->others, data, len, seen);
}
