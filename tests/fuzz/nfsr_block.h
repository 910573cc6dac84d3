/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/nfsr_block.h
 *
 * Makes a record stream of any bytes: its header and the checksums are right, so that readers come
 * to the records.
 */
#ifndef NFSDIGEST_FUZZ_NFSR_BLOCK_H
#define NFSDIGEST_FUZZ_NFSR_BLOCK_H

#include "base/digest.h"
#include "record/format.h"
#include "record/nfsr.h"

#include <stdlib.h>

static int block_to_memory(void *ctx, const void *data, size_t len, struct err *err)
{
    return buf_append(ctx, data, len) < 0 ? err_set(err, ERR_SYSTEM, "no memory") : 0;
}

/* How many records there seem to be, so that the count in the block's header is right. */
static uint32_t block_count_records(const uint8_t *p, size_t len)
{
    uint32_t count = 0;

    while (len) {
        size_t body = 0, at = 1;

        for (unsigned shift = 0; at < len && shift < 28; shift += 7, at++) {
            body |= (size_t)(p[at] & 0x7f) << shift;
            if (p[at] < 0x80)
                break;
        }
        count++;
        if (at >= len || body > len - at - 1)
            break;
        p += at + 1 + body;
        len -= at + 1 + body;
    }
    return count;
}

/* Appends the checksum of what follows the byte |from|. */
static void block_seal(struct buf *stream, size_t from)
{
    uint8_t sum[NFSR_CHECKSUM_LEN];

    store_le64(sum, XXH3_64bits(stream->data + from, stream->len - from));
    if (buf_append(stream, sum, sizeof(sum)) < 0)
        abort();
}

/* Makes |stream|, which is empty, one whose only block has |payload|.  |later|: the stream is of a
 * later minor version. */
static void block_wrap(struct buf *stream, const uint8_t *payload, size_t len, bool later)
{
    uint8_t head[NFSR_BLOCK_HEADER_LEN];
    struct err err;
    struct nfsr_writer *w = nfsr_writer_new(block_to_memory, stream, &err);
    size_t at;

    if (!w)
        abort();
    nfsr_writer_free(w);
    if (later) {
        stream->data[10] = NFSR_VERSION_MINOR + 1;
        stream->len -= NFSR_CHECKSUM_LEN;
        block_seal(stream, 0);
    }
    at = stream->len;
    store_le32(head, NFSR_MARKER);
    store_le32(head + 4, NFSR_BLOCK_RECORDS);
    store_le64(head + 8, 1);
    store_le32(head + 16, block_count_records(payload, len));
    store_le32(head + 20, (uint32_t)len);
    if (buf_append(stream, head, sizeof(head)) < 0 || buf_append(stream, payload, len) < 0)
        abort();
    block_seal(stream, at);
}

#endif
