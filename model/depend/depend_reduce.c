/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/depend_reduce.c
 *
 * Removes dependencies that others imply.  Candidates are the operations that conflict with this
 * one, the newest first.  A candidate is implied if a newer candidate depends on it, directly or
 * over others.  Usually the newer candidate had it as a candidate itself, so an operation also
 * keeps some of its implied ones.  Otherwise both ends are searched in turns (what the newer
 * candidates depend on, and what depends on this one) until the shorter search decides.  Before
 * that, only the candidates are looked at, because everything else is out of cache.
 */
#include "depend/depend_parts.h"

#include <stdlib.h>

enum {
    KEEP_IMPLIED = 16,  /* of an operation */
    LOOK_AT = 64,       /* so many of its edges */
    SEARCHES_MOST = 16, /* as many steps as these have are there for one operation, */
    STEPS_EACH = 16,    /* and so many for each candidate */
    FEW = 32,
};
#define IMPLIED (UINT64_C(1) << 63)

struct reduction {
    struct depend *d;
    uint64_t *list; /* candidates */
    uint32_t count;
    uint32_t low;       /* of now */
    uint32_t min_level; /* of them all */
    uint32_t max_level; /* of those that were looked at */
    uint32_t spread;    /* so many of them were searched from */
    uint32_t waiting;   /* in the stack: reached, and not looked at */
    bool is_partial;    /* something was not looked at */
    uint64_t steps;     /* left */
};

static uint64_t candidate(const struct reduction *r, uint32_t i)
{
    return r->list[i] & ~IMPLIED;
}

static int newer_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Newest first, each once. Returns how many are left. */
static uint32_t sort(uint64_t *list, uint32_t count)
{
    uint32_t sorted = 1, left = 1;

    while (sorted < count && list[sorted - 1] > list[sorted])
        sorted++;
    if (sorted >= count)
        return count;
    if (count > FEW)
        qsort(list, count, sizeof(*list), newer_first);
    for (uint32_t i = sorted; i < count && count <= FEW; i++) {
        uint64_t value = list[i];
        uint32_t at = i;

        for (; at > 0 && list[at - 1] < value; at--)
            list[at] = list[at - 1];
        list[at] = value;
    }
    for (uint32_t i = 1; i < count; i++)
        if (list[i] != list[left - 1])
            list[left++] = list[i];
    return left;
}

/* Candidates behind |i| that number |i| depends on, or once did, are implied. */
static void imply(struct reduction *r, uint32_t i)
{
    const struct operation *o = operation_at(r->d, candidate(r, i));
    uint32_t count = o->edge_count + o->implied, low = i + 1;

    for (uint32_t k = 0; k < count; k++) {
        uint64_t to = widen(r->d, edge_at(r->d, o->edges + k)->to);
        uint32_t high = r->count;

        if (k == o->edge_count)
            low = i + 1; /* both parts begin with the newest */
        if ((k == LOOK_AT && k < o->edge_count) || to < candidate(r, r->count - 1)) {
            if (k >= o->edge_count)
                return;
            k = o->edge_count - 1;
            continue;
        }
        while (low < high) {
            uint32_t middle = (low + high) / 2;

            if (candidate(r, middle) > to)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < r->count && candidate(r, low) == to)
            r->list[low] |= IMPLIED;
    }
}

/* Marks what |o| depends on as reached. */
static void spread(struct reduction *r, const struct operation *o)
{
    for (uint32_t i = 0; i < o->edge_count; i++) {
        uint64_t to = widen(r->d, edge_at(r->d, o->edges + i)->to);
        struct operation *reached;

        if (to < candidate(r, r->count - 1))
            return;
        if (i == LOOK_AT) {
            r->is_partial = true;
            return;
        }
        reached = operation_at(r->d, to);
        if (reached->reached == r->low)
            continue;
        reached->reached = r->low;
        if (reached->level <= r->min_level)
            continue;
        if (r->waiting < REDUCE_STEPS)
            r->d->stack[r->waiting++] = (uint32_t)to;
        else
            r->is_partial = true;
    }
}

/* Whether a newer candidate depends on number |i|. */
static bool search(struct reduction *r, uint32_t i)
{
    struct depend *d = r->d;
    const struct operation *o = operation_at(d, candidate(r, i));
    bool has_place = true;
    uint32_t place = o->dependents, head = 0, tail = 0;

    d->search++;
    for (uint32_t step = 0; step < REDUCE_STEPS && r->steps > 0; step++, r->steps--) {
        if (has_place) {
            const struct edge *e = edge_at(d, place);
            struct operation *from = operation_at(d, widen(d, e->from));

            if (from->met == r->low || from->reached == r->low)
                return true;
            if (from->seen != d->search && from->has_dependents && from->level < r->max_level)
                d->queue[tail++] = e->from;
            from->seen = d->search;
            has_place = e->next != 0;
            place -= e->next;
        } else if (head < tail) {
            has_place = true;
            place = operation_at(d, widen(d, d->queue[head++]))->dependents;
        } else {
            return false;
        }
        if (r->waiting > 0)
            spread(r, operation_at(d, widen(d, d->stack[--r->waiting])));
        else if (r->spread < i)
            spread(r, operation_at(d, candidate(r, r->spread++)));
        else if (!r->is_partial)
            return false;
        if (o->reached == r->low)
            return true;
    }
    d->counts.kept++;
    return false;
}

static bool is_implied(struct reduction *r, uint32_t i)
{
    const struct operation *o = operation_at(r->d, candidate(r, i));

    if (r->list[i] & IMPLIED || o->reached == r->low)
        return true;
    return o->has_dependents && o->level < r->max_level && search(r, i);
}

static void edge_put(struct depend *d, uint64_t to, bool is_direct)
{
    struct operation *o = operation_at(d, d->now), *target = operation_at(d, to);
    struct edge *e;

    if (d->edges_end - d->edges_begin > d->edges_mask || !d->edges) {
        e = depend_grow_ring(d->edges, &d->edges_mask, d->edges_begin, d->edges_end, sizeof(*e));
        if (!e) {
            d->failed = true;
            return;
        }
        d->edges = e;
    }
    e = edge_at(d, (uint32_t)d->edges_end);
    *e = (struct edge){ .to = (uint32_t)to, .from = (uint32_t)d->now };
    if (is_direct) {
        if (target->has_dependents)
            e->next = (uint32_t)d->edges_end - target->dependents;
        target->dependents = (uint32_t)d->edges_end;
        target->has_dependents = 1;
        if (o->level <= target->level)
            o->level = target->level + 1;
        o->edge_count++;
    } else {
        o->implied++;
    }
    d->edges_end++;
}

uint32_t depend_reduce(struct depend *d)
{
    struct reduction r = { .d = d, .list = d->candidates, .low = (uint32_t)d->now };
    uint32_t implied = 0;

    if (d->candidate_count == 0)
        return 0;
    r.count = sort(r.list, d->candidate_count);
    r.steps = (uint64_t)SEARCHES_MOST * REDUCE_STEPS + (uint64_t)STEPS_EACH * r.count;
    r.min_level = UINT32_MAX;
    for (uint32_t i = 0; i < r.count; i++) {
        struct operation *o = operation_at(d, r.list[i]);

        o->met = r.low;
        r.min_level = o->level < r.min_level ? o->level : r.min_level;
        if (i + 1 < r.count && d->edges)
            __builtin_prefetch(edge_at(d, o->edges));
    }
    for (uint32_t i = 0; i < r.count; i++) {
        const struct operation *o = operation_at(d, r.list[i] & ~IMPLIED);

        if (i > 0 && is_implied(&r, i)) {
            r.list[i] |= IMPLIED;
            implied++;
        }
        r.max_level = o->level > r.max_level ? o->level : r.max_level;
        if (i + 1 < r.count)
            imply(&r, i);
    }
    for (uint32_t i = 0; i < r.count && !d->failed; i++)
        if (!(r.list[i] & IMPLIED))
            edge_put(d, r.list[i], true);
    for (uint32_t i = 0; i < r.count && implied > 0 && !d->failed; i++)
        if (r.list[i] & IMPLIED && implied-- <= KEEP_IMPLIED)
            edge_put(d, candidate(&r, i), false);
    return operation_at(d, d->now)->edge_count;
}
