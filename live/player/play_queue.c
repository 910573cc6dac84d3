/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "player/play_queue.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

static int add_to_line(struct play_queue *q, struct queued entry, struct err *err)
{
    if (q->line_at == q->line_end)
        q->line_at = q->line_end = 0;
    if (q->line_end == q->line_cap && q->line_at && q->line_at >= q->line_cap / 2) {
        memmove(q->line, q->line + q->line_at, (q->line_end - q->line_at) * sizeof(*q->line));
        q->line_end -= q->line_at;
        q->line_at = 0;
    }
    if (GROW(q->line, q->line_end, q->line_cap) < 0)
        return err_memory(err, "waiting operations");
    q->line[q->line_end++] = entry;
    return 0;
}

int play_queue_add(struct play_queue *q, int64_t key, struct play *play, struct err *err)
{
    struct queued entry = { key, play };
    uint32_t at;

    if (q->line_at == q->line_end || q->line[q->line_end - 1].key <= key)
        return add_to_line(q, entry, err);
    if (GROW(q->heap, q->heap_count, q->heap_cap) < 0)
        return err_memory(err, "waiting operations");
    for (at = q->heap_count++; at && q->heap[(at - 1) / 2].key > key; at = (at - 1) / 2)
        q->heap[at] = q->heap[(at - 1) / 2];
    q->heap[at] = entry;
    return 0;
}

static bool line_is_first(const struct play_queue *q)
{
    return q->line_at < q->line_end &&
           (!q->heap_count || q->line[q->line_at].key <= q->heap[0].key);
}

const struct queued *play_queue_first(const struct play_queue *q)
{
    if (line_is_first(q))
        return &q->line[q->line_at];
    return q->heap_count ? &q->heap[0] : NULL;
}

struct play *play_queue_take(struct play_queue *q)
{
    struct queued last;
    struct play *play;
    uint32_t at = 0;

    if (line_is_first(q))
        return q->line[q->line_at++].play;
    play = q->heap[0].play;
    last = q->heap[--q->heap_count];
    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < q->heap_count && q->heap[child + 1].key < q->heap[child].key)
            child++;
        if (child >= q->heap_count || q->heap[child].key >= last.key)
            break;
        q->heap[at] = q->heap[child];
        at = child;
    }
    if (q->heap_count)
        q->heap[at] = last;
    return play;
}

void play_queue_free(struct play_queue *q)
{
    free(q->line);
    free(q->heap);
    *q = (struct play_queue){ 0 };
}
