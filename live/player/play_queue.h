/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/play_queue.h
 *
 * Operations by a key, the lowest first: by time, or by the order in which they are picked.  Most
 * are in a line: those whose keys come in ascending order cost no search, and those that belong
 * near its beginning, as operations do that have waited for others, a short one.  The rest is in a
 * heap.
 *
 * Memory: 16 bytes an operation, and as many again for growing.
 */
#ifndef NFSDIGEST_PLAYER_PLAY_QUEUE_H
#define NFSDIGEST_PLAYER_PLAY_QUEUE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct play;

struct queued {
    int64_t key;
    struct play *play;
};

/* All zeros: an empty queue. */
struct play_queue {
    struct queued *line; /* ascending, from |line_at| to |line_end| */
    uint32_t line_at, line_end, line_cap;
    struct queued *heap;
    uint32_t heap_count, heap_cap;
};

static inline uint32_t play_queue_count(const struct play_queue *q)
{
    return q->line_end - q->line_at + q->heap_count;
}

int play_queue_add_any(struct play_queue *q, int64_t key, struct play *play, struct err *err);
static inline int play_queue_add(struct play_queue *q, int64_t key, struct play *play,
                                 struct err *err)
{
    if (q->line_at == q->line_end || q->line_end == q->line_cap ||
        q->line[q->line_end - 1].key > key)
        return play_queue_add_any(q, key, play, err);
    q->line[q->line_end++] = (struct queued){ key, play };
    return 0;
}

static inline bool play_queue_line_first(const struct play_queue *q)
{
    return q->line_at < q->line_end &&
           (!q->heap_count || q->line[q->line_at].key <= q->heap[0].key);
}

/* The first one, or NULL. */
static inline const struct queued *play_queue_first(const struct play_queue *q)
{
    if (play_queue_line_first(q))
        return &q->line[q->line_at];
    return q->heap_count ? &q->heap[0] : NULL;
}

/* Takes |first|, the first one, away. */
void play_queue_take_heap(struct play_queue *q);
static inline void play_queue_drop(struct play_queue *q, const struct queued *first)
{
    if (first == q->heap)
        play_queue_take_heap(q);
    else
        q->line_at++;
}

/* Takes the first one away; there must be one. */
static inline struct play *play_queue_take(struct play_queue *q)
{
    const struct queued *first = play_queue_first(q);
    struct play *play = first->play;

    play_queue_drop(q, first);
    return play;
}

/* Whether |ahead| operations, or more, go before one with this key. */
static inline bool play_queue_is_behind(const struct play_queue *q, uint32_t ahead, int64_t key)
{
    return ahead < q->line_end - q->line_at && q->line[q->line_at + ahead].key <= key;
}

void play_queue_free(struct play_queue *q);

#endif
