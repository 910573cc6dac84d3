/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/arena.h
 *
 * Memory for many small byte strings that live as long as their owner. All zeros is empty.
 */
#ifndef NFSDIGEST_BASE_ARENA_H
#define NFSDIGEST_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    size_t left; /* in the first chunk */
};

/* Returns a copy of |len| bytes, or NULL if there is no memory.  If |len| is 0, the result is a
 * valid pointer, too. */
const uint8_t *arena_copy(struct arena *arena, const void *data, size_t len);
void arena_free(struct arena *arena);

#endif
