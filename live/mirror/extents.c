/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/extents.c
 *
 * Extents of a file for its change set: what was written last.  Contents are merged within blocks
 * of CHANGES_BLOCK, so that a note never copies more than two of these; what is to be read again is
 * merged without a bound.
 */
#include "base/grow.h"
#include "mirror/change_set_parts.h"

#include <stdlib.h>

/* Arrays have room for up to twice of what they hold. */
enum { EXTENT_COST = 2 * sizeof(struct extent) };

/* The first one that ends behind |offset|. */
static uint32_t first_behind(const struct extents *e, uint64_t offset)
{
    uint32_t low = 0, high = e->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (extent_end(&e->list[middle]) > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool insert(struct extents *e, struct change_pool *pool, uint32_t at,
                   const struct extent *extent)
{
    if (e->count >= CHANGES_EXTENTS_MAX || GROW(e->list, e->count, e->cap) < 0 ||
        !pool_charge(pool, EXTENT_COST))
        return false;
    memmove(&e->list[at + 1], &e->list[at], (e->count - at) * sizeof(*extent));
    e->list[at] = *extent;
    e->count++;
    return true;
}

/* Takes entries of the list away, whose data belong to nobody else. */
static void take_out(struct extents *e, struct change_pool *pool, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        if (e->list[i].data)
            pool->contents -= e->list[i].length;
        free(e->list[i].data);
    }
    if (from < to)
        memmove(&e->list[from], &e->list[to], (e->count - to) * sizeof(*e->list));
    e->count -= to - from;
    pool->notes -= (uint64_t)EXTENT_COST * (to - from);
}

/* Keeps [from, from + length) of an extent. */
static bool keep(struct extent *extent, struct change_pool *pool, uint64_t from, uint64_t length)
{
    uint8_t *data = NULL;

    if (extent->data) {
        data = malloc(length);
        if (!data)
            return false;
        memcpy(data, extent->data + (from - extent->from), length);
        pool->contents -= extent->length - length;
        free(extent->data);
    }
    *extent = (struct extent){ from, length, data };
    return true;
}

/* [from, to) lies within the extent, and touches neither end. */
static bool split(struct extents *e, struct change_pool *pool, uint32_t at, uint64_t from,
                  uint64_t to)
{
    struct extent *extent = &e->list[at];
    struct extent right = { to, extent_end(extent) - to, NULL };

    if (extent->data) {
        right.data = malloc(right.length);
        if (!right.data)
            return false;
        memcpy(right.data, extent->data + (to - extent->from), right.length);
    }
    if (!insert(e, pool, at + 1, &right)) {
        free(right.data);
        return false;
    }
    if (right.data)
        pool->contents += right.length;
    return keep(&e->list[at], pool, e->list[at].from, from - e->list[at].from);
}

bool extents_cut(struct extents *e, struct change_pool *pool, uint64_t from, uint64_t to)
{
    uint32_t first = first_behind(e, from), last;

    if (first == e->count || from >= to)
        return true;
    if (e->list[first].from < from) {
        if (extent_end(&e->list[first]) > to)
            return split(e, pool, first, from, to);
        if (!keep(&e->list[first], pool, e->list[first].from, from - e->list[first].from))
            return false;
        first++;
    }
    last = first;
    while (last < e->count && extent_end(&e->list[last]) <= to)
        last++;
    if (last < e->count && e->list[last].from < to &&
        !keep(&e->list[last], pool, to, extent_end(&e->list[last]) - to))
        return false;
    take_out(e, pool, first, last);
    return true;
}

/* Merges an extent with the next one, if they belong together. */
static bool join(struct extents *e, struct change_pool *pool, uint32_t at)
{
    struct extent *left = &e->list[at], *right = left + 1;
    uint8_t *data;

    if (at + 1 >= e->count || extent_end(left) != right->from || !left->data != !right->data)
        return true;
    if (left->data) {
        if (left->from / CHANGES_BLOCK != right->from / CHANGES_BLOCK)
            return true;
        data = realloc(left->data, left->length + right->length);
        if (!data)
            return false;
        memcpy(data + left->length, right->data, right->length);
        left->data = data;
        pool->contents += right->length; /* take_out gives the right one's back */
    }
    left->length += right->length;
    take_out(e, pool, at + 1, at + 2);
    return true;
}

static bool write_piece(struct extents *e, struct change_pool *pool, uint64_t from, uint64_t length,
                        const uint8_t *data)
{
    struct extent extent = { from, length, NULL };
    uint32_t at;

    if (!extents_cut(e, pool, from, from + length))
        return false;
    if (data && length <= pool->contents_max - pool->contents) {
        extent.data = malloc(length);
        if (!extent.data)
            return false;
        memcpy(extent.data, data, length);
    }
    at = first_behind(e, from);
    if (!insert(e, pool, at, &extent)) {
        free(extent.data);
        return false;
    }
    if (extent.data)
        pool->contents += length;
    return join(e, pool, at) && (!at || join(e, pool, at - 1));
}

bool extents_write(struct extents *e, struct change_pool *pool, uint64_t from, uint64_t length,
                   const uint8_t *data)
{
    while (length > 0) {
        uint64_t piece = data ? CHANGES_BLOCK - from % CHANGES_BLOCK : length;

        if (piece > length)
            piece = length;
        if (!write_piece(e, pool, from, piece, data))
            return false;
        from += piece;
        length -= piece;
        data = data ? data + piece : NULL;
    }
    return true;
}

void extents_free(struct extents *e, struct change_pool *pool)
{
    take_out(e, pool, 0, e->count);
    free(e->list);
    *e = (struct extents){ 0 };
}
