/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/spread.h"

enum { FIRST = 10 }; /* 2^10 ns is about 1 us; slot 0 has what is below */

/* |ns| is not negative. */
static unsigned slot_of(int64_t ns)
{
    uint64_t value = (uint64_t)ns;
    unsigned power, slot;

    if (value < UINT64_C(1) << FIRST)
        return 0;
    power = 63 - (unsigned)__builtin_clzll(value);
    slot = 1 + (power - FIRST) * SPREAD_PARTS + (unsigned)((value >> (power - 3)) & 7);
    return slot < SPREAD_SLOTS ? slot : SPREAD_SLOTS - 1;
}

/* The middle of a slot. */
static int64_t value_of(unsigned slot)
{
    unsigned power = FIRST + (slot - 1) / SPREAD_PARTS, part = (slot - 1) % SPREAD_PARTS;

    if (!slot)
        return 1 << (FIRST - 1);
    return (INT64_C(1) << power) + (INT64_C(1) << (power - 3)) * part + (INT64_C(1) << (power - 4));
}

void spread_add(struct spread *s, int64_t ns)
{
    if (!s->count || ns > s->most)
        s->most = ns;
    s->count++;
    if (ns < 0) {
        s->negative++;
        s->negative_sum += -(uint64_t)ns;
        return;
    }
    s->slot[slot_of(ns)]++;
    s->sum += (uint64_t)ns;
}

void spread_merge(struct spread *to, const struct spread *from)
{
    if (!from->count)
        return;
    for (unsigned i = 0; i < SPREAD_SLOTS; i++)
        to->slot[i] += from->slot[i];
    if (!to->count || from->most > to->most)
        to->most = from->most;
    to->count += from->count;
    to->sum += from->sum;
    to->negative += from->negative;
    to->negative_sum += from->negative_sum;
}

int64_t spread_at(const struct spread *s, double part)
{
    uint64_t wanted = (uint64_t)(part * (double)s->count + 0.999999), seen = s->negative;
    int64_t value;

    if (!s->count)
        return 0;
    if (seen && seen >= wanted)
        return -(int64_t)(s->negative_sum / s->negative);
    for (unsigned i = 0; i < SPREAD_SLOTS; i++) {
        seen += s->slot[i];
        if (seen >= wanted && s->slot[i]) {
            value = value_of(i);
            return value > s->most ? s->most : value;
        }
    }
    return s->most;
}

void spread_buckets(const struct spread *s, const int64_t *bounds, uint32_t count, uint64_t *counts)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i <= count; i++)
        counts[i] = i ? 0 : s->negative;
    for (unsigned i = 0; i < SPREAD_SLOTS; i++) {
        while (at < count && value_of(i) > bounds[at])
            at++;
        counts[at] += s->slot[i];
    }
}
