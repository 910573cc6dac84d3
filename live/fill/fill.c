/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fill/fill.h"

static const uint64_t TABLE_SEED = UINT64_C(0x66696c6c); /* "fill" */

/* The table, and as much of its repetition as one piece can need. */
static uint8_t table[FILL_PERIOD + FILL_RUN];
static bool made;

/* The next number of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
 * Generators, 2014). */
static uint64_t next_number(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void make_table(void)
{
    uint64_t state = TABLE_SEED;

    /* the last number passes the period: what is too much of it is overwritten */
    for (uint32_t i = 0; i < FILL_PERIOD; i += 8)
        store_le64(table + i, next_number(&state));
    memcpy(table + FILL_PERIOD, table, FILL_PERIOD);
    memcpy(table + 2 * FILL_PERIOD, table, FILL_RUN - FILL_PERIOD);
    made = true;
}

const uint8_t *fill_at(uint64_t object, uint64_t offset)
{
    uint64_t at = next_number(&object) % FILL_PERIOD + offset % FILL_PERIOD;

    if (!made)
        make_table();
    return table + (at < FILL_PERIOD ? at : at - FILL_PERIOD);
}

/* The bytes that one piece of the table gives. */
static size_t piece(size_t length)
{
    return length < FILL_RUN ? length : FILL_RUN;
}

void fill_copy(uint64_t object, uint64_t offset, uint8_t *to, size_t length)
{
    while (length) {
        size_t part = piece(length);

        memcpy(to, fill_at(object, offset), part);
        offset += part;
        to += part;
        length -= part;
    }
}

size_t fill_same(uint64_t object, uint64_t offset, struct bytes bytes)
{
    size_t same = 0;

    while (same < bytes.len) {
        size_t part = piece(bytes.len - same), at = 0;
        const uint8_t *right = fill_at(object, offset + same);

        if (memcmp(bytes.data + same, right, part) != 0) {
            while (bytes.data[same + at] == right[at])
                at++;
            return same + at;
        }
        same += part;
    }
    return same;
}
