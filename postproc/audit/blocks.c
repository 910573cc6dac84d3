/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/blocks.c
 *
 * Reads the heads of blocks and records itself: of capture/ it uses only input.c, which opens and
 * decompresses.  Behind the first length that no block can have, all comes in pieces.  The last
 * bytes of each block stay before the next one, so that a search finds what a border parts.  For
 * audit.c, gather.c, leak_file.c and survive_totals.c.  The contract is in blocks.h.
 */
#include "audit/blocks.h"
#include "base/bytes.h"
#include "capture/input.h"
#include "link/pcapng_numbers.h"

#include <stdlib.h>

enum { PIECE = 64 << 10, PCAP_HEAD = 24, PCAP_RECORD_HEAD = 16 };

struct reader {
    struct input *input;
    block_visit *visit;
    void *ctx;
    struct block block;
    uint8_t *room; /* BLOCK_OVERLAP bytes, then the block */
    uint8_t *read; /* PIECE bytes, read at once */
    uint32_t read_at, read_len;
};

const char *block_kind_name(enum block_kind kind)
{
    static const char *const names[] = {
        "block",      "section header", "interface description", "interface statistics",
        "name block", "packet",
    };

    return names[kind];
}

static uint32_t get32(const struct block *b, const uint8_t *p)
{
    return b->swapped ? load_be32(p) : load_le32(p);
}

static uint32_t get16(const struct block *b, const uint8_t *p)
{
    uint16_t v = load_be16(p);

    return b->swapped ? v : __builtin_bswap16(v);
}

/* Reads until |block.len| is |want|; false: the file ended, or fails. */
static int read_to(struct reader *r, uint32_t want, struct err *err)
{
    while (r->block.len < want) {
        uint32_t n = r->read_len - r->read_at, missing = want - r->block.len;

        if (!n) {
            ssize_t got = input_read(r->input, r->read, PIECE, err);

            if (got <= 0)
                return got < 0 && err->code != ERR_INPUT ? -err->code : 0;
            r->read_at = 0;
            r->read_len = (uint32_t)got;
            continue;
        }
        n = n < missing ? n : missing;
        memcpy(r->room + BLOCK_OVERLAP + r->block.len, r->read + r->read_at, n);
        r->read_at += n;
        r->block.len += n;
    }
    return 1;
}

/* Gives out what was read, and keeps its last bytes for the next one. */
static int give(struct reader *r, struct err *err)
{
    struct block *b = &r->block;
    uint32_t have = b->before + b->len, keep = have < BLOCK_OVERLAP ? have : BLOCK_OVERLAP;
    int rc = b->len ? r->visit(r->ctx, b, err) : 0;

    memmove(r->room + BLOCK_OVERLAP - keep, r->room + BLOCK_OVERLAP + b->len - keep, keep);
    b->before = keep;
    b->offset += b->len;
    b->len = b->frame_at = b->frame_len = 0;
    b->kind = BLOCK_OTHER;
    return rc;
}

static int read_rest(struct reader *r, struct err *err)
{
    int rc;

    do {
        if ((rc = read_to(r, PIECE, err)) < 0)
            return rc;
        if (give(r, err) < 0)
            return -err->code;
    } while (rc == 1);
    return 0;
}

static void set_frame(struct block *b, uint32_t at, uint32_t len)
{
    b->kind = BLOCK_PACKET;
    b->frame++;
    b->frame_at = at;
    b->frame_len = at > b->len ? 0 : len < b->len - at ? len : b->len - at;
}

static void recognize(struct block *b, uint32_t type)
{
    const uint8_t *p = b->data;

    switch (type) {
    case PCAPNG_SECTION:
        b->kind = BLOCK_SECTION;
        break;
    case PCAPNG_INTERFACE:
        b->kind = BLOCK_INTERFACE;
        break;
    case PCAPNG_STATISTICS:
        b->kind = BLOCK_STATISTICS;
        break;
    case PCAPNG_NAMES:
        b->kind = BLOCK_NAMES;
        break;
    case PCAPNG_PACKET:
    case PCAPNG_PACKET_OBSOLETE:
        if (b->len >= 32)
            set_frame(b, 28, get32(b, p + 20));
        break;
    case PCAPNG_PACKET_SIMPLE:
        set_frame(b, 12, b->len - 16);
        break;
    }
}

static int read_pcapng(struct reader *r, struct err *err)
{
    struct block *b = &r->block;
    uint32_t type, len;
    int rc;

    b->pcapng = true;
    while ((rc = read_to(r, 12, err)) == 1) {
        type = load_le32(b->data);
        if (type == PCAPNG_SECTION)
            b->swapped = load_be32(b->data + 8) == PCAPNG_BYTE_ORDER;
        type = get32(b, b->data);
        len = get32(b, b->data + 4);
        if (len < PCAPNG_BLOCK_LEAST || len > BLOCK_BYTES_MAX || len % 4)
            return read_rest(r, err);
        if ((rc = read_to(r, len, err)) < 0)
            return rc;
        recognize(b, type);
        if (give(r, err) < 0)
            return -err->code;
    }
    return rc < 0 ? rc : give(r, err);
}

static int read_pcap(struct reader *r, struct err *err)
{
    struct block *b = &r->block;
    uint32_t len, magic;
    int rc = read_to(r, PCAP_HEAD, err);

    if (rc != 1)
        return rc < 0 ? rc : give(r, err);
    magic = load_be32(b->data);
    b->swapped = magic == 0xa1b2c3d4 || magic == 0xa1b23c4d;
    if (give(r, err) < 0)
        return -err->code;
    while ((rc = read_to(r, PCAP_RECORD_HEAD, err)) == 1) {
        len = get32(b, b->data + 8);
        if (len > BLOCK_BYTES_MAX - PCAP_RECORD_HEAD)
            return read_rest(r, err);
        if ((rc = read_to(r, PCAP_RECORD_HEAD + len, err)) < 0)
            return rc;
        set_frame(b, PCAP_RECORD_HEAD, len);
        if (give(r, err) < 0)
            return -err->code;
    }
    return rc < 0 ? rc : give(r, err);
}

int blocks_read(const char *path, block_visit *visit, void *ctx, struct err *err)
{
    struct reader r = { .visit = visit, .ctx = ctx };
    const uint8_t *head;
    size_t len;
    int rc = -ERR_SYSTEM;

    r.input = input_open(path, false, err);
    if (!r.input)
        return -err->code;
    r.room = malloc(BLOCK_OVERLAP + BLOCK_BYTES_MAX);
    r.read = malloc(PIECE);
    if (r.room && r.read) {
        r.block.data = r.room + BLOCK_OVERLAP;
        r.block.input = r.input;
        len = input_head(r.input, &head);
        rc = len >= 4 && load_le32(head) == PCAPNG_SECTION ? read_pcapng(&r, err)
                                                           : read_pcap(&r, err);
    } else {
        err_memory(err, "a block");
    }
    free(r.room);
    free(r.read);
    input_close(r.input);
    return rc;
}

int block_options(const struct block *b, option_visit *visit, void *ctx, struct err *err)
{
    uint32_t at, end = b->len - 4;
    int rc = 0;

    if (!b->pcapng || b->len < 16)
        return 0;
    switch (b->kind) {
    case BLOCK_SECTION:
        at = 24;
        break;
    case BLOCK_INTERFACE:
        at = 16;
        break;
    case BLOCK_STATISTICS:
        at = 20;
        break;
    case BLOCK_PACKET:
        at = b->frame_at + ((b->frame_len + 3) & ~3u);
        break;
    default:
        return 0;
    }
    while (rc == 0 && at + 4 <= end) {
        uint32_t code = get16(b, b->data + at), len = get16(b, b->data + at + 2);

        at += 4;
        if (!code || len > end - at)
            break;
        rc = visit(ctx, b, code, b->data + at, len, err);
        at += (len + 3) & ~3u;
    }
    return rc;
}
