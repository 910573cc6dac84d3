/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/overlap.c
 *
 * Each request that is under way has a list of what it touches: an object, a name, a range of
 * bytes.  A new request is checked against the lists of all the others, and both get their bits.  A
 * request is put when it is done.  For request_sequences.c of postproc/compare.  The contract is in
 * overlap.h.
 */
#include "align/overlap.h"

#include <stdlib.h>
#include <xxhash.h>

enum { CHANGES = 1, HAS_RANGE = 2, HAS_NAME = 4, TRUNCATES = 8, ATTRIBUTES_ONLY = 16, RIGHTS = 32 };

struct touch {
    uint32_t object;
    uint32_t bit;        /* OVERLAP_OBJECT, ... of the operation that touches */
    uint32_t flags;      /* above */
    uint64_t start, end; /* bytes */
    uint64_t name;       /* hash */
};

struct overlap_waiting {
    int64_t id, done;
    uint32_t bits, touch_count;
    struct touch touches[OVERLAP_TOUCHES];
};

int overlap_init(struct overlap *o, int (*put)(void *, int64_t, uint32_t, struct err *), void *ctx,
                 struct err *err)
{
    *o = (struct overlap){ .put = put, .ctx = ctx };
    o->waiting = calloc(OVERLAP_WAITING, sizeof(*o->waiting));
    return o->waiting ? 0 : err_memory(err, "requests");
}

void overlap_free(struct overlap *o)
{
    free(o->waiting);
    o->waiting = NULL;
}

static int finish(struct overlap *o, uint32_t at, struct err *err)
{
    struct overlap_waiting done = o->waiting[at];

    o->waiting[at] = o->waiting[--o->count];
    return done.bits ? o->put(o->ctx, done.id, done.bits, err) : 0;
}

static int finish_before(struct overlap *o, int64_t time, struct err *err)
{
    uint32_t first = 0;
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < o->count;) {
        if (o->waiting[i].done <= time)
            result = finish(o, i, err);
        else
            i++;
    }
    if (result == 0 && o->count == OVERLAP_WAITING) {
        for (uint32_t i = 1; i < o->count; i++)
            if (o->waiting[i].done < o->waiting[first].done)
                first = i;
        result = finish(o, first, err);
    }
    return result;
}

static uint64_t hash_name(struct bytes name)
{
    return XXH3_64bits(name.data, name.len);
}

static void add(struct overlap_waiting *w, struct touch touch)
{
    if (touch.object && w->touch_count < OVERLAP_TOUCHES)
        w->touches[w->touch_count++] = touch;
}

static void list_touches(struct overlap_waiting *w, const struct effect *e, uint32_t gone)
{
    bool refused = e->rpc_status > 0 || (e->status > 0 && e->pairing == 0);
    uint32_t changes = refused ? 0 : CHANGES; /* what failed changed nothing */
    struct touch object = { .object = e->object, .bit = OVERLAP_OBJECT };

    if (e->object_role & ROLE_MODIFIES)
        object.flags |= changes;
    if (effect_changes_rights(e) && changes)
        object.flags |= RIGHTS;
    if (e->roles & ROLE_RANGE_START) {
        object.flags |= HAS_RANGE;
        object.start = e->offset;
        object.end = e->count > UINT64_MAX - e->offset ? UINT64_MAX : e->offset + e->count;
    }
    if (e->asked.bits & ASKED_SIZE) {
        object.flags |= TRUNCATES | HAS_RANGE;
        object.end = UINT64_MAX;
    }
    if (e->name_role && e->roles & ROLE_PARENT) {
        object.flags = (object.flags & CHANGES) | HAS_NAME;
        object.name = hash_name(e->name);
    }
    add(w, object);
    if (e->name2_role)
        add(w, (struct touch){ .object = e->parent2,
                               .bit = OVERLAP_PARENT2,
                               .flags = changes | HAS_NAME,
                               .name = hash_name(e->name2) });
    if (e->new_object && e->new_object != e->object)
        add(w, (struct touch){ .object = e->new_object,
                               .bit = OVERLAP_NEW,
                               .flags = effect_makes_name(e) ? changes | ATTRIBUTES_ONLY : 0 });
    if (gone)
        add(w, (struct touch){ .object = gone,
                               .bit = 0,
                               .flags = changes ? CHANGES | ATTRIBUTES_ONLY | RIGHTS : 0 });
}

static bool ranges_meet(const struct touch *a, const struct touch *b)
{
    return a->flags & b->flags & HAS_RANGE && a->start < b->end && b->start < a->end;
}

/* What |theirs| means for the operation of |mine|. */
static uint32_t meet(const struct touch *mine, const struct touch *theirs)
{
    bool both = mine->flags & theirs->flags & CHANGES;
    uint32_t bits = 0;

    if (mine->object != theirs->object || !((mine->flags | theirs->flags) & CHANGES))
        return 0;
    if (theirs->flags & CHANGES)
        bits |= mine->bit;
    if (theirs->flags & RIGHTS && mine->bit == OVERLAP_OBJECT)
        bits |= OVERLAP_RIGHTS;
    if (mine->flags & theirs->flags & HAS_NAME) {
        if (mine->name == theirs->name)
            bits |= (theirs->flags & CHANGES ? OVERLAP_NAME : 0) | (both ? CONFLICT_NAME : 0);
        return bits;
    }
    if (ranges_meet(mine, theirs))
        bits |= (theirs->flags & CHANGES ? OVERLAP_DATA : 0) | (both ? CONFLICT_DATA : 0);
    if (both && ((!((mine->flags | theirs->flags) & (HAS_RANGE | HAS_NAME | ATTRIBUTES_ONLY))) ||
                 ((mine->flags | theirs->flags) & TRUNCATES && bits & CONFLICT_DATA)))
        bits |= CONFLICT_ATTRIBUTES;
    return bits;
}

int overlap_called(struct overlap *o, const struct effect *e, uint32_t gone, struct err *err)
{
    struct overlap_waiting w = { .id = e->id, .done = e->done_time };

    if (finish_before(o, e->call_time, err) < 0)
        return -err->code;
    list_touches(&w, e, gone);
    if (!w.touch_count)
        return 0;
    for (uint32_t i = 0; i < o->count; i++) {
        struct overlap_waiting *other = &o->waiting[i];

        for (uint32_t a = 0; a < w.touch_count; a++)
            for (uint32_t b = 0; b < other->touch_count; b++) {
                w.bits |= meet(&w.touches[a], &other->touches[b]);
                other->bits |= meet(&other->touches[b], &w.touches[a]);
            }
    }
    o->waiting[o->count++] = w;
    return 0;
}

int overlap_end(struct overlap *o, struct err *err)
{
    int result = 0;

    while (result == 0 && o->count)
        result = finish(o, o->count - 1, err);
    return result;
}
