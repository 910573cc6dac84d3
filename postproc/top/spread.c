/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/spread.h"

enum { FIRST = 10 }; /* 2^10 ns is about 1 us; slot 0 has what is below */

static unsigned slot_of(int64_t ns)
{
    uint64_t value = ns < 0 ? 0 : (uint64_t)ns;
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
    s->slot[slot_of(ns)]++;
    s->count++;
    s->sum += ns < 0 ? 0 : (uint64_t)ns;
    if (ns > s->most)
        s->most = ns;
}

void spread_merge(struct spread *to, const struct spread *from)
{
    if (!from->count)
        return;
    for (unsigned i = 0; i < SPREAD_SLOTS; i++)
        to->slot[i] += from->slot[i];
    to->count += from->count;
    to->sum += from->sum;
    if (from->most > to->most)
        to->most = from->most;
}

int64_t spread_at(const struct spread *s, double part)
{
    uint64_t wanted = (uint64_t)(part * (double)s->count + 0.999999), seen = 0;
    int64_t value;

    if (!s->count)
        return 0;
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
        counts[i] = 0;
    for (unsigned i = 0; i < SPREAD_SLOTS; i++) {
        while (at < count && value_of(i) > bounds[at])
            at++;
        counts[at] += s->slot[i];
    }
}
