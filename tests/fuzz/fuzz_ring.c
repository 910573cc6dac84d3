/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_ring.c
 *
 * Any bytes as the contents of a ring: the reader never leaves the ring, and it ends.  The input:
 * |reserved|, |written| and the reader's position, 8 bytes each, then pieces, each where it lies
 * (4 bytes, in units of RING_ALIGN) and 64 bytes for there.
 */
#include <stdlib.h>
#include <string.h>

#include "ring/ring_parts.h"

enum { SIZE = RING_BLOCKS_MIN * RING_BLOCK, READS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ring_head *memory; /* of its exact size, for AddressSanitizer */
static uint8_t payload[RING_BLOCK];

static uint8_t *piece_at(uint32_t place)
{
    return (uint8_t *)memory + RING_HEAD_SIZE + place % (SIZE / RING_ALIGN) * RING_ALIGN;
}

static void set_up(void)
{
    if (memory)
        return;
    memory = aligned_alloc(64, RING_HEAD_SIZE + SIZE);
    if (!memory)
        abort();
    memset(memory, 0, RING_HEAD_SIZE + SIZE);
    memcpy(memory->magic, RING_MAGIC, sizeof(memory->magic));
    memory->version = RING_VERSION;
    memory->head_size = RING_HEAD_SIZE;
    memory->block = RING_BLOCK;
    memory->size = SIZE;
}

static void read_all(uint64_t position)
{
    struct ring_reader reader = { .payload = payload };

    if (ring_reader_begin(&reader, memory, SIZE, NULL) < 0)
        return;
    reader.position = position / RING_ALIGN * RING_ALIGN;
    for (int i = 0; i < READS; i++) {
        uint64_t before = reader.position;
        struct ring_got got;
        int result = ring_read(&reader, &got, NULL);

        if (result < 0)
            return;
        if (reader.position < before || (result && reader.position == before))
            abort();
        if (result && (got.payload.len > RING_PAYLOAD_MAX || !got.entry.number))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t at;

    if (size < 24)
        return 0;
    set_up();
    atomic_store(&memory->reserved, load_le64(data));
    atomic_store(&memory->written, load_le64(data + 8));
    for (at = 24; at + 4 + RING_ALIGN <= size; at += 4 + RING_ALIGN)
        memcpy(piece_at(load_le32(data + at)), data + at + 4, RING_ALIGN);
    read_all(load_le64(data + 16));
    for (at = 24; at + 4 + RING_ALIGN <= size; at += 4 + RING_ALIGN)
        memset(piece_at(load_le32(data + at)), 0, RING_ALIGN);
    return 0;
}
