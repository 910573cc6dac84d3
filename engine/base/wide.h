/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/wide.h
 *
 * Products of 128 bits, also on machines whose compiler has no such type.
 */
#ifndef NFSDIGEST_BASE_WIDE_H
#define NFSDIGEST_BASE_WIDE_H

#include <stdint.h>

struct product {
    uint64_t high, low;
};

static inline struct product wide_product(uint64_t a, uint64_t b)
{
    uint64_t a_high = a >> 32, a_low = (uint32_t)a, b_high = b >> 32, b_low = (uint32_t)b;
    uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32);
    uint64_t other = a_low * b_high + (uint32_t)middle;

    return (struct product){ a_high * b_high + (middle >> 32) + (other >> 32),
                             other << 32 | (uint32_t)low };
}

/* a * b / c, rounded down, where a < c: so the result is below b. */
static inline uint64_t wide_scale(uint64_t a, uint64_t b, uint64_t c)
{
    struct product left = wide_product(a, b);
    uint64_t result = 0;

    if (!left.high)
        return left.low / c;
    for (int bit = 0; bit < 64; bit++) { /* left.high stays below c */
        uint64_t carry = left.high >> 63;

        left.high = left.high << 1 | left.low >> 63;
        left.low <<= 1;
        result <<= 1;
        if (carry || left.high >= c) {
            left.high -= c;
            result |= 1;
        }
    }
    return result;
}

#endif
