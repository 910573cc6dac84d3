/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/block_write.c
 *
 * Writes records to a stream.  A block is built in one buffer, after room for its header, and
 * written by one call.
 */
#include "record/blocks.h"
#include "base/digest.h"

static int seal(struct buf *buf, struct err *err)
{
    uint8_t sum[NFSR_CHECKSUM_LEN];

    store_le64(sum, XXH3_64bits(buf->data, buf->len));
    if (buf_append(buf, sum, sizeof(sum)) < 0)
        return err_memory(err, "a block");
    return 0;
}

static int write_header(struct block_writer *w, struct err *err)
{
    struct buf header = { 0 };
    uint8_t head[NFSR_HEADER_LEN] = { 0 };
    int result;

    memcpy(head, w->format->magic, NFSR_MAGIC_LEN);
    store_le16(head + 8, w->format->major);
    store_le16(head + 10, w->format->minor);
    if (buf_append(&header, head, sizeof(head)) < 0 || layout_text(w->format, &header) < 0) {
        buf_free(&header);
        return err_memory(err, "a stream header");
    }
    store_le32(header.data + 12, (uint32_t)(header.len - sizeof(head)));
    result = seal(&header, err);
    if (result == 0)
        result = w->write(w->ctx, header.data, header.len, err);
    buf_free(&header);
    return result;
}

static int open_block(struct block_writer *w, struct err *err)
{
    w->block.len = 0;
    w->records = 0;
    w->opened = 0;
    w->sequence++;
    memset(&w->bases, 0, sizeof(w->bases));
    if (buf_reserve(&w->block, NFSR_BLOCK_HEADER_LEN) < 0)
        return err_memory(err, "a block");
    w->block.len = NFSR_BLOCK_HEADER_LEN;
    return 0;
}

static int close_block(struct block_writer *w, struct err *err)
{
    uint8_t *head = w->block.data;
    int result;

    store_le32(head, w->format->marker);
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
static bool block_is_full(struct block_writer *w, int64_t time)
{
    if (time > w->clock)
        w->clock = time;
    if (!w->opened)
        w->opened = w->clock;
    return w->block.len - NFSR_BLOCK_HEADER_LEN >= NFSR_BLOCK_TARGET ||
           (w->format->span && w->opened && w->clock - w->opened >= w->format->span);
}

int block_writer_put(struct block_writer *w, unsigned number, const void *record, struct err *err)
{
    int result;

    if (w->broken || w->ended)
        return err_set(err, ERR_USAGE, "record after %s",
                       w->ended ? "the end record" : "a failed write");
    result = layout_encode(w->format, number, record, &w->bases, &w->block, err);
    w->records++;
    w->ended = number == w->format->end;
    if (result == 0 &&
        (block_is_full(w, (int64_t)w->bases.last[LAYOUT_TIME - LAYOUT_FRAME]) || w->ended))
        result = close_block(w, err);
    w->broken = result < 0;
    return result;
}

int block_writer_begin(struct block_writer *w, const struct format *format, output_writer *write,
                       void *ctx, struct err *err)
{
    int result;

    memset(w, 0, sizeof(*w));
    w->format = format;
    w->write = write;
    w->ctx = ctx;
    if (buf_reserve(&w->block, NFSR_BLOCK_TARGET * 2) < 0)
        return err_memory(err, "a block");
    result = open_block(w, err);
    return result == 0 ? write_header(w, err) : result;
}

int block_writer_flush(struct block_writer *w, struct err *err)
{
    int result = 0;

    if (w->records && !w->broken && !w->ended)
        result = close_block(w, err);
    if (result < 0)
        w->broken = true;
    return result;
}

void block_writer_free(struct block_writer *w)
{
    buf_free(&w->block);
}
