/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_like.h
 *
 * Requests of a window, sorted so that like ones stand together: by their keys, and those of one
 * key in their order.
 */
#ifndef NFSDIGEST_ALIGN_ALIGN_LIKE_H
#define NFSDIGEST_ALIGN_ALIGN_LIKE_H

#include <stdint.h>
#include <stdlib.h>

struct align_like {
    uint64_t key;
    int64_t time;   /* of struct align_element, or what is expected on the other side */
    uint32_t index; /* of the element in its window */
};

static inline int align_by_key(const void *a, const void *b)
{
    const struct align_like *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static inline void align_like_sort(struct align_like *like, uint32_t count)
{
    qsort(like, count, sizeof(*like), align_by_key);
}

/* The place behind the last one that is like |like[from]|. */
static inline uint32_t align_like_end(const struct align_like *like, uint32_t count, uint32_t from)
{
    uint32_t end = from;

    while (end < count && like[end].key == like[from].key)
        end++;
    return end;
}

#endif
