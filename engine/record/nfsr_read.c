/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/nfsr_read.c
 *
 * An .nfsr stream to records.  Nothing is believed before its checksum was right, and no
 * length is used before it was compared with its bound; a block is read whole, then delivered.
 */
#include "record/format.h"
#include "base/digest.h"
#include "record/layout.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct reader {
    nfsr_read *read;
    void *ctx;
    const char *name;
    const struct sink *sink;
    uint64_t offset;   /* in the stream, of the first byte of |buf| */
    uint64_t sequence; /* of the block being read */
    bool later;        /* the stream is of a later minor version */
    bool ended;        /* the end record was delivered */
    struct buf buf;    /* header or block, as far as it was read */
};

/* Reads until |want| bytes of the header or block are there.  1: they are; 0: the stream ended
 * before; or what the source returned. */
static int fill(struct reader *r, size_t want, struct err *err)
{
    if (r->buf.len < want && buf_reserve(&r->buf, want - r->buf.len) < 0)
        return err_set(err, ERR_SYSTEM, "%s: no memory for a block of %zu bytes", r->name, want);
    while (r->buf.len < want) {
        ssize_t n = r->read(r->ctx, r->buf.data + r->buf.len, want - r->buf.len, err);

        if (n <= 0)
            return (int)n;
        r->buf.len += (size_t)n;
    }
    return 1;
}

/* Goes on behind what |buf| holds. */
static void consume(struct reader *r)
{
    r->offset += r->buf.len;
    r->buf.len = 0;
}

static int truncated(struct reader *r, const char *where, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s: truncated at offset %" PRIu64 ", %s", r->name,
                   r->offset + r->buf.len, where);
}

static int truncated_block(struct reader *r, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%s: truncated at offset %" PRIu64 ", in block %" PRIu64
                   ", which begins at offset %" PRIu64,
                   r->name, r->offset + r->buf.len, r->sequence, r->offset);
}

/* Whether the last 8 bytes of |buf| are the checksum of those before. */
static bool sum_is_right(const struct buf *buf)
{
    size_t len = buf->len - NFSR_CHECKSUM_LEN;

    return XXH3_64bits(buf->data, len) == load_le64(buf->data + len);
}

static int check_layout(struct reader *r, uint16_t minor, struct err *err)
{
    struct buf own = { 0 };
    size_t len = r->buf.len - NFSR_HEADER_LEN - NFSR_CHECKSUM_LEN;
    bool same;

    r->later = minor > NFSR_VERSION_MINOR;
    if (minor != NFSR_VERSION_MINOR)
        return 0;
    if (layout_text(&own) < 0) {
        buf_free(&own);
        return err_set(err, ERR_SYSTEM, "%s: no memory for its header", r->name);
    }
    same = own.len == len && !memcmp(own.data, r->buf.data + NFSR_HEADER_LEN, len);
    buf_free(&own);
    if (!same)
        return err_set(err, ERR_INPUT,
                       "%s: says version %d.%d, but its layout is not that version's", r->name,
                       NFSR_VERSION_MAJOR, NFSR_VERSION_MINOR);
    return 0;
}

static int read_header(struct reader *r, struct err *err)
{
    static const char in_header[] = "in the stream header";
    uint16_t major, minor;
    uint32_t text_len;
    int n = fill(r, NFSR_HEADER_LEN, err);

    if (n < 0)
        return n;
    if (!r->buf.len || memcmp(r->buf.data, NFSR_MAGIC,
                              r->buf.len < NFSR_MAGIC_LEN ? r->buf.len : NFSR_MAGIC_LEN) != 0)
        return NFSR_NOT_MINE;
    if (n == 0)
        return truncated(r, in_header, err);
    memcpy(&major, r->buf.data + 8, 2);
    memcpy(&minor, r->buf.data + 10, 2);
    text_len = load_le32(r->buf.data + 12);
    if (major != NFSR_VERSION_MAJOR)
        return err_set(err, ERR_INPUT,
                       "%s: is of .nfsr version %u.%u, this program reads version %d (up to %d.%d)",
                       r->name, major, minor, NFSR_VERSION_MAJOR, NFSR_VERSION_MAJOR,
                       NFSR_VERSION_MINOR);
    if (text_len > NFSR_TEXT_MAX)
        return err_set(err, ERR_INPUT, "%s: stream header at offset 0: %u bytes of text, over %d",
                       r->name, text_len, NFSR_TEXT_MAX);
    n = fill(r, NFSR_HEADER_LEN + text_len + NFSR_CHECKSUM_LEN, err);
    if (n <= 0)
        return n < 0 ? n : truncated(r, in_header, err);
    if (!sum_is_right(&r->buf))
        return err_set(err, ERR_INPUT, "%s: stream header at offset 0: wrong checksum", r->name);
    n = check_layout(r, minor, err);
    consume(r);
    return n;
}

static int bad_block(struct reader *r, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* |format| and what follows say what is wrong with the block in |buf|. */
static int bad_block(struct reader *r, struct err *err, const char *format, ...)
{
    char text[160];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return err_set(err, ERR_INPUT, "%s: block %" PRIu64 " at offset %" PRIu64 ": %s", r->name,
                   r->sequence, r->offset, text);
}

static int bad_record(struct reader *r, uint32_t number, const uint8_t *at, struct err *err)
{
    return err_prefix(
        err, "%s: block %" PRIu64 " at offset %" PRIu64 ": record %u at offset %" PRIu64, r->name,
        r->sequence, r->offset, number, r->offset + (uint64_t)(at - r->buf.data));
}

/* The records of the block in |buf|, whose checksum was right. */
static int deliver(struct reader *r, struct err *err)
{
    const uint8_t *at = r->buf.data + NFSR_BLOCK_HEADER_LEN;
    const uint8_t *end = r->buf.data + r->buf.len - NFSR_CHECKSUM_LEN;
    uint32_t records = load_le32(r->buf.data + 16), number = 0;
    struct layout_bases bases = { 0 };
    struct record record;

    while (at < end && number < records) {
        const uint8_t *start = at;
        int result = layout_decode(&at, end, r->later, &bases, &record, err);

        number++;
        if (result == LAYOUT_UNKNOWN)
            continue;
        r->ended = record.kind == RECORD_END;
        if (result == 0 && r->ended && (at < end || number < records))
            result = err_set(err, ERR_INPUT, "end record: not the last of its block");
        if (result < 0)
            return bad_record(r, number, start, err);
        result = r->sink->put(r->sink->ctx, &record, err);
        if (result < 0)
            return result;
    }
    if (at < end || number < records)
        return bad_block(r, err, "%td bytes and %u records left over", end - at, records - number);
    return 0;
}

/* 1: a block was delivered; 0: there is none, the stream ends here. */
static int read_block(struct reader *r, struct err *err)
{
    uint32_t len;
    int n = fill(r, NFSR_BLOCK_HEADER_LEN, err);

    if (n < 0 || !r->buf.len)
        return n;
    r->sequence++;
    if (n == 0)
        return truncated_block(r, err);
    if (load_le32(r->buf.data) != NFSR_MARKER)
        return bad_block(r, err, "no block begins here");
    len = load_le32(r->buf.data + 20);
    if (len > NFSR_BLOCK_MAX)
        return bad_block(r, err, "length %u, over %d", len, NFSR_BLOCK_MAX);
    n = fill(r, NFSR_BLOCK_HEADER_LEN + (size_t)len + NFSR_CHECKSUM_LEN, err);
    if (n <= 0)
        return n < 0 ? n : truncated_block(r, err);
    if (!sum_is_right(&r->buf))
        return bad_block(r, err, "wrong checksum: its bytes were changed");
    if (load_le64(r->buf.data + 8) != r->sequence)
        return bad_block(r, err, "has number %" PRIu64 ": blocks are missing or out of place",
                         load_le64(r->buf.data + 8));
    if (load_le32(r->buf.data + 4) != NFSR_BLOCK_RECORDS) {
        if (!r->later)
            return bad_block(r, err, "unknown kind %u", load_le32(r->buf.data + 4));
    } else {
        n = deliver(r, err);
        if (n < 0)
            return n;
    }
    consume(r);
    return 1;
}

/* After the end record nothing may follow. */
static int read_end(struct reader *r, struct err *err)
{
    int n = fill(r, 1, err);

    if (n < 0)
        return n;
    if (n > 0)
        return err_set(err, ERR_INPUT, "%s: bytes after the end record, at offset %" PRIu64,
                       r->name, r->offset);
    return 0;
}

int nfsr_read_stream(nfsr_read *read, void *ctx, const char *name, const struct sink *sink,
                     struct err *err)
{
    struct reader r = { .read = read, .ctx = ctx, .name = name, .sink = sink };
    struct err unseen;
    int result;

    if (!err)
        err = &unseen;
    result = read_header(&r, err);
    if (result == 0) {
        do
            result = read_block(&r, err);
        while (result > 0 && !r.ended);
        if (result == 0)
            result = truncated(&r, "where a block should begin: the end record is missing", err);
        if (result > 0)
            result = read_end(&r, err);
    }
    buf_free(&r.buf);
    return result;
}
