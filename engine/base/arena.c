/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
    uint8_t data[];
};

const uint8_t *arena_copy(struct arena *arena, const void *data, size_t len)
{
    struct arena_chunk *c = arena->chunks;
    uint8_t *to;

    if (!c || arena->left < len) {
        size_t size = len > CHUNK ? len : CHUNK;
        c = malloc(sizeof(*c) + size);
        if (!c)
            return NULL;
        c->next = arena->chunks;
        c->size = size;
        arena->chunks = c;
        arena->left = size;
    }
    to = c->data + (c->size - arena->left);
    if (len)
        memcpy(to, data, len);
    arena->left -= len;
    return to;
}

void arena_free(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    arena->left = 0;
}
