/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/texts.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS_MAX = 1 << 16 };

/* A chunk of its own for more than one chunk has. */
static int chunk_new(struct texts *texts, size_t units)
{
    size_t size = units > TEXTS_CHUNK ? units : TEXTS_CHUNK;
    uint8_t *chunk;

    if (texts->count == CHUNKS_MAX || GROW(texts->chunks, texts->count, texts->cap) < 0 ||
        !(chunk = malloc(size * TEXTS_UNIT)))
        return -ERR_SYSTEM;
    texts->used = texts->count ? 0 : 1; /* number 0 is none */
    texts->chunks[texts->count++] = chunk;
    return 0;
}

uint32_t texts_add(struct texts *texts, const void *data, size_t len)
{
    size_t units = len / TEXTS_UNIT + (len % TEXTS_UNIT != 0);
    uint32_t number;

    if (!units)
        units = 1;
    if ((!texts->count || units > TEXTS_CHUNK - texts->used) &&
        chunk_new(texts, units + (texts->count == 0)) < 0)
        return 0;
    number = (texts->count - 1) * (uint32_t)TEXTS_CHUNK + texts->used;
    if (len)
        memcpy((uint8_t *)texts_at(texts, number), data, len);
    texts->used = units > TEXTS_CHUNK - texts->used ? TEXTS_CHUNK : texts->used + (uint32_t)units;
    return number;
}

/* The last chunk first: who asks has mostly just got the string.  Addresses are compared as
 * numbers, as they may be of another array. */
uint32_t texts_number(const struct texts *texts, const void *at)
{
    for (uint32_t i = texts->count; i-- > 0;) {
        uintptr_t from = (uintptr_t)at - (uintptr_t)texts->chunks[i];

        if (from < (uintptr_t)TEXTS_CHUNK * TEXTS_UNIT)
            return from % TEXTS_UNIT ? 0
                                     : i * (uint32_t)TEXTS_CHUNK + (uint32_t)(from / TEXTS_UNIT);
    }
    return 0;
}

void texts_free(struct texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++)
        free(texts->chunks[i]);
    free(texts->chunks);
    *texts = (struct texts){ 0 };
}
