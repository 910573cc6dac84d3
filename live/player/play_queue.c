/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "player/play_queue.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { NEAR = 64 /* places from the beginning of the line */ };

static int add_to_line(struct play_queue *q, struct queued entry, struct err *err)
{
    if (q->line_at == q->line_end)
        q->line_at = q->line_end = q->line_cap / 4;
    if (q->line_end == q->line_cap && q->line_at && q->line_at >= q->line_cap / 2) {
        uint32_t to = q->line_at / 4;

        memmove(q->line + to, q->line + q->line_at, (q->line_end - q->line_at) * sizeof(*q->line));
        q->line_end -= q->line_at - to;
        q->line_at = to;
    }
    if (GROW(q->line, q->line_end, q->line_cap) < 0)
        return err_memory(err, "waiting operations");
    q->line[q->line_end++] = entry;
    return 0;
}

/* Puts the entry into the line, whose last one goes behind it, by moving those before it.  False:
 * they are too many, or there is no room before the first. */
static bool add_near_first(struct play_queue *q, struct queued entry)
{
    struct queued *first = q->line + q->line_at;
    uint32_t before = 0, most = q->line_end - q->line_at;

    if (!q->line_at || (most > NEAR && first[NEAR - 1].key <= entry.key))
        return false;
    if (most > NEAR)
        most = NEAR;
    /* |before| entries go first, and that at |most| does not */
    for (most--; before < most;) {
        uint32_t middle = (before + most) / 2;

        if (first[middle].key <= entry.key)
            before = middle + 1;
        else
            most = middle;
    }
    memmove(first - 1, first, before * sizeof(*first));
    first[(int64_t)before - 1] = entry;
    q->line_at--;
    return true;
}

int play_queue_add_any(struct play_queue *q, int64_t key, struct play *play, struct err *err)
{
    struct queued entry = { key, play };
    uint32_t at;

    if (q->line_at == q->line_end || q->line[q->line_end - 1].key <= key)
        return add_to_line(q, entry, err);
    if (add_near_first(q, entry))
        return 0;
    if (GROW(q->heap, q->heap_count, q->heap_cap) < 0)
        return err_memory(err, "waiting operations");
    for (at = q->heap_count++; at && q->heap[(at - 1) / 2].key > key; at = (at - 1) / 2)
        q->heap[at] = q->heap[(at - 1) / 2];
    q->heap[at] = entry;
    return 0;
}

void play_queue_take_heap(struct play_queue *q)
{
    struct queued last = q->heap[--q->heap_count];
    uint32_t at = 0;

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
}

void play_queue_free(struct play_queue *q)
{
    free(q->line);
    free(q->heap);
    *q = (struct play_queue){ 0 };
}
