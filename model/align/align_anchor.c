/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_anchor.c
 *
 * If requests repeat and some were not captured, the longest common subsequence pairs the wrong
 * ones, because it does not use times.  This pairs two equal requests if each is much closer to its
 * expected time than any other equal one.  The rest is aligned between such anchors.
 */
#include "align/align_anchor.h"
#include "align/align_like.h"

#include <stdlib.h>

enum {
    CLEARLY = 4, /* times as far is the next one */
    NEAR = 16,   /* times the error */
};
#define FAR (INT64_MAX / CLEARLY / 4)

struct nearest {
    int32_t index; /* -1: none */
    int64_t distance, second;
};

struct align_anchors {
    struct align_like like[2][ALIGN_WINDOW];
    struct nearest nearest[2][ALIGN_WINDOW];
    struct align_expected expected[ALIGN_WINDOW]; /* of ref */
    int32_t tails[ALIGN_WINDOW], before[ALIGN_WINDOW];
    bool may_be_other[ALIGN_WINDOW]; /* of ref */
    const struct align_element *sut;
};

struct align_anchors *align_anchors_new(void)
{
    return malloc(sizeof(struct align_anchors));
}

void align_anchors_free(struct align_anchors *a)
{
    free(a);
}

static int64_t apart(int64_t a, int64_t b)
{
    uint64_t d = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;

    return d < FAR ? (int64_t)d : FAR;
}

/* The place of the first of |like|, which are in the order of time, that is not before |time|. */
static uint32_t find_time(const struct align_like *like, uint32_t count, int64_t time)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (like[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The two of |to|, which are in the order of time, that are next to |time|. */
static struct nearest find_nearest(const struct align_like *to, uint32_t count, int64_t time)
{
    struct nearest n = { -1, INT64_MAX, INT64_MAX };
    const uint32_t low = find_time(to, count, time);

    for (uint32_t i = low > 2 ? low - 2 : 0; i < count && i < low + 2; i++) {
        int64_t distance = apart(to[i].time, time);

        if (distance < n.distance) {
            n.second = n.distance;
            n.distance = distance;
            n.index = (int32_t)to[i].index;
        } else if (distance < n.second) {
            n.second = distance;
        }
    }
    return n;
}

/* How many of |like|, which are in the order of time, lie from |low| to |high|; at most 2. */
static uint32_t count_between(const struct align_like *like, uint32_t count, int64_t low,
                              int64_t high)
{
    const uint32_t from = find_time(like, count, low);

    return (from < count && like[from].time <= high) +
           (from + 1 < count && like[from + 1].time <= high);
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static int64_t minus(int64_t a, int64_t b)
{
    return b == INT64_MIN ? plus(plus(a, INT64_MAX), 1) : plus(a, -b);
}

/* Marks pairs that are nearest to each other, where sure requests of this time lie so far apart
 * that another one may be meant. */
static void find_other(struct align_anchors *a, const struct align_like *x, uint32_t n,
                       const struct align_like *y, uint32_t m)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = x[k].index;
        const struct align_expected *e = &a->expected[i];
        int32_t j = a->nearest[0][i].index;
        int64_t sut = j < 0 ? 0 : a->sut[j].time;
        uint32_t self = j >= 0 && sut >= e->low && sut <= e->high;

        a->may_be_other[i] = j >= 0 && e->low < e->high &&
                             (count_between(y, m, e->low, e->high) > self ||
                              count_between(x, n, minus(sut, minus(e->high, e->time)),
                                            minus(sut, minus(e->low, e->time))) > self);
    }
}

static void find_all_nearest(struct align_anchors *a, uint32_t n, uint32_t m)
{
    uint32_t i = 0, j = 0;

    while (i < n && j < m) {
        const struct align_like *x = &a->like[0][i], *y = &a->like[1][j];
        uint32_t i_end = align_like_end(a->like[0], n, i), j_end = align_like_end(a->like[1], m, j);

        if (x->key < y->key) {
            i = i_end;
            continue;
        }
        if (x->key > y->key) {
            j = j_end;
            continue;
        }
        for (uint32_t k = 0; k < i_end - i; k++)
            a->nearest[0][x[k].index] = find_nearest(y, j_end - j, x[k].time);
        for (uint32_t k = 0; k < j_end - j; k++)
            a->nearest[1][y[k].index] = find_nearest(x, i_end - i, y[k].time);
        find_other(a, x, i_end - i, y, j_end - j);
        i = i_end;
        j = j_end;
    }
}

/* |error|: how exact expectations are.  One without any like it must at least be near. */
static bool is_clear(const struct nearest *n, int64_t error)
{
    int64_t second = n->second == INT64_MAX ? NEAR * CLEARLY * error : n->second;

    return CLEARLY * (n->distance + error) < second;
}

static bool is_anchor(const struct align_anchors *a, uint32_t i)
{
    const struct nearest *x = &a->nearest[0][i], *y;

    if (x->index < 0 || a->may_be_other[i])
        return false;
    y = &a->nearest[1][x->index];
    return y->index == (int32_t)i && is_clear(x, a->expected[i].error) &&
           is_clear(y, a->expected[i].error);
}

/* Of the anchors the most that rise on both sides (a longest increasing subsequence). */
static void keep_rising(struct align_anchors *a, uint32_t n, int32_t *match)
{
    uint32_t length = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t low = 0, high = length;

        if (match[i] < 0)
            continue;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (match[a->tails[middle]] < match[i])
                low = middle + 1;
            else
                high = middle;
        }
        a->before[i] = low ? a->tails[low - 1] : -1;
        a->tails[low] = (int32_t)i;
        if (low == length)
            length++;
    }
    for (int32_t at = length ? a->tails[length - 1] : -1, i = (int32_t)n - 1; i >= 0; i--) {
        if (i == at)
            at = a->before[i];
        else
            match[i] = -1;
    }
}

void align_anchors_find(struct align_anchors *a, const struct align *align,
                        const struct align_element *ref, uint32_t n,
                        const struct align_element *sut, uint32_t m, int32_t *match)
{
    int64_t last = INT64_MIN;
    bool known = true;

    a->sut = sut;
    for (uint32_t i = 0; known && i < n; i++) {
        struct align_expected *e = &a->expected[i];

        known = align->expect(align->ctx, &ref[i], e);
        if (e->time < last)
            e->time = last; /* offsets differ a little: order counts */
        last = e->time;
        e->error = e->error < FAR / NEAR ? e->error : FAR / NEAR;
        a->like[0][i] = (struct align_like){ ref[i].key, e->time, i };
        a->nearest[0][i].index = -1;
    }
    for (uint32_t i = 0; i < n; i++)
        match[i] = -1;
    if (!known)
        return;
    for (uint32_t i = 0; i < m; i++)
        a->like[1][i] = (struct align_like){ sut[i].key, sut[i].time, i };
    align_like_sort(a->like[0], n);
    align_like_sort(a->like[1], m);
    find_all_nearest(a, n, m);
    for (uint32_t i = 0; i < n; i++)
        if (is_anchor(a, i))
            match[i] = a->nearest[0][i].index;
    keep_rising(a, n, match);
}
