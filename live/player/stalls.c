/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/stalls.c
 *
 * Rows of objects, of which a new object gets the one that waited least.  The contract is in
 * stalls.h.
 */
#include "player/stalls.h"

#include <stdbool.h>
#include <string.h>

static uint16_t *chain_of(struct stalls *s, uint32_t dump, uint32_t object)
{
    uint64_t mixed = (((uint64_t)dump << 32) + object) * UINT64_C(0x9e3779b97f4a7c15);

    return &s->first[mixed >> 56];
}
_Static_assert(STALLS_OBJECTS == 1 << 8, "eight bits of the product; a row is a byte");

static bool is_of(const struct stall *x, uint32_t dump, uint32_t object)
{
    return x->object == object && x->dump == dump;
}

/* STALLS_OBJECTS: it is not there. */
static uint32_t find(struct stalls *s, uint32_t dump, uint32_t object)
{
    uint32_t number = *chain_of(s, dump, object);

    while (number && !is_of(&s->of[number - 1], dump, object))
        number = s->next[number - 1];
    return number ? number - 1 : STALLS_OBJECTS;
}

static void link_row(struct stalls *s, uint32_t row)
{
    uint16_t *chain = chain_of(s, s->of[row].dump, s->of[row].object);

    s->next[row] = *chain;
    *chain = (uint16_t)(row + 1);
}

static void unlink_row(struct stalls *s, uint32_t row)
{
    uint16_t *at = chain_of(s, s->of[row].dump, s->of[row].object);

    while (*at != row + 1)
        at = &s->next[*at - 1];
    *at = s->next[row];
}

static void put_at(struct stalls *s, uint32_t place, uint8_t row)
{
    s->heap[place] = row;
    s->place[row] = (uint8_t)place;
}

/* The row at |place| has grown. */
static void sink(struct stalls *s, uint32_t place)
{
    const uint8_t row = s->heap[place];

    for (;;) {
        uint32_t below = 2 * place + 1;

        if (below + 1 < s->count && s->most[s->heap[below + 1]] < s->most[s->heap[below]])
            below++;
        if (below >= s->count || s->most[s->heap[below]] >= s->most[row])
            break;
        put_at(s, place, s->heap[below]);
        place = below;
    }
    put_at(s, place, row);
}

/* The last row is new, and has waited for nothing: it is the least one. */
static void rise(struct stalls *s)
{
    uint32_t place = s->count - 1;
    const uint8_t row = (uint8_t)place;

    for (; place; place = (place - 1) / 2)
        put_at(s, place, s->heap[(place - 1) / 2]);
    put_at(s, 0, row);
}

static void order(struct stalls *s)
{
    for (uint32_t i = s->count / 2; i-- > 0;)
        sink(s, i);
}

void stalls_index(struct stalls *s)
{
    memset(s->first, 0, sizeof(s->first));
    for (uint32_t i = 0; i < s->count; i++) {
        s->most[i] = stalls_sum(s->of[i].waited, s->of[i].missed);
        put_at(s, i, (uint8_t)i);
        link_row(s, i);
    }
    order(s);
}

/* A row for a new object, which may have been here before. */
static uint32_t take(struct stalls *s, uint32_t dump, uint32_t object)
{
    uint32_t row = s->count;

    if (row < STALLS_OBJECTS) {
        s->count++;
        rise(s);
    } else {
        row = s->heap[0];
        unlink_row(s, row);
    }
    s->of[row] = (struct stall){ .dump = dump, .object = object, .missed = s->most[row] };
    link_row(s, row);
    return row;
}

struct stall *stalls_add(struct stalls *s, uint32_t dump, uint32_t object, int64_t ns)
{
    uint32_t row = find(s, dump, object);
    struct stall *x;

    if (row == STALLS_OBJECTS)
        row = take(s, dump, object);
    x = &s->of[row];
    x->operations++;
    x->waited = stalls_sum(x->waited, ns);
    s->most[row] = stalls_sum(s->most[row], ns);
    sink(s, s->place[row]);
    if (ns <= x->longest)
        return NULL;
    x->longest = ns;
    return x;
}

/* --- several players */

/* What an object that is not there may have waited at most. */
static int64_t absent(const struct stalls *s)
{
    return s->count < STALLS_OBJECTS ? 0 : s->most[s->heap[0]];
}

static void add_row(struct stall *to, const struct stall *from)
{
    if (from->longest > to->longest) {
        to->longest = from->longest;
        to->number = from->number;
        to->procedure = from->procedure;
        to->argument_len = from->argument_len;
        memcpy(to->arguments, from->arguments, sizeof(to->arguments));
    }
    to->operations += from->operations;
    to->waited = stalls_sum(to->waited, from->waited);
    to->missed = stalls_sum(to->missed, from->missed);
}

/* Adds a row, unless all others waited longer than |most|; |missed| more than it has. */
static void add_new(struct stalls *s, const struct stall *from, int64_t most, int64_t missed)
{
    uint32_t row;

    if (s->count == STALLS_OBJECTS && s->most[s->heap[0]] >= most)
        return;
    row = take(s, from->dump, from->object);
    s->of[row] = *from;
    s->of[row].missed = stalls_sum(from->missed, missed);
    s->most[row] = most;
    sink(s, s->place[row]);
}

void stalls_merge(struct stalls *to, const struct stalls *from)
{
    const int64_t gone_to = absent(to), gone_from = absent(from);
    bool to_both[STALLS_OBJECTS] = { false }, from_both[STALLS_OBJECTS] = { false };

    /* those of both first: a row that is given away has all its time then */
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t at = find(to, from->of[i].dump, from->of[i].object);

        if (at == STALLS_OBJECTS)
            continue;
        add_row(&to->of[at], &from->of[i]);
        to_both[at] = from_both[i] = true;
    }
    for (uint32_t i = 0; i < to->count; i++) {
        if (!to_both[i])
            to->of[i].missed = stalls_sum(to->of[i].missed, gone_from);
        to->most[i] = stalls_sum(to->of[i].waited, to->of[i].missed);
    }
    order(to);
    for (uint32_t i = 0; i < from->count; i++)
        if (!from_both[i])
            add_new(to, &from->of[i], stalls_sum(from->most[i], gone_to), gone_to);
}

uint32_t stalls_longest(const struct stalls *s, const struct stall **rows, uint32_t count)
{
    uint32_t filled = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t at = filled;

        if (filled < count)
            filled++;
        else if (!count || rows[--at]->waited >= s->of[i].waited)
            continue;
        while (at > 0 && rows[at - 1]->waited < s->of[i].waited) {
            rows[at] = rows[at - 1];
            at--;
        }
        rows[at] = &s->of[i];
    }
    return filled;
}
