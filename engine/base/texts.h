/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/texts.h
 *
 * Memory for many short byte strings that live as long as their owner, as base/arena.h has it, but
 * found by numbers of 32 bits: half of a pointer, where millions of things have a string each.
 * All zeros is empty.
 *
 * Memory: 256 KiB at a time, of which strings use multiples of 4 bytes; 16 GiB at most.  A longer
 * string has memory of its own.
 */
#ifndef NFSDIGEST_BASE_TEXTS_H
#define NFSDIGEST_BASE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

enum { TEXTS_UNIT = 4, TEXTS_CHUNK = 1 << 16 /* units */ };

struct texts {
    uint8_t **chunks;
    uint32_t count, cap;
    uint32_t used; /* units of the last chunk */
};

/* Keeps a copy of |len| bytes, of which there may be none, and returns its number; 0: no memory. */
uint32_t texts_add(struct texts *texts, const void *data, size_t len);
void texts_free(struct texts *texts);

/* The number of a string whose bytes begin here; 0: none of |texts| does. */
uint32_t texts_number(const struct texts *texts, const void *at);

/* The bytes of a number.  They never move. */
static inline const uint8_t *texts_at(const struct texts *texts, uint32_t number)
{
    return texts->chunks[number / TEXTS_CHUNK] + (size_t)(number % TEXTS_CHUNK) * TEXTS_UNIT;
}

#endif
