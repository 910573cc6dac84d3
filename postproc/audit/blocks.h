/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/blocks.h
 *
 * Reads every byte of a capture file, block by block (pcapng) or record by record (pcap), with its
 * place.  Bytes that are neither come in pieces.
 *
 * Memory: one block of BLOCK_BYTES_MAX; longer ones come in pieces.
 */
#ifndef NFSDIGEST_AUDIT_BLOCKS_H
#define NFSDIGEST_AUDIT_BLOCKS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { BLOCK_BYTES_MAX = 16 << 20, BLOCK_OVERLAP = 16 };

enum block_kind {
    BLOCK_OTHER,
    BLOCK_SECTION,
    BLOCK_INTERFACE,
    BLOCK_STATISTICS,
    BLOCK_NAMES,
    BLOCK_PACKET,
};

struct input;

struct block {
    const struct input *input;
    uint8_t kind; /* enum block_kind */
    bool swapped;
    bool pcapng;
    uint64_t offset; /* in the (decompressed) file */
    /* The block's bytes.  Up to BLOCK_OVERLAP bytes from before the block are before |data|. */
    const uint8_t *data;
    uint32_t len, before;
    uint64_t frame;               /* of a packet; in other blocks the last one before it */
    uint32_t frame_at, frame_len; /* place of the packet's bytes in |data| */
};

typedef int block_visit(void *ctx, const struct block *block, struct err *err);

int blocks_read(const char *path, block_visit *visit, void *ctx, struct err *err);

/* Calls |visit| for each pcapng option of a block; skips packet blocks that are not enhanced ones.
 * |text| does not end with a zero. */
typedef int option_visit(void *ctx, const struct block *block, unsigned code, const uint8_t *text,
                         uint32_t len, struct err *err);
int block_options(const struct block *block, option_visit *visit, void *ctx, struct err *err);

const char *block_kind_name(enum block_kind kind);

#endif
