/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/depend.c
 *
 * Dependencies: who changed or read each thing last, for the operations of the last |horizon|.
 * Contract: depend.h; how its files share the work: depend_parts.h.
 */
#include "depend/depend_parts.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

struct depend *depend_new(uint32_t horizon, struct err *err)
{
    struct depend *d = calloc(1, sizeof(*d));

    if (d) {
        d->horizon = horizon;
        d->marks_begin = d->marks_end = d->edges_begin = d->edges_end = 1;
        d->operations = aligned_alloc(CACHE_LINE, (horizon + 1) / 2 * (size_t)CACHE_LINE);
        d->stack = malloc(REDUCE_STEPS * sizeof(*d->stack));
        d->queue = malloc(REDUCE_STEPS * sizeof(*d->queue));
        if (d->operations && d->stack && d->queue &&
            pool_init(&d->holders, sizeof(struct holder)) &&
            pool_init(&d->names, sizeof(struct entry_line)) &&
            pool_init(&d->directories, sizeof(struct directory)) &&
            pool_init(&d->files, sizeof(struct file))) {
            memset(d->operations, 0, horizon * sizeof(*d->operations));
            return d;
        }
        depend_free(d);
    }
    err_set(err, ERR_SYSTEM, "out of memory for the dependencies of %u operations", horizon);
    return NULL;
}

void depend_free(struct depend *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; d->by_object.places && i <= d->by_object.mask; i++)
        if (d->by_object.places[i].slot != TABLE_NONE)
            file_forget(d, holder_at(d, d->by_object.places[i].slot)->file);
    table_free(&d->by_object);
    table_free(&d->by_name);
    pool_free(&d->holders);
    pool_free(&d->names);
    pool_free(&d->directories);
    pool_free(&d->files);
    free(d->operations);
    free(d->marks);
    free(d->edges);
    free(d->ids);
    free(d->candidates);
    free(d->stack);
    free(d->queue);
    free(d->distances);
    free(d);
}

const struct depend_counts *depend_counts(const struct depend *d)
{
    return &d->counts;
}

void candidate_put(struct depend *d, uint64_t operation)
{
    if (operation == d->now || !is_live(d, operation))
        return;
    if (d->candidate_count && d->candidates[d->candidate_count - 1] == operation)
        return;
    if (GROW(d->candidates, d->candidate_count, d->candidate_cap) < 0) {
        d->failed = true;
        return;
    }
    d->candidates[d->candidate_count++] = operation;
    __builtin_prefetch(operation_at(d, operation));
}

/* Returns how many marks of the chain are live. */
uint32_t candidates_of_chain(struct depend *d, uint64_t chain)
{
    uint32_t count = 0;

    for (; mark_is_live(d, chain); chain = mark_next(d, chain), count++) {
        const struct mark *m = mark_at(d, chain);

        candidate_put(d, widen(d, m->operation));
        d->counts.joined += m->things & JOINED && m->operation != (uint32_t)d->now;
    }
    return count;
}

/* A reader depends on the last change.  A change depends on all readers since then, and these
 * depend on the last change. */
void line_read(struct depend *d, struct line *line, uint32_t owner)
{
    candidate_put(d, line->change);
    if (!mark_is_own(d, line->readers))
        mark_put(d, owner, &line->readers);
}

void line_change(struct depend *d, struct line *line)
{
    if (candidates_of_chain(d, line->readers) == 0)
        candidate_put(d, line->change);
    line->change = d->now;
    line->readers = 0;
}

void holder_mark(struct depend *d, uint32_t holder, uint32_t things)
{
    struct holder *h = holder_at(d, holder);

    if (!mark_is_own(d, h->marks))
        mark_put(d, holder, &h->marks);
    if (!d->failed)
        mark_at(d, h->marks)->things |= things;
}

/* The same of a thing without parts: its readers are among the marks of its object.  Changes pass
 * all marks since the change before: each once for each kind of thing. */
static bool thing_readers(struct depend *d, const struct holder *h, uint8_t thing)
{
    uint64_t place = h->marks;
    bool was_read = false;

    for (; mark_is_live(d, place); place = mark_next(d, place)) {
        const struct mark *m = mark_at(d, place);
        uint64_t reader = widen(d, m->operation);

        if (reader <= h->changes[thing])
            break;
        if (m->things >> thing & 1 && reader != d->now) {
            candidate_put(d, reader);
            was_read = true;
        }
    }
    return was_read;
}

static void thing_use(struct depend *d, uint32_t holder, uint8_t thing, bool changes)
{
    struct holder *h = holder_at(d, holder);
    uint32_t bit = 1u << thing;

    holder_mark(d, holder, changes ? 0 : bit);
    if (!changes || !(h->read & bit) || !thing_readers(d, h, thing))
        candidate_put(d, h->changes[thing]);
    if (changes) {
        h->changes[thing] = d->now;
        h->read &= ~bit;
    } else {
        h->read |= bit;
    }
}

static bool is_used(const struct use *use)
{
    return use->thing < THING_AFTER && (use->thing != THING_DATA || use->start < use->end);
}

static void use_thing(struct depend *d, const struct use *use, uint32_t id)
{
    if (use->thing < THING_DATA)
        thing_use(d, id, use->thing, use->changes);
    else if (use->thing == THING_DATA)
        data_use(d, id, use);
    else if (use->thing == THING_NAMES)
        names_read(d, id);
    else
        line_read(d, &name_at(d, id)->line, id | OWNER_NAME);
}

static void find_ids(struct depend *d, const struct use *uses, uint32_t count)
{
    uint32_t guess, at;

    if (GROW_TO(d->ids, count, d->id_cap) < 0) {
        d->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        d->ids[i] = NO_ID;
        if (d->failed || !is_used(&uses[i]))
            continue;
        d->ids[i] = depend_holder_of(d, uses[i].object);
        if (d->ids[i])
            __builtin_prefetch(holder_at(d, d->ids[i]));
        if (uses[i].thing != THING_NAME)
            continue;
        guess = table_first(&d->by_name, name_hash(uses[i].object, uses[i].name), &at);
        if (guess != TABLE_NONE)
            __builtin_prefetch(name_at(d, guess));
    }
    for (uint32_t i = 0; i < count && !d->failed; i++)
        if (uses[i].thing == THING_NAME)
            d->ids[i] = depend_name_of(d, uses[i].object, uses[i].name, d->ids[i]);
}

static int put_distances(struct depend *d, uint32_t count)
{
    const struct operation *o = operation_at(d, d->now);

    if (GROW_TO(d->distances, count, d->distance_cap) < 0)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        d->distances[i] = (uint32_t)d->now - edge_at(d, o->edges + i)->to;
    return 0;
}

int64_t depend_next(struct depend *d, const struct use *uses, uint32_t count,
                    const uint32_t **distances, struct err *err)
{
    struct operation *o;
    uint32_t edges = 0;

    d->now++;
    if (d->now > d->horizon)
        depend_expire(d, d->now - d->horizon);
    o = operation_at(d, d->now);
    *o = (struct operation){ .edges = (uint32_t)d->edges_end,
                             .met = (uint32_t)d->now,
                             .reached = (uint32_t)d->now };
    d->candidate_count = 0;
    d->marks_own = d->marks_end;
    find_ids(d, uses, count);
    for (uint32_t i = 0; i < count && !d->failed; i++)
        if (uses[i].thing == THING_AFTER && uses[i].start < d->now)
            candidate_put(d, d->now - uses[i].start);
    for (uint32_t i = 0; i < count && !d->failed; i++)
        if (d->ids[i] && !(uses[i].thing == THING_NAME && uses[i].changes))
            use_thing(d, &uses[i], d->ids[i]);
    for (uint32_t i = 0; i < count && !d->failed; i++)
        if (d->ids[i] && uses[i].thing == THING_NAME && uses[i].changes)
            name_change(d, d->ids[i]); /* last, see there */
    o->marks_end = (uint32_t)d->marks_end;
    if (!d->failed)
        edges = depend_reduce(d);
    if (d->failed || put_distances(d, edges) < 0)
        return err_memory(err, "the dependencies of operations");
    for (uint32_t i = 0; i < count; i++)
        if (uses[i].thing == THING_NAME && uses[i].changes)
            names_prune(d, d->ids[i]);
    d->counts.operations++;
    d->counts.edges += edges;
    d->counts.independent += edges == 0;
    if (edges > d->counts.most)
        d->counts.most = edges;
    *distances = d->distances;
    return edges;
}
