/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/verifier_times.h"
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 4, SETS = 1 << 14, NANOSECONDS = 1000000000 };
enum {
    UTIME_OMIT_3 = (1 << 30) - 2,
    UTIME_NOW_3 = (1 << 30) - 1
}; /* of utimensat(2), sent as is */

void verifier_times_free(struct verifier_times *t)
{
    free(t->halves);
    memset(t, 0, sizeof(*t));
}

static uint32_t *set_of(const struct verifier_times *t, uint32_t half)
{
    return t->halves + ((half & ~VERIFIER_SIGNS) * 0x9e3779b1u >> 18) * WAYS;
}

/* The half that is |half| but for the signs; 0: none. */
static uint32_t find_half(const struct verifier_times *t, uint32_t half)
{
    const uint32_t *set = set_of(t, half);

    for (unsigned i = 0; i < WAYS; i++)
        if (((set[i] ^ half) & ~VERIFIER_SIGNS) == 0)
            return set[i];
    return 0;
}

int verifier_times_add(struct verifier_times *t, const uint8_t verifier[8])
{
    if (!t->halves)
        t->halves = calloc((size_t)SETS * WAYS, sizeof(*t->halves));
    if (!t->halves)
        return -1;
    for (unsigned i = 0; i < 8; i += 4) {
        uint32_t half = load_be32(verifier + i);

        /* without its signs 0 is a free place, and stays 0 */
        if (half & ~VERIFIER_SIGNS && find_half(t, half) != half) {
            uint32_t bit = (half & ~VERIFIER_SIGNS) * 0x9e3779b1u >> 16;

            t->filter[bit / 64] |= UINT64_C(1) << bit % 64;
            set_of(t, half)[t->next++ % WAYS] = half;
        }
    }
    return 0;
}

enum verifier_order verifier_times_find(const struct verifier_times *t, uint32_t number)
{
    bool sign = number >> 31;
    uint32_t half;

    if (!t->halves)
        return VERIFIER_NONE;
    half = find_half(t, __builtin_bswap32(number));
    if (half & ~VERIFIER_SIGNS && sign <= (half >> 7 & 1))
        return sign < (half >> 7 & 1) ? VERIFIER_LITTLE_CUT : VERIFIER_LITTLE;
    half = find_half(t, number);
    if (half & ~VERIFIER_SIGNS && sign <= half >> 31)
        return sign < half >> 31 ? VERIFIER_BIG_CUT : VERIFIER_BIG;
    return VERIFIER_NONE;
}

enum verifier_order verifier_times_judge(const struct verifier_times *t, uint32_t seconds,
                                         uint32_t nsec, enum verifier_order *nsec_order)
{
    enum verifier_order order = verifier_times_find(t, seconds);

    *nsec_order = nsec ? verifier_times_find(t, nsec) : VERIFIER_NONE;
    if (nsec >= NANOSECONDS && nsec != UTIME_OMIT_3 && nsec != UTIME_NOW_3) {
        if (!*nsec_order)
            *nsec_order = VERIFIER_LITTLE;
        return order ? order : VERIFIER_LITTLE;
    }
    if (nsec && (!order || !*nsec_order)) { /* real nanoseconds: equal by chance */
        *nsec_order = VERIFIER_NONE;
        return VERIFIER_NONE;
    }
    return order                                                  ? order
           : !nsec && seconds > INT32_MAX && seconds < UINT32_MAX ? VERIFIER_LITTLE
                                                                  : VERIFIER_NONE;
}
