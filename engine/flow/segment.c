/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/segment.h"
#include "base/err.h"

#include <stdlib.h>

enum { SEGMENT_LEAST = 512 };

struct segment *segment_new(const struct arrival *arrival)
{
    const struct captured *piece = &arrival->piece;
    struct segment *g = malloc(sizeof(*g) + piece->cap_len);

    if (!g)
        return NULL;
    *g = (struct segment){ NULL, arrival->seq, piece->cap_len, piece->wire_len, arrival->seen };
    if (piece->cap_len)
        memcpy(g->data, piece->data, piece->cap_len);
    return g;
}

uint32_t segment_memory(const struct segment *g)
{
    uint32_t len = (uint32_t)sizeof(*g) + g->cap_len;

    return len > SEGMENT_LEAST ? len : SEGMENT_LEAST;
}

int segments_save(const struct segment *first, struct buf *out)
{
    uint32_t count = 0;
    int bad = 0;

    for (const struct segment *g = first; g; g = g->next)
        count++;
    bad |= pack_value(out, count);
    for (const struct segment *g = first; g; g = g->next) {
        bad |= pack_value(out, g->seq) | pack_value(out, g->wire_len);
        bad |= pack_value(out, g->seen);
        bad |= pack_bytes(out, g->data, g->cap_len);
    }
    return bad ? -ERR_SYSTEM : 0;
}

int segments_restore(struct segment **at, struct segment **last, uint32_t *count, uint64_t *memory,
                     struct unpack *in)
{
    struct arrival plain;
    struct bytes data;
    uint32_t left;

    unpack_value(in, left);
    *count = 0;
    while (!in->failed && left--) {
        unpack_value(in, plain.seq);
        unpack_value(in, plain.piece.wire_len);
        unpack_value(in, plain.seen);
        data = unpack_bytes(in);
        if (in->failed || data.len > plain.piece.wire_len) {
            in->failed = true;
            break;
        }
        plain.piece.data = data.data;
        plain.piece.cap_len = data.len;
        *at = segment_new(&plain);
        if (!*at)
            return -ERR_SYSTEM;
        *memory += segment_memory(*at);
        *last = *at;
        at = &(*at)->next;
        ++*count;
    }
    return in->failed ? -ERR_INPUT : 0;
}
