/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/grow.h"
#include "mirror/change_set_parts.h"

#include <stdlib.h>

static bool is_same_operation(const struct rival *a, const struct rival *b)
{
    return a->time.begin == b->time.begin;
}

static bool is_at_once(const struct rival *a, const struct rival *b)
{
    return a->time.begin < b->time.end && b->time.begin < a->time.end;
}

static bool is_about_the_same(const struct rival *a, const struct rival *b)
{
    return (a->from < b->to && b->from < a->to) || (a->sets & (b->sets | b->touches)) ||
           (a->touches & b->sets);
}

bool rivals_add(struct rivals *r, const struct rival *rival, bool *no_memory)
{
    bool is_clear = rival->time.begin >= r->known_since;
    uint32_t at;

    for (uint32_t i = 0; i < r->count; i++)
        if (!is_same_operation(&r->ring[i], rival) && is_at_once(&r->ring[i], rival) &&
            is_about_the_same(&r->ring[i], rival))
            is_clear = false;
    if (r->count < CHANGES_RIVALS) {
        if (GROW(r->ring, r->count, r->cap) < 0) {
            *no_memory = true;
            return is_clear;
        }
        at = r->count++;
    } else {
        at = r->next;
        r->next = (r->next + 1) % CHANGES_RIVALS;
        if (r->ring[at].time.end > r->known_since)
            r->known_since = r->ring[at].time.end;
    }
    r->ring[at] = *rival;
    return is_clear;
}

void rivals_free(struct rivals *r)
{
    free(r->ring);
    *r = (struct rivals){ 0 };
}
