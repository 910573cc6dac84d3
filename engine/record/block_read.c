/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/block_read.c
 *
 * Reads records from a stream.  Checks the checksum of all bytes before it uses them, and compares
 * each length with its bound.  Reads a whole block, then delivers it.
 */
#include "record/blocks.h"
#include "record/layout_fields.h"
#include "base/digest.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Reads until |want| bytes of the header or block are there.  1: they are; 0: the stream ended
 * before; or what the source returned. */
static int fill(struct block_reader *r, size_t want, struct err *err)
{
    if (r->buf.len < want && buf_reserve(&r->buf, want - r->buf.len) < 0)
        return err_set(err, ERR_SYSTEM, "%s: out of memory for a block of %zu bytes", r->name,
                       want);
    while (r->buf.len < want) {
        ssize_t n = r->read(r->ctx, r->buf.data + r->buf.len, want - r->buf.len, err);

        if (n <= 0)
            return (int)n;
        r->buf.len += (size_t)n;
    }
    return 1;
}

/* Goes on behind what |buf| holds. */
static void consume(struct block_reader *r)
{
    r->offset += r->buf.len;
    r->buf.len = 0;
}

static int truncated(struct block_reader *r, const char *where, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s: truncated at offset %" PRIu64 ", %s", r->name,
                   r->offset + r->buf.len, where);
}

static int truncated_block(struct block_reader *r, struct err *err)
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

static int check_layout(struct block_reader *r, uint16_t minor, struct err *err)
{
    const struct format *format = r->format;
    struct buf own = { 0 };
    size_t len = r->buf.len - NFSR_HEADER_LEN - NFSR_CHECKSUM_LEN;
    bool same;

    r->in.later = minor > format->minor;
    if (minor != format->minor)
        return 0;
    if (layout_text(format, &own) < 0) {
        buf_free(&own);
        return err_set(err, ERR_SYSTEM, "%s: out of memory for its header", r->name);
    }
    same = own.len == len && !memcmp(own.data, r->buf.data + NFSR_HEADER_LEN, len);
    buf_free(&own);
    if (!same)
        return err_set(err, ERR_INPUT,
                       "%s: says version %d.%d, but its layout is not that version's", r->name,
                       format->major, format->minor);
    return 0;
}

static int read_header(struct block_reader *r, struct err *err)
{
    const struct format *format = r->format;
    static const char in_header[] = "in the stream header";
    uint16_t major, minor;
    uint32_t text_len;
    int n = fill(r, NFSR_HEADER_LEN, err);

    if (n < 0)
        return n;
    if (!r->buf.len || memcmp(r->buf.data, format->magic,
                              r->buf.len < NFSR_MAGIC_LEN ? r->buf.len : NFSR_MAGIC_LEN) != 0)
        return NFSR_NOT_MINE;
    if (n == 0)
        return truncated(r, in_header, err);
    major = load_le16(r->buf.data + 8);
    minor = load_le16(r->buf.data + 10);
    text_len = load_le32(r->buf.data + 12);
    if (major != format->major)
        return err_set(err, ERR_INPUT,
                       "%s: is of %s version %u.%u, this program reads version %d (up to %d.%d)",
                       r->name, format->name, major, minor, format->major, format->major,
                       format->minor);
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

static int bad_block(struct block_reader *r, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* |format| and what follows say what is wrong with the block in |buf|. */
static int bad_block(struct block_reader *r, struct err *err, const char *format, ...)
{
    char text[160];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return err_set(err, ERR_INPUT, "%s: block %" PRIu64 " at offset %" PRIu64 ": %s", r->name,
                   r->sequence, r->offset, text);
}

static int bad_record(struct block_reader *r, uint32_t number, const uint8_t *at, struct err *err)
{
    return err_prefix(
        err, "%s: block %" PRIu64 " at offset %" PRIu64 ": record %u at offset %" PRIu64, r->name,
        r->sequence, r->offset, number, r->offset + (uint64_t)(at - r->buf.data));
}

enum { UNKNOWN = 1 }; /* a kind that the table lacks, passed over */

/* Reads the record at |r->at|, of which there is a byte at least, and moves |r->at| behind it.
 * Returns 0, UNKNOWN or a negative code. */
static inline int decode(struct layout_reader *r, unsigned *number, void *record, struct err *err)
{
    const struct format *format = r->format;
    const struct layout_kind *kind;
    const uint8_t *p = r->at;
    uint64_t len, presence;

    *number = *p++;
    p = layout_get_varint(p, r->end, &len);
    if (!p || len > (uint64_t)(r->end - p))
        return err_set(err, ERR_INPUT, "record passes the block's end");
    r->at = p + len;
    kind = &format->kinds[*number < format->kind_max ? *number : 0];
    if (!kind->count) {
        if (r->later && *number >= format->kind_max)
            return UNKNOWN;
        return err_set(err, ERR_INPUT, "record of unknown kind %u", *number);
    }
    p = layout_get_varint(p, r->at, &presence);
    if (!p)
        return err_set(err, ERR_INPUT, "%s record: its presence word passes its end", kind->name);
    if (!r->later && kind->count < LAYOUT_FIELDS_MAX && presence >> kind->count)
        return err_set(err, ERR_INPUT, "%s record: has fields that its version lacks", kind->name);
    r->lists.len = 0;
    return (kind->get ? kind->get : layout_get_any)(r, kind, presence, p, record, err);
}

/* The next record of the block in |buf|, whose checksum was right: 1; 0: it has no more; or a
 * negative code. */
static inline int next_record(struct block_reader *r, unsigned *kind, void *record, struct err *err)
{
    struct layout_reader *in = &r->in;

    while (in->at < in->end && r->number < r->records) {
        const uint8_t *start = in->at;
        int result = decode(in, kind, record, err);

        r->number++;
        if (result == 0 && *kind != r->format->end)
            return 1;
        if (result == UNKNOWN)
            continue;
        r->ended = *kind == r->format->end;
        if (result == 0 && (in->at < in->end || r->number < r->records))
            result = err_set(err, ERR_INPUT, "end record: not the last of its block");
        return result < 0 ? bad_record(r, r->number, start, err) : 1;
    }
    if (in->at < in->end || r->number < r->records)
        return bad_block(r, err, "%td bytes and %u records left over", in->end - in->at,
                         r->records - r->number);
    return 0;
}

/* 1: a block is in |buf|; 0: there is none, the stream ends here. */
static int read_block(struct block_reader *r, struct err *err)
{
    uint32_t len;
    int n = fill(r, NFSR_BLOCK_HEADER_LEN, err);

    if (n < 0 || !r->buf.len)
        return n;
    r->sequence++;
    if (n == 0)
        return truncated_block(r, err);
    if (load_le32(r->buf.data) != r->format->marker)
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
    if (load_le32(r->buf.data + 4) == NFSR_BLOCK_RECORDS) {
        r->in.at = r->buf.data + NFSR_BLOCK_HEADER_LEN;
        r->in.end = r->in.at + len;
        r->number = 0;
        r->records = load_le32(r->buf.data + 16);
        memset(&r->in.bases, 0, sizeof(r->in.bases));
    } else if (!r->in.later) {
        return bad_block(r, err, "unknown kind %u", load_le32(r->buf.data + 4));
    } else {
        consume(r);
    }
    return 1;
}

/* After the end record nothing may follow. */
static int read_end(struct block_reader *r, struct err *err)
{
    int n;

    if (r->in.at)
        consume(r);
    r->in.at = NULL;
    n = fill(r, 1, err);
    if (n < 0)
        return n;
    if (n > 0)
        return err_set(err, ERR_INPUT, "%s: bytes after the end record, at offset %" PRIu64,
                       r->name, r->offset);
    return 0;
}

int block_reader_begin(struct block_reader *r, struct err *err)
{
    r->in.format = r->format;
    return read_header(r, err);
}

int block_reader_next(struct block_reader *r, unsigned *number, void *record, struct err *err)
{
    int result;

    if (r->ended)
        return read_end(r, err);
    for (;;) {
        if (r->in.at) {
            result = next_record(r, number, record, err);
            if (result != 0)
                return result;
            consume(r);
            r->in.at = NULL;
        }
        result = read_block(r, err);
        if (result == 0)
            return truncated(r, "where a block should begin: the end record is missing", err);
        if (result < 0)
            return result;
    }
}

void block_reader_free(struct block_reader *r)
{
    buf_free(&r->buf);
    buf_free(&r->in.lists);
}
