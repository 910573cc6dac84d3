/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/leak_file.c
 *
 * The first pass of the search for leaks: every byte of the anonymized file.  Each hit is noted
 * with its place, for leak.c to explain by the messages.  Contract: leak.h.
 */
#include "audit/blocks.h"
#include "audit/leak.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/queue.h"

enum {
    CONTEXT = 8,
    HEADERS = 70, /* about what stands before a message in a frame */
};

/* In addresses and the sum before them, which all packets between two hosts have, the hosts count.
 */
static bool is_known_context(struct leak *l, uint32_t secret, const uint8_t *data, size_t len,
                             size_t at)
{
    size_t n = leak_secret(l, secret)->len, from = at < CONTEXT ? 0 : at - CONTEXT;
    size_t to = len - at < n + CONTEXT ? len : at + n + CONTEXT;
    const struct block *b = l->block;
    uint32_t ends, ends_len, place;
    uint64_t seed = secret, hash;

    if (!l->audit->form.differs && at >= b->before + b->frame_at &&
        form_addresses(b, (uint32_t)(at - b->before) + (uint32_t)n, &ends, &ends_len)) {
        from = b->before + ends;
        to = from + ends_len;
        seed |= (uint64_t)(at - b->before - b->frame_at + 1) << 32;
    }
    hash = XXH3_64bits_withSeed(data + from, to - from, seed);

    if (table_first(&l->contexts, hash, &place) != TABLE_NONE)
        return true;
    if (l->contexts.used < HITS_MAX && table_add(&l->contexts, hash, 0) < 0)
        l->overflow = true;
    return false;
}

/* Headers without a freedom hold nothing, whatever they look like. */
static bool is_in_headers(const struct leak *l, const struct block *b, size_t at, uint32_t len)
{
    uint32_t free_bytes;

    if (l->audit->form.differs || b->kind != BLOCK_PACKET || at < b->before)
        return false;
    free_bytes = form_free(b, (uint32_t)(at - b->before), len);
    return len >= SECRET_LONG ? free_bytes < EXPLAINED_BYTES : free_bytes < len;
}

static int on_raw_hit(void *ctx, uint32_t index, size_t at, struct err *err)
{
    struct leak *l = ctx;
    const struct block *b = l->block;
    const struct secret *s = leak_secret(l, index);
    const uint8_t *data = b->data - b->before;
    size_t len = b->before + b->len;
    struct leak_row *row = &l->audit->leaks[s->cls];

    if (at + s->len <= b->before) /* seen with the block before */
        return 0;
    if (allow_covers(&l->audit->allow, data, len, at, s->len)) {
        row->allowed++;
        return 0;
    }
    if (s->len >= SECRET_LONG)
        row->hits++;
    if (is_in_headers(l, b, at, s->len)) {
        row->kept += s->len >= SECRET_LONG;
        return 0;
    }
    if (s->len < SECRET_LONG && is_known_context(l, index, data, len, at))
        return 0;
    if (l->count == HITS_MAX) {
        l->overflow = true;
        return 0;
    }
    if (GROW(l->hits, l->count, l->cap) < 0)
        return err_memory(err, "hits");
    l->hits[l->count++] = (struct hit){ .offset = b->offset - b->before + at,
                                        .frame = b->frame,
                                        .secret = index,
                                        .block = b->kind,
                                        .is_doubtful = s->len < SECRET_LONG };
    return 0;
}

/* Headers are much the same all over: what was there lately tells nothing new.  In a thread of its
 * own, which nothing else gives |seen| and |chains| meanwhile. */
static int chain_headers(void *ctx, void *bytes, size_t len, struct err *err)
{
    enum { PIECE = 8, HEADER_PIECES = ITEM_CLASSES + 4 };
    struct audit *a = ctx;
    const uint8_t *data = bytes;

    (void)err;
    for (size_t at = 0; at < len; at += PIECE) {
        size_t n = len - at < PIECE ? len - at : PIECE;

        if (!gather_is_seen(a, HEADER_PIECES, data + at, n))
            chains_bytes(&a->chains, data + at, n);
    }
    return 0;
}

static int on_block(void *ctx, const struct block *b, struct err *err)
{
    struct leak *l = ctx;
    uint32_t head = b->kind == BLOCK_PACKET ? b->frame_at : b->len;
    struct iovec piece = { (void *)b->data, 0 };

    audit_progress(l->audit, "searching", b);
    l->block = b;
    l->audit->bytes_searched += b->len;
    if (b->frame_len)
        head += b->frame_len < HEADERS ? b->frame_len : HEADERS;
    piece.iov_len = head < b->len ? head : b->len;
    if (queue_put(l->chainer, &piece, 1, err) < 0 || encoded_block(l->audit, b, err) < 0)
        return -err->code;
    return search_bytes(l->audit->search, b->data - b->before, b->before + b->len, 0,
                        b->before + b->len, on_raw_hit, l, err);
}

int leak_search_file(struct leak *l, struct err *err)
{
    int rc;

    l->chainer = queue_new(chain_headers, l->audit, err);
    rc = l->chainer ? blocks_read(l->audit->options->anonymized, on_block, l, err) : -err->code;
    if (rc == 0)
        rc = queue_drain(l->chainer, err);
    queue_free(l->chainer);
    return rc;
}
