/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fs/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

/* What is so large is a table, looked into at random. */
static void ask_for_huge_pages(uint8_t *at, size_t size)
{
    uint8_t *first = at + (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
    size_t whole = size > (size_t)(first - at) ? (size - (size_t)(first - at)) / HUGE_PAGE : 0;

    if (whole)
        madvise(first, whole * HUGE_PAGE, MADV_HUGEPAGE);
}

void *memory_take(struct memory *m, size_t size)
{
    void *new = memory_allows(m, size + MEMORY_OVERHEAD) ? calloc(1, size) : NULL;

    if (new)
        m->used += size + MEMORY_OVERHEAD;
    if (new && size >= (size_t)2 * HUGE_PAGE)
        ask_for_huge_pages(new, size);
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
