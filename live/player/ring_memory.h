/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/ring_memory.h
 *
 * Memory for rings that a run goes round all over: in large pages if the system has some, because
 * looking up small ones would cost 5 % of the player's CPU.  free() frees it.
 */
#ifndef NFSDIGEST_PLAYER_RING_MEMORY_H
#define NFSDIGEST_PLAYER_RING_MEMORY_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* |size| is a multiple of 64; the memory begins at one, too.  NULL: no memory. */
static inline void *ring_memory(uint64_t size)
{
    const uint64_t page = 2 << 20; /* of x86_64; elsewhere it only aligns */
    void *memory;

    if (size >= page) /* C11 7.22.3.1 wants a multiple of the alignment */
        size = (size + page - 1) / page * page;
    memory = aligned_alloc(size < page ? 64 : page, size);
    if (memory && size >= page)
        madvise(memory, size, MADV_HUGEPAGE); /* a wish */
    return memory;
}

#endif
