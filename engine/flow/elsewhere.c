/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/elsewhere.h"
#include "flow/plausible.h"
#include "flow/stream.h"

#include <stdlib.h>

enum { MARK_LEN = 4 };

enum elsewhere_verdict elsewhere_judge(const struct elsewhere *e, const struct arrival *a,
                                       bool silent)
{
    const uint8_t *data = a->piece.data;
    uint32_t mark, have;

    if (a->piece.cap_len < ELSEWHERE_HEAD)
        return ELSEWHERE_UNKNOWN;
    for (uint32_t i = 0; i < e->seen_count; i++) { /* the latest first */
        uint32_t at = (e->seen_at - i) % ELSEWHERE_SEEN;
        if (e->seen_seq[at] == a->seq)
            return memcmp(e->seen_head[at], data, ELSEWHERE_HEAD) ? ELSEWHERE_OTHER
                                                                  : ELSEWHERE_COPY;
    }
    mark = load_be32(data) & 0x7fffffff;
    have = a->piece.cap_len - MARK_LEN;
    if (silent && data[0] & 0x80 && plausible_rpc(data + MARK_LEN, have < mark ? have : mark, mark))
        return ELSEWHERE_OTHER;
    return ELSEWHERE_UNKNOWN;
}

int elsewhere_keep(struct elsewhere *e, struct stream_pool *pool, const struct arrival *a,
                   bool sure)
{
    uint32_t end = a->seq + a->piece.wire_len;
    struct segment *g;

    if (e->count && (e->count == ELSEWHERE_MANY ||
                     a->seq - e->from + ELSEWHERE_NEAR > e->to - e->from + 2 * ELSEWHERE_NEAR))
        elsewhere_forget(e, pool);
    g = segment_new(a);
    if (!g)
        return -ERR_SYSTEM;
    pool->queued += segment_memory(g);
    if (!e->count || (int32_t)(g->seq - e->from) < 0)
        e->from = g->seq;
    if (!e->count || (int32_t)(end - e->to) > 0)
        e->to = end;
    if (e->count)
        e->last->next = g;
    else
        e->first = g;
    e->last = g;
    e->count++;
    e->sure += sure;
    if (pool->queued > pool->total)
        elsewhere_forget(e, pool);
    return 0;
}

struct segment *elsewhere_take(struct elsewhere *e, struct stream_pool *pool, uint32_t *from)
{
    struct segment *first = e->first;

    for (const struct segment *g = first; g; g = g->next)
        pool->queued -= segment_memory(g);
    *from = e->from;
    memset(e, 0, sizeof(*e));
    return first;
}

void elsewhere_forget(struct elsewhere *e, struct stream_pool *pool)
{
    for (struct segment *g = e->first, *next; g; g = next) {
        next = g->next;
        pool->queued -= segment_memory(g);
        pool->strays++;
        free(g);
    }
    e->first = e->last = NULL;
    e->count = e->sure = 0;
}

void elsewhere_free(struct elsewhere *e, struct stream_pool *pool)
{
    uint64_t strays = pool->strays;

    elsewhere_forget(e, pool);
    pool->strays = strays;
}

#define ELSEWHERE_PLAIN(step)                                                                      \
    step(from) step(to) step(sure) step(seen_count) step(seen_at) step(seen_seq) step(seen_head)

uint64_t elsewhere_layout(uint64_t hash)
{
#define ELSEWHERE_FIELD(field)                                                                     \
    hash = pack_layout(hash, #field, sizeof(((struct elsewhere *)0)->field));
    ELSEWHERE_PLAIN(ELSEWHERE_FIELD)
    return pack_layout(hash, "segments", sizeof(struct arrival));
}

int elsewhere_save(const struct elsewhere *e, struct buf *out)
{
    int bad = 0;

#define SAVE(field) bad |= pack_value(out, e->field);
    ELSEWHERE_PLAIN(SAVE)
    return bad ? -ERR_SYSTEM : segments_save(e->first, out);
}

int elsewhere_restore(struct elsewhere *e, struct stream_pool *pool, struct unpack *in)
{
#define RESTORE(field) unpack_value(in, e->field);
    ELSEWHERE_PLAIN(RESTORE)
    if (e->seen_count > ELSEWHERE_SEEN || e->seen_at >= ELSEWHERE_SEEN) {
        e->seen_count = e->seen_at = 0;
        in->failed = true;
    }
    return segments_restore(&e->first, &e->last, &e->count, &pool->queued, in);
}
