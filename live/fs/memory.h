/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/memory.h
 *
 * Memory that is counted, and refused above a bound.  Whoever gives it back says how much it was.
 */
#ifndef NFSDIGEST_FS_MEMORY_H
#define NFSDIGEST_FS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_OVERHEAD = 8 }; /* of malloc, for each piece */

struct memory {
    uint64_t used, most; /* bytes; |most| 0: no bound */
};

static inline bool memory_allows(const struct memory *m, uint64_t size)
{
    return !m->most || size <= m->most - m->used;
}

/* Zeros; NULL: no memory. */
void *memory_take(struct memory *m, size_t size);
/* |from| bytes become |to| bytes, new ones zeros.  NULL: it is as it was; never when it shrinks. */
void *memory_resize(struct memory *m, void *old, size_t from, size_t to);
void memory_give(struct memory *m, void *old, size_t size); /* NULL: nothing */

#endif
