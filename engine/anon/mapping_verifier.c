/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps verifiers half by half, so that the halves that servers keep in times (verifier_times.h) get
 * the same pseudonyms. */
#include "anon/mapping_parts.h"

enum { DIGITS = 30 }; /* of half a verifier, without VERIFIER_SIGNS */

static uint32_t permute_digits(struct ff1 *f, bool back, uint32_t value)
{
    uint16_t digits[DIGITS];

    for (unsigned i = 0; i < DIGITS; i++)
        digits[i] = value >> i & 1;
    (back ? ff1_decrypt : ff1_encrypt)(f, digits, DIGITS);
    value = 0;
    for (unsigned i = 0; i < DIGITS; i++)
        value |= (uint32_t)digits[i] << i;
    return value;
}

/* Nothing but themselves depends on the two bits that servers cut off; they depend on the others. 0
 * stays. */
static uint32_t permute_half(struct ff1 *f, bool back, uint32_t half)
{
    uint32_t in = (half >> 1 & 0x3fffff80) | (half & 0x7f), out = in, flips;

    if (!in)
        return half;
    do
        out = permute_digits(f, back, out);
    while (!out);
    flips = permute_digits(f, false, back ? in : out) & 3;
    return ((half ^ flips << 31 ^ flips << 6) & VERIFIER_SIGNS) | (out & 0x3fffff80) << 1 |
           (out & 0x7f);
}

uint64_t map_verifier(const struct mapping *m, bool back, uint64_t verifier)
{
    return (uint64_t)permute_half(m->halves, back, (uint32_t)(verifier >> 32)) << 32 |
           permute_half(m->halves, back, (uint32_t)verifier);
}

bool mapping_hides_verifier_times(const struct mapping *m)
{
    return m->halves && m->policy->rules[CLASS_TIME] != RULE_ZERO;
}

uint32_t mapping_verifier_time(struct mapping *m, enum verifier_order order, uint32_t number)
{
    enum rule rule = (enum rule)m->policy->rules[CLASS_VERIFIER];
    bool little = order == VERIFIER_LITTLE || order == VERIFIER_LITTLE_CUT;
    uint32_t half = little ? __builtin_bswap32(number) : number;
    uint64_t out = half;

    if (rule == RULE_UNSET || rule == RULE_ZERO)
        return 0;
    if (rule == RULE_KEEP || !half) /* not shifted either: the verifier would tell by how much */
        return number;
    if (!number_cache_get(&m->half_cache, half, &out)) {
        if (!m->half_cache.sets)
            number_cache_open(m, &m->half_cache, 1 << 12);
        out = permute_half(m->halves, false, half);
        number_cache_put(&m->half_cache, half, out);
    }
    half = little ? __builtin_bswap32((uint32_t)out) : (uint32_t)out;
    return order == VERIFIER_LITTLE_CUT || order == VERIFIER_BIG_CUT ? half & INT32_MAX : half;
}
