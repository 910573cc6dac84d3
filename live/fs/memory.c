/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fs/memory.h"

#include <stdlib.h>
#include <string.h>

void *memory_take(struct memory *m, size_t size)
{
    void *new = memory_allows(m, size + MEMORY_OVERHEAD) ? calloc(1, size) : NULL;

    if (new)
        m->used += size + MEMORY_OVERHEAD;
    return new;
}

void *memory_resize(struct memory *m, void *old, size_t from, size_t to)
{
    void *new;

    if (!old)
        return memory_take(m, to);
    if (to > from && !memory_allows(m, to - from))
        return NULL;
    new = realloc(old, to);
    if (!new && to > from)
        return NULL;
    m->used += to;
    m->used -= from;
    if (to > from)
        memset((uint8_t *)new + from, 0, to - from);
    return new ? new : old; /* what shrinks may stay as it is */
}

void memory_give(struct memory *m, void *old, size_t size)
{
    if (!old)
        return;
    m->used -= size + MEMORY_OVERHEAD;
    free(old);
}
