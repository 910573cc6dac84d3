/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/nfsr_write.c
 *
 * Records to an .nfsr stream.  A block is built in one buffer, behind room for its header, and
 * leaves with a single write.
 */
#include "record/format.h"
#include "base/digest.h"
#include "record/layout.h"

#include <stdlib.h>

struct nfsr_writer {
    output_writer *write;
    void *ctx;
    struct buf block; /* header and payload of the open block */
    struct layout_bases bases;
    uint64_t sequence; /* of the open block, from 1 */
    uint32_t records;  /* in it */
    bool broken;       /* a write failed: what comes now would follow a gap */
    bool ended;
    int64_t clock;  /* latest record time of the stream, 0 before the first */
    int64_t opened; /* |clock| when the open block got its first timed record, or 0 */
};

static int seal(struct buf *buf, struct err *err)
{
    uint8_t sum[NFSR_CHECKSUM_LEN];

    store_le64(sum, XXH3_64bits(buf->data, buf->len));
    if (buf_append(buf, sum, sizeof(sum)) < 0)
        return err_set(err, ERR_SYSTEM, "no memory for a block");
    return 0;
}

static int write_header(struct nfsr_writer *w, struct err *err)
{
    struct buf header = { 0 };
    uint8_t head[NFSR_HEADER_LEN] = NFSR_MAGIC;
    uint16_t major = NFSR_VERSION_MAJOR, minor = NFSR_VERSION_MINOR;
    int result;

    memcpy(head + 8, &major, 2);
    memcpy(head + 10, &minor, 2);
    if (buf_append(&header, head, sizeof(head)) < 0 || layout_text(&header) < 0) {
        buf_free(&header);
        return err_set(err, ERR_SYSTEM, "no memory for a stream header");
    }
    store_le32(header.data + 12, (uint32_t)(header.len - sizeof(head)));
    result = seal(&header, err);
    if (result == 0)
        result = w->write(w->ctx, header.data, header.len, err);
    buf_free(&header);
    return result;
}

static int open_block(struct nfsr_writer *w, struct err *err)
{
    w->block.len = 0;
    w->records = 0;
    w->opened = 0;
    w->sequence++;
    memset(&w->bases, 0, sizeof(w->bases));
    if (buf_reserve(&w->block, NFSR_BLOCK_HEADER_LEN) < 0)
        return err_set(err, ERR_SYSTEM, "no memory for a block");
    w->block.len = NFSR_BLOCK_HEADER_LEN;
    return 0;
}

static int close_block(struct nfsr_writer *w, struct err *err)
{
    uint8_t *head = w->block.data;
    int result;

    store_le32(head, NFSR_MARKER);
    store_le32(head + 4, NFSR_BLOCK_RECORDS);
    store_le64(head + 8, w->sequence);
    store_le32(head + 16, w->records);
    store_le32(head + 20, (uint32_t)(w->block.len - NFSR_BLOCK_HEADER_LEN));
    result = seal(&w->block, err);
    if (result == 0)
        result = w->write(w->ctx, w->block.data, w->block.len, err);
    if (result == 0)
        result = open_block(w, err);
    return result;
}

/* Whether the record just added, the last of whose times is |time|, ends the block.  Only a time
 * later than all before counts: records of calls given up long after they were seen carry old
 * times, and must not cut blocks short. */
static bool block_is_full(struct nfsr_writer *w, int64_t time)
{
    if (time > w->clock)
        w->clock = time;
    if (!w->opened)
        w->opened = w->clock;
    return w->block.len - NFSR_BLOCK_HEADER_LEN >= NFSR_BLOCK_TARGET ||
           (w->opened && w->clock - w->opened >= NFSR_BLOCK_SPAN);
}

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct nfsr_writer *w = ctx;
    int result;

    if (w->broken || w->ended)
        return err_set(err, ERR_USAGE, "record after %s",
                       w->ended ? "the end record" : "a failed write");
    result = layout_encode(record, &w->bases, &w->block, err);
    w->records++;
    w->ended = record->kind == RECORD_END;
    if (result == 0 &&
        (block_is_full(w, (int64_t)w->bases.last[LAYOUT_TIME - LAYOUT_FRAME]) || w->ended))
        result = close_block(w, err);
    w->broken = result < 0;
    return result;
}

struct nfsr_writer *nfsr_writer_new(output_writer *write, void *ctx, struct err *err)
{
    struct nfsr_writer *w = calloc(1, sizeof(*w));

    if (!w) {
        err_set(err, ERR_SYSTEM, "no memory for a writer");
        return NULL;
    }
    w->write = write;
    w->ctx = ctx;
    if (buf_reserve(&w->block, NFSR_BLOCK_TARGET * 2) < 0)
        err_set(err, ERR_SYSTEM, "no memory for a block");
    else if (open_block(w, err) == 0 && write_header(w, err) == 0)
        return w;
    nfsr_writer_free(w);
    return NULL;
}

struct sink nfsr_writer_sink(struct nfsr_writer *writer)
{
    return (struct sink){ put, writer };
}

int nfsr_writer_flush(struct nfsr_writer *writer, struct err *err)
{
    int result = 0;

    if (writer->records && !writer->broken && !writer->ended)
        result = close_block(writer, err);
    if (result < 0)
        writer->broken = true;
    return result;
}

void nfsr_writer_free(struct nfsr_writer *writer)
{
    if (!writer)
        return;
    buf_free(&writer->block);
    free(writer);
}
