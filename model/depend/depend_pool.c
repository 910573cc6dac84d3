/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "depend/depend_parts.h"

#include <stdlib.h>
#include <string.h>

enum { EXPIRES_SOON = 24 };

/* Twice the room for the elements at places |begin| to |end| - 1; NULL: no memory. */
void *depend_grow_ring(void *ring, uint32_t *mask, uint64_t begin, uint64_t end, size_t size)
{
    uint32_t wide = ring ? *mask * 2 + 1 : 1023;
    char *grown = *mask > UINT32_MAX / 4 ? NULL : malloc(((size_t)wide + 1) * size);

    if (!grown)
        return NULL;
    for (uint64_t i = begin; i < end; i++)
        memcpy(grown + (i & wide) * size, (char *)ring + (i & *mask) * size, size);
    free(ring);
    *mask = wide;
    return grown;
}

uint32_t depend_holder_of(struct depend *d, uint32_t object)
{
    uint64_t hash = object_hash(object);
    uint32_t id, at;

    if (d->holder && d->holder_object == object)
        return d->holder;
    id = table_first(&d->by_object, hash, &at);
    if (id == TABLE_NONE) {
        id = pool_new(&d->holders);
        if (!id || table_add(&d->by_object, hash, id) < 0) {
            d->failed = true;
            return NO_ID;
        }
        holder_at(d, id)->object = object;
    }
    d->holder = id;
    d->holder_object = object;
    return id;
}

uint32_t depend_name_of(struct depend *d, uint32_t object, uint64_t name, uint32_t holder)
{
    uint64_t hash = name_hash(object, name);
    struct entry_line *n;
    uint32_t id, at;

    for (id = table_first(&d->by_name, hash, &at); id != TABLE_NONE;
         id = table_next(&d->by_name, hash, &at)) {
        n = name_at(d, id);
        if (n->name == name && n->object == object)
            return id;
    }
    id = pool_new(&d->names);
    if (!id || table_add(&d->by_name, hash, id) < 0) {
        d->failed = true;
        return NO_ID;
    }
    n = name_at(d, id);
    n->name = name;
    n->object = object;
    n->holder = holder;
    holder_at(d, holder)->refs++;
    return id;
}

static void holder_release(struct depend *d, uint32_t id)
{
    struct holder *h = holder_at(d, id);

    if (--h->refs)
        return;
    table_remove(&d->by_object, object_hash(h->object), id);
    if (h->directory)
        pool_give(&d->directories, h->directory);
    if (h->file)
        file_forget(d, h->file);
    if (d->holder == id)
        d->holder = NO_ID;
    pool_give(&d->holders, id);
}

static void name_release(struct depend *d, uint32_t id)
{
    struct entry_line *n = name_at(d, id);
    uint32_t holder = n->holder;

    if (--n->refs)
        return;
    table_remove(&d->by_name, name_hash(n->object, n->name), id);
    name_unlink(d, id);
    pool_give(&d->names, id);
    holder_release(d, holder);
}

void mark_put(struct depend *d, uint32_t owner, uint64_t *chain)
{
    uint64_t before = 0;
    struct mark *m;

    if (d->failed)
        return;
    if (d->marks_end - d->marks_begin > d->marks_mask || !d->marks) {
        m = depend_grow_ring(d->marks, &d->marks_mask, d->marks_begin, d->marks_end, sizeof(*m));
        if (!m) {
            d->failed = true;
            return;
        }
        d->marks = m;
    }
    if (chain && mark_is_live(d, *chain))
        before = d->marks_end - *chain;
    *mark_at(d, d->marks_end) =
        (struct mark){ .operation = (uint32_t)d->now, .before = (uint32_t)before, .owner = owner };
    if (owner & OWNER_NAME)
        name_at(d, owner & ~(uint32_t)OWNER_NAME)->refs++;
    else
        holder_at(d, owner)->refs++;
    if (chain)
        *chain = d->marks_end;
    d->marks_end++;
}

void depend_expire(struct depend *d, uint64_t operation)
{
    const struct operation *o = operation_at(d, operation);
    uint64_t end = d->marks_end - (uint32_t)((uint32_t)d->marks_end - o->marks_end);
    uint32_t edges = o->edges + o->edge_count + o->implied;

    for (; d->marks_begin < end; d->marks_begin++) {
        uint32_t owner = mark_at(d, d->marks_begin)->owner;
        uint32_t soon = mark_at(d, d->marks_begin + EXPIRES_SOON)->owner;

        if (owner & OWNER_NAME)
            name_release(d, owner & ~(uint32_t)OWNER_NAME);
        else
            holder_release(d, owner);
        if (d->marks_begin + EXPIRES_SOON >= d->marks_end)
            continue;
        if (soon & OWNER_NAME)
            __builtin_prefetch(name_at(d, soon & ~(uint32_t)OWNER_NAME));
        else
            __builtin_prefetch(holder_at(d, soon));
    }
    d->edges_begin = d->edges_end - (uint32_t)((uint32_t)d->edges_end - edges);
}
