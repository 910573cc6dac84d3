/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "player/histogram.h"

/* Values of one power of two have HISTOGRAM_PARTS slots; those below the first power have one each.
 */
static unsigned slot_of(int64_t ns)
{
    uint64_t value = ns < 0 ? 0 : (uint64_t)ns;
    unsigned power;

    if (value < HISTOGRAM_PARTS)
        return (unsigned)value;
    power = 63 - (unsigned)__builtin_clzll(value) - 6;
    if (power > HISTOGRAM_POWERS - 2)
        return HISTOGRAM_SLOTS - 1;
    return power * HISTOGRAM_PARTS + (unsigned)(value >> power);
}

void histogram_add(struct histogram *h, int64_t ns)
{
    if (!h->count || ns < h->least)
        h->least = ns;
    if (!h->count || ns > h->most)
        h->most = ns;
    h->count++;
    h->sum += ns < 0 ? 0 : (uint64_t)ns;
    h->slot[slot_of(ns)]++;
}
