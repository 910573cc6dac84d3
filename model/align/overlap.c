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

struct overlap_waiting {
    int64_t id, done;
    uint32_t bits, touch_count;
    struct overlap_touch touches[OVERLAP_TOUCHES];
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

static void add(struct overlap_touch *to, uint32_t *count, struct overlap_touch touch)
{
    if (touch.object && *count < OVERLAP_TOUCHES)
        to[(*count)++] = touch;
}

uint32_t overlap_touches(const struct effect *e, uint32_t gone,
                         struct overlap_touch to[OVERLAP_TOUCHES])
{
    bool refused = e->rpc_status > 0 || (e->status > 0 && e->pairing == 0);
    uint32_t changes = refused ? 0 : TOUCH_CHANGES; /* what failed changed nothing */
    uint32_t count = 0;
    struct overlap_touch object = { .object = e->object, .bit = OVERLAP_OBJECT };

    if (e->object_role & ROLE_MODIFIES)
        object.flags |= changes;
    if (effect_changes_rights(e) && changes)
        object.flags |= TOUCH_RIGHTS;
    if (e->roles & ROLE_RANGE_START) {
        object.flags |= TOUCH_HAS_RANGE;
        object.start = e->offset;
        object.end = e->count > UINT64_MAX - e->offset ? UINT64_MAX : e->offset + e->count;
    }
    if (e->asked.bits & ASKED_SIZE) {
        object.flags |= TOUCH_TRUNCATES | TOUCH_HAS_RANGE;
        object.end = UINT64_MAX;
    }
    if (e->name_role && e->roles & ROLE_PARENT) {
        object.flags = (object.flags & TOUCH_CHANGES) | TOUCH_HAS_NAME;
        object.name = hash_name(e->name);
    }
    add(to, &count, object);
    if (e->name2_role)
        add(to, &count,
            (struct overlap_touch){ .object = e->parent2,
                                    .bit = OVERLAP_PARENT2,
                                    .flags = changes | TOUCH_HAS_NAME,
                                    .name = hash_name(e->name2) });
    if (e->new_object && e->new_object != e->object)
        add(to, &count,
            (struct overlap_touch){ .object = e->new_object,
                                    .bit = OVERLAP_NEW,
                                    .flags = effect_makes_name(e) ? changes | TOUCH_ATTRIBUTES_ONLY
                                                                  : 0 });
    if (gone)
        add(to, &count,
            (struct overlap_touch){
                .object = gone,
                .flags = TOUCH_NAMED | TOUCH_GOES |
                         (changes ? TOUCH_CHANGES | TOUCH_ATTRIBUTES_ONLY | TOUCH_RIGHTS : 0) });
    return count;
}

static bool ranges_meet(const struct overlap_touch *a, const struct overlap_touch *b)
{
    return a->flags & b->flags & TOUCH_HAS_RANGE && a->start < b->end && b->start < a->end;
}

/* A directory can be removed or replaced when it is empty; who may do so, or move it, depends on
 * owners. */
static bool is_named_changed(const struct overlap_touch *mine, const struct overlap_touch *theirs)
{
    uint32_t decides = TOUCH_RIGHTS | (mine->flags & TOUCH_GOES ? TOUCH_HAS_NAME : 0);

    return mine->flags & TOUCH_NAMED && theirs->flags & TOUCH_CHANGES && theirs->flags & decides &&
           !(theirs->flags & TOUCH_NAMED);
}

uint32_t overlap_meet(const struct overlap_touch *mine, const struct overlap_touch *theirs)
{
    bool both = mine->flags & theirs->flags & TOUCH_CHANGES;
    uint32_t bits = 0;

    if (mine->object != theirs->object || !((mine->flags | theirs->flags) & TOUCH_CHANGES))
        return 0;
    if (theirs->flags & TOUCH_CHANGES)
        bits |= mine->bit;
    if (theirs->flags & TOUCH_RIGHTS && mine->bit & (OVERLAP_OBJECT | OVERLAP_PARENT2))
        bits |= OVERLAP_RIGHTS;
    if (is_named_changed(mine, theirs))
        bits |= OVERLAP_NAME;
    if (mine->flags & theirs->flags & TOUCH_HAS_NAME) {
        if (mine->name == theirs->name)
            bits |= (theirs->flags & TOUCH_CHANGES ? OVERLAP_NAME : 0) | (both ? CONFLICT_NAME : 0);
        return bits;
    }
    if (ranges_meet(mine, theirs))
        bits |= (theirs->flags & TOUCH_CHANGES ? OVERLAP_DATA : 0) | (both ? CONFLICT_DATA : 0);
    if (both && ((!((mine->flags | theirs->flags) &
                    (TOUCH_HAS_RANGE | TOUCH_HAS_NAME | TOUCH_ATTRIBUTES_ONLY))) ||
                 ((mine->flags | theirs->flags) & TOUCH_TRUNCATES && bits & CONFLICT_DATA)))
        bits |= CONFLICT_ATTRIBUTES;
    return bits;
}

int overlap_called(struct overlap *o, const struct effect *e, uint32_t gone, struct err *err)
{
    struct overlap_waiting w = { .id = e->id, .done = e->done_time };

    if (finish_before(o, e->call_time, err) < 0)
        return -err->code;
    w.touch_count = overlap_touches(e, gone, w.touches);
    if (!w.touch_count)
        return 0;
    for (uint32_t i = 0; i < o->count; i++) {
        struct overlap_waiting *other = &o->waiting[i];

        for (uint32_t a = 0; a < w.touch_count; a++)
            for (uint32_t b = 0; b < other->touch_count; b++) {
                w.bits |= overlap_meet(&w.touches[a], &other->touches[b]);
                other->bits |= overlap_meet(&other->touches[b], &w.touches[a]);
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
