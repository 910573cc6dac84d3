/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/segment.h"
#include "base/err.h"

#include <stdlib.h>

enum { SEGMENT_LEAST = 512 };

struct segment *segment_new(uint32_t seq, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
                            uint64_t frame, int64_t time)
{
    struct segment *g = malloc(sizeof(*g) + cap_len);

    if (!g)
        return NULL;
    *g = (struct segment){ NULL, seq, cap_len, wire_len, frame, time };
    if (cap_len)
        memcpy(g->data, data, cap_len);
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
        bad |= pack_value(out, g->frame) | pack_value(out, g->time);
        bad |= pack_bytes(out, g->data, g->cap_len);
    }
    return bad ? -ERR_SYSTEM : 0;
}

int segments_restore(struct segment **at, struct segment **last, uint32_t *count, uint64_t *memory,
                     struct unpack *in)
{
    struct segment plain;
    struct bytes data;
    uint32_t left;

    unpack_value(in, left);
    *count = 0;
    while (!in->failed && left--) {
        unpack_value(in, plain.seq);
        unpack_value(in, plain.wire_len);
        unpack_value(in, plain.frame);
        unpack_value(in, plain.time);
        data = unpack_bytes(in);
        if (in->failed || data.len > plain.wire_len) {
            in->failed = true;
            break;
        }
        *at = segment_new(plain.seq, data.data, data.len, plain.wire_len, plain.frame, plain.time);
        if (!*at)
            return -ERR_SYSTEM;
        *memory += segment_memory(*at);
        *last = *at;
        at = &(*at)->next;
        ++*count;
    }
    return in->failed ? -ERR_INPUT : 0;
}
