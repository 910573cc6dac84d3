/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_copies.c
 *
 * A replay dump as several copies of one, merged by time: objects get numbers of their own, and
 * distances count among all operations.  Contract: rdump_copies.h.
 */
#include "rdump/rdump_copies.h"
#include "base/grow.h"
#include "wire/handles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Where the last operations of a copy stand among all: a ring that grows as it must, and forgets
 * what is |horizon| or more behind. */
struct track {
    struct placed {
        uint64_t place;
        bool lost; /* a listing that cannot be played: none goes on from there */
    } *places;
    uint64_t first, count; /* number of the first one kept, in the copy; how many */
    uint32_t cap;
};

struct copy {
    struct rdump_reader *reader;
    int fd;
    int64_t delay;
    const struct rdump_operation *next; /* NULL: no more */
    struct track track;
};

struct merge {
    struct copy *copies;
    uint32_t count, horizon;
    uint64_t placed;
    struct rdump_writer *to;
    struct buf arguments;
    uint32_t *distances, *forget;
    uint32_t distance_cap, forget_cap;
    struct err *err;
};

static int no_memory(struct err *err)
{
    return err_memory(err, "copies");
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15; /* SplitMix64 */

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint32_t number_in(const struct merge *m, uint32_t object, uint32_t copy)
{
    return object ? (object - 1) * m->count + copy + 1 : 0;
}

/* Whether its numbers in all copies are numbers. */
static int check_number(struct merge *m, uint32_t object)
{
    if ((uint64_t)object * m->count <= UINT32_MAX)
        return 0;
    return err_set(m->err, ERR_USAGE, "%u copies have more than 2^32 objects: ask for fewer",
                   m->count);
}

/* Of the records before the operations, those that belong to the copies come once for each. */
static int put_before(struct merge *m, enum rdump_kind kind, const void *record)
{
    if (kind == RDUMP_TRACE) {
        struct rdump_trace t = *(const struct rdump_trace *)record;

        m->horizon = t.horizon;
        t.copies = m->count;
        return rdump_put(m->to, kind, &t, m->err);
    }
    for (uint32_t k = 0; k < m->count; k++) {
        int result;

        if (kind == RDUMP_OBJECT) {
            struct rdump_object o = *(const struct rdump_object *)record;

            if (check_number(m, o.number) < 0)
                return -m->err->code;
            o.number = number_in(m, o.number, k);
            o.copy = k;
            result = rdump_put(m->to, kind, &o, m->err);
        } else if (kind == RDUMP_ENTRY) {
            struct rdump_entry e = *(const struct rdump_entry *)record;

            e.parent = number_in(m, e.parent, k);
            e.object = number_in(m, e.object, k);
            result = rdump_put(m->to, kind, &e, m->err);
        } else {
            return rdump_put(m->to, kind, record, m->err);
        }
        if (result < 0)
            return result;
    }
    return 0;
}

/* Up to the copy's next operation; what comes before is put when it is the first copy's. */
static int advance(struct merge *m, struct copy *c)
{
    enum rdump_kind kind;
    const void *record;
    int result;

    c->next = NULL;
    while ((result = rdump_next(c->reader, &kind, &record, m->err)) > 0) {
        if (kind == RDUMP_OPERATION) {
            c->next = record;
            return 0;
        }
        if (kind != RDUMP_END && c == m->copies && put_before(m, kind, record) < 0)
            return -m->err->code;
    }
    return result;
}

static bool track_put(struct merge *m, struct track *t, uint64_t place, bool lost)
{
    while (t->count && t->places[t->first & (t->cap - 1)].place + m->horizon <= place) {
        t->first++;
        t->count--;
    }
    if (t->count == t->cap) {
        uint32_t wide = t->cap ? t->cap * 2 : 64;
        struct placed *grown = malloc(wide * sizeof(*grown));

        if (!grown)
            return false;
        for (uint64_t i = t->first; i < t->first + t->count; i++)
            grown[i & (wide - 1)] = t->places[i & (t->cap - 1)];
        free(t->places);
        t->places = grown;
        t->cap = wide;
    }
    t->places[(t->first + t->count++) & (t->cap - 1)] = (struct placed){ place, lost };
    return true;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* The copy's dependencies among all operations; those beyond the horizon hold by themselves. */
static int place_dependencies(struct merge *m, struct copy *c, struct rdump_operation *o)
{
    uint64_t own = c->track.first + c->track.count;
    uint32_t count = 0;

    if (GROW_TO(m->distances, o->dependency_count, m->distance_cap) < 0)
        return no_memory(m->err);
    for (uint32_t i = 0; i < o->dependency_count; i++) {
        uint64_t distance;

        if (o->dependencies[i] > c->track.count)
            continue;
        distance =
            m->placed - c->track.places[(own - o->dependencies[i]) & (c->track.cap - 1)].place;
        if (distance < m->horizon)
            m->distances[count++] = (uint32_t)distance;
    }
    if (count)
        qsort(m->distances, count, sizeof(*m->distances), by_value);
    o->dependencies = m->distances;
    o->dependency_count = count;
    return 0;
}

/* The same of the operation that gave the cookie; what is too far away now cannot be played. */
static void place_cookie(struct merge *m, const struct copy *c, struct rdump_operation *o)
{
    uint64_t own = c->track.first + c->track.count;
    const struct placed *from;

    if (!o->cookie_from)
        return;
    from = o->cookie_from <= c->track.count
               ? &c->track.places[(own - o->cookie_from) & (c->track.cap - 1)]
               : NULL;
    if (from && !from->lost && m->placed - from->place < m->horizon) {
        o->cookie_from = (uint32_t)(m->placed - from->place);
        return;
    }
    o->unplayable = RDUMP_UNPLAYABLE_COOKIE;
    o->cookie_from = o->cookie_entries = o->cookie_count = o->mask = 0;
    o->digest = 0;
    o->links = o->results = o->names = (struct bytes){ 0 };
}

static int number_forgotten(struct merge *m, uint32_t copy, struct rdump_operation *o)
{
    if (GROW_TO(m->forget, o->forget_count, m->forget_cap) < 0)
        return no_memory(m->err);
    for (uint32_t i = 0; i < o->forget_count; i++)
        m->forget[i] = number_in(m, o->forget[i], copy);
    o->forget = m->forget;
    return 0;
}

struct renumbering {
    const struct merge *merge;
    uint32_t copy;
};

static int renumber(void *ctx, const struct handle_place *place)
{
    const struct renumbering *r = ctx;

    if (place->handle.len == 4)
        store_be32(r->merge->arguments.data + place->at,
                   number_in(r->merge, load_be32(place->handle.data), r->copy));
    return 0;
}

/* Its handles become those of the copy. */
static int number_handles(struct merge *m, uint32_t copy, struct rdump_operation *o)
{
    const struct procedure *procedure = rdump_procedure(o->procedure);
    struct renumbering r = { m, copy };
    const struct handle_visitor visitor = { renumber, &r };

    m->arguments.len = 0;
    if (buf_append(&m->arguments, o->arguments.data, o->arguments.len) < 0)
        return no_memory(m->err);
    o->arguments = (struct bytes){ m->arguments.data, o->arguments.len };
    if (procedure) /* contents that are not there may be of any length */
        handles_each(procedure->arguments, o->arguments, UINT32_MAX, true, &visitor);
    return 0;
}

static int put_next(struct merge *m, uint32_t k)
{
    struct copy *c = &m->copies[k];
    struct rdump_operation o = *c->next;

    if (check_number(m, o.made) < 0)
        return -m->err->code;
    o.time += c->delay;
    o.made = number_in(m, o.made, k);
    o.copy = k;
    place_cookie(m, c, &o);
    if (place_dependencies(m, c, &o) < 0 || number_handles(m, k, &o) < 0 ||
        number_forgotten(m, k, &o) < 0)
        return -m->err->code;
    if (!track_put(m, &c->track, m->placed++, o.unplayable == RDUMP_UNPLAYABLE_COOKIE))
        return no_memory(m->err);
    if (rdump_put(m->to, RDUMP_OPERATION, &o, m->err) < 0)
        return -m->err->code;
    return advance(m, c);
}

static int merge(struct merge *m)
{
    for (;;) {
        uint32_t first = UINT32_MAX;

        for (uint32_t k = 0; k < m->count; k++)
            if (m->copies[k].next &&
                (first == UINT32_MAX || m->copies[k].next->time + m->copies[k].delay <
                                            m->copies[first].next->time + m->copies[first].delay))
                first = k;
        if (first == UINT32_MAX)
            return 0;
        if (put_next(m, first) < 0)
            return -m->err->code;
    }
}

static int open_copies(struct merge *m, const char *path, int64_t delay, uint64_t seed)
{
    for (uint32_t k = 0; k < m->count; k++) {
        struct copy *c = &m->copies[k];

        c->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (c->fd < 0)
            return err_set(m->err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
        if (k && delay > 0)
            c->delay = (int64_t)(next_random(&seed) % (uint64_t)delay);
        c->reader = rdump_reader_new(c->fd, path, m->err);
        if (!c->reader || advance(m, c) < 0)
            return -m->err->code;
    }
    return 0;
}

int rdump_copy(const char *path, uint32_t copies, int64_t delay, uint64_t seed,
               struct rdump_writer *to, struct err *err)
{
    struct merge m = { .count = copies, .to = to, .err = err, .horizon = 1 };
    int result;

    m.copies = calloc(copies, sizeof(*m.copies));
    if (!m.copies)
        return no_memory(err);
    for (uint32_t k = 0; k < copies; k++)
        m.copies[k].fd = -1;
    result = open_copies(&m, path, delay, seed);
    if (result == 0)
        result = merge(&m);
    for (uint32_t k = 0; k < copies; k++) {
        rdump_reader_free(m.copies[k].reader);
        if (m.copies[k].fd >= 0)
            close(m.copies[k].fd);
        free(m.copies[k].track.places);
    }
    free(m.copies);
    free(m.distances);
    free(m.forget);
    buf_free(&m.arguments);
    return result;
}
