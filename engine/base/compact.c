/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/compact.h"
#include "base/err.h"

#include <stdlib.h>

/* Small ones grow in larger steps, as all hashes are made again each time. */
enum { PLACES_MIN = 4096, PLACES_FEW = 65536 };

/* Slots get more bits, and hashes fewer. */
static void widen(struct compact *c, uint32_t slot)
{
    uint32_t slots = c->slots;

    while (slot & ~slots)
        slots = slots << 1 | 1;
    for (uint64_t i = 0; slots != c->slots && i <= c->mask; i++)
        if (c->places[i])
            c->places[i] = (c->places[i] & ~slots) | (c->places[i] & c->slots);
    c->slots = slots;
}

void compact_put(struct compact *c, uint32_t hash, uint32_t slot)
{
    uint32_t at = hash & c->mask;

    widen(c, slot);
    while (c->places[at])
        at = (at + 1) & c->mask;
    c->places[at] = (hash & ~c->slots) | slot;
    c->used++;
}

int compact_reserve(struct compact *c, uint32_t more, const struct compact_keys *keys)
{
    uint64_t old = c->places ? (uint64_t)c->mask + 1 : 0, count = old ? old : PLACES_MIN;
    uint64_t need = (uint64_t)c->used + more;
    struct compact bigger = { 0 };

    while (count / 4 * 3 < need)
        count *= count < PLACES_FEW ? 4 : 2;
    if (count == old)
        return 0;
    if (count > (uint64_t)UINT32_MAX + 1)
        return -ERR_SYSTEM;
    bigger.mask = (uint32_t)(count - 1);
    bigger.slots = c->slots | bigger.mask; /* so it is seldom widened */
    bigger.places = calloc(count, sizeof(*bigger.places));
    if (!bigger.places)
        return -ERR_SYSTEM;
    for (uint64_t i = 0; i < old; i++) {
        uint32_t slot = c->places[i] & c->slots;

        if (slot)
            compact_put(&bigger, keys->hash(keys->ctx, slot), slot);
    }
    free(c->places);
    *c = bigger;
    return 0;
}

void compact_take_out(struct compact *c, uint32_t hash, uint32_t slot,
                      const struct compact_keys *keys)
{
    uint32_t hole = hash & c->mask, from;

    if (!c->places)
        return;
    while ((c->places[hole] & c->slots) != slot) {
        if (!c->places[hole])
            return;
        hole = (hole + 1) & c->mask;
    }
    for (uint32_t at = (hole + 1) & c->mask; c->places[at]; at = (at + 1) & c->mask) {
        from = keys->hash(keys->ctx, c->places[at] & c->slots) & c->mask;
        /* may this one stand in the hole, or would a look-up begin behind it? */
        if (((at - from) & c->mask) >= ((at - hole) & c->mask)) {
            c->places[hole] = c->places[at];
            hole = at;
        }
    }
    c->places[hole] = 0;
    c->used--;
}

void compact_free(struct compact *c)
{
    free(c->places);
    *c = (struct compact){ 0 };
}

uint64_t compact_memory(const struct compact *c)
{
    return c->places ? ((uint64_t)c->mask + 1) * sizeof(*c->places) : 0;
}
