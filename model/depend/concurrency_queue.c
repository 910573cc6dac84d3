/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/concurrency_queue.c
 *
 * A simulation of a replay with a limit of outstanding requests, event by event, for concurrency.c.
 * Contract: concurrency_queue.h.
 */
#include "depend/concurrency_queue.h"
#include "base/grow.h"

#include <stdbool.h>
#include <stdlib.h>

enum { NONE = UINT32_MAX };

struct waiting {         /* of an operation of the window */
    int64_t time;        /* its latency; once begun, its finish */
    uint32_t open;       /* dependencies that are not finished */
    uint32_t dependents; /* first of its list in |links|, or NONE */
    bool done;
};

struct link { /* an operation that waits for another one */
    uint32_t place, next;
};

struct heap {
    uint64_t *numbers; /* of operations; room for a window of them */
    uint32_t count;
};

struct limited {
    uint32_t window, mask, outstanding;
    uint64_t first, end; /* the first operation that is not finished; one behind the last */
    int64_t now;
    struct waiting *waiting; /* places: number & mask */
    struct link *links;
    uint32_t link_cap, link_used, link_free;
    struct heap ready;   /* the least number first */
    struct heap running; /* the earliest finish first */
    struct heap done;    /* a stack of what has just finished */
};

static struct waiting *at(struct limited *q, uint64_t number)
{
    return &q->waiting[number & q->mask];
}

struct limited *limited_new(uint32_t window, uint32_t outstanding)
{
    struct limited *q = calloc(1, sizeof(*q));
    uint32_t places = 1;

    if (!q)
        return NULL;
    while (places < window)
        places *= 2;
    q->window = window;
    q->mask = places - 1;
    q->outstanding = outstanding;
    q->link_free = NONE;
    q->waiting = calloc(places, sizeof(*q->waiting));
    q->ready.numbers = calloc(window, sizeof(uint64_t));
    q->running.numbers = calloc(window, sizeof(uint64_t));
    q->done.numbers = calloc(window, sizeof(uint64_t));
    if (!q->waiting || !q->ready.numbers || !q->running.numbers || !q->done.numbers) {
        limited_free(q);
        return NULL;
    }
    return q;
}

void limited_free(struct limited *q)
{
    if (!q)
        return;
    free(q->waiting);
    free(q->links);
    free(q->ready.numbers);
    free(q->running.numbers);
    free(q->done.numbers);
    free(q);
}

/* What a heap has in front: |by_time| those that finish early, else those of low number. */
static bool before(struct limited *q, bool by_time, uint64_t a, uint64_t b)
{
    return by_time && at(q, a)->time != at(q, b)->time ? at(q, a)->time < at(q, b)->time : a < b;
}

static void push(struct limited *q, struct heap *heap, bool by_time, uint64_t number)
{
    uint32_t i = heap->count++;

    for (; i && before(q, by_time, number, heap->numbers[(i - 1) / 2]); i = (i - 1) / 2)
        heap->numbers[i] = heap->numbers[(i - 1) / 2];
    heap->numbers[i] = number;
}

static uint64_t pop(struct limited *q, struct heap *heap, bool by_time)
{
    uint64_t top = heap->numbers[0], last = heap->numbers[--heap->count];
    uint32_t i = 0, child;

    for (; (child = 2 * i + 1) < heap->count; i = child) {
        if (child + 1 < heap->count &&
            before(q, by_time, heap->numbers[child + 1], heap->numbers[child]))
            child++;
        if (!before(q, by_time, heap->numbers[child], last))
            break;
        heap->numbers[i] = heap->numbers[child];
    }
    heap->numbers[i] = last;
    return top;
}

/* Nothing is left to wait for. */
static void is_ready(struct limited *q, uint64_t number)
{
    if (at(q, number)->time == 0)
        q->done.numbers[q->done.count++] = number;
    else
        push(q, &q->ready, false, number);
}

/* Takes those that are done out of what others wait for, and what that makes done. */
static void settle(struct limited *q)
{
    while (q->done.count) {
        struct waiting *w = at(q, q->done.numbers[--q->done.count]);
        uint32_t i = w->dependents, last = NONE;

        w->done = true;
        for (; i != NONE; last = i, i = q->links[i].next) {
            struct waiting *dependent = &q->waiting[q->links[i].place];

            if (--dependent->open == 0) {
                /* within the window a place stands for one number */
                uint64_t number = q->first + ((q->links[i].place - q->first) & q->mask);

                is_ready(q, number);
            }
        }
        if (last != NONE) {
            q->links[last].next = q->link_free;
            q->link_free = w->dependents;
            w->dependents = NONE;
        }
    }
    while (q->first < q->end && at(q, q->first)->done)
        q->first++;
}

static void begin(struct limited *q)
{
    while (q->ready.count && q->running.count < q->outstanding) {
        uint64_t number = pop(q, &q->ready, false);

        if (__builtin_add_overflow(q->now, at(q, number)->time, &at(q, number)->time))
            at(q, number)->time = INT64_MAX;
        push(q, &q->running, true, number);
    }
}

/* To the next moment in which something is finished. */
static void advance(struct limited *q)
{
    q->now = at(q, q->running.numbers[0])->time;
    while (q->running.count && at(q, q->running.numbers[0])->time == q->now)
        q->done.numbers[q->done.count++] = pop(q, &q->running, true);
    settle(q);
    begin(q);
}

static int add_link(struct limited *q, uint64_t from, uint64_t to)
{
    uint32_t i = q->link_free;

    if (i != NONE) {
        q->link_free = q->links[i].next;
    } else {
        if (GROW(q->links, q->link_used, q->link_cap) < 0)
            return -ERR_SYSTEM;
        i = q->link_used++;
    }
    q->links[i] = (struct link){ (uint32_t)(to & q->mask), at(q, from)->dependents };
    at(q, from)->dependents = i;
    return 0;
}

int limited_next(struct limited *q, int64_t latency, const struct concurrency_edges *edges)
{
    uint64_t number = q->end;
    struct waiting *w;

    while (number - q->first >= q->window)
        advance(q);
    w = at(q, number);
    *w = (struct waiting){ .time = latency, .dependents = NONE };
    q->end++;
    for (uint32_t i = 0; i < edges->count && edges->distances[i] < q->window; i++) {
        uint64_t other = number - edges->distances[i];

        if (other < q->first || at(q, other)->done)
            continue;
        if (add_link(q, other, number) < 0)
            return -ERR_SYSTEM;
        w->open++;
    }
    if (!w->open)
        is_ready(q, number);
    settle(q);
    begin(q);
    return 0;
}

int64_t limited_makespan(struct limited *q)
{
    while (q->running.count)
        advance(q);
    return q->now;
}
