/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_anchor.c
 *
 * If requests repeat and some were not captured, the longest common subsequence pairs the wrong
 * ones, because it does not use times.  This pairs two equal requests if each is much closer to its
 * expected time than any other equal one.  The rest is aligned between such anchors.
 */
#include "align/align_anchor.h"

#include <stdlib.h>

enum {
    CLEARLY = 4, /* times as far is the next one */
    NEAR = 16,   /* times the error */
};
#define FAR (INT64_MAX / CLEARLY / 4)

/* An element among those with the same key, in their order. */
struct like {
    uint64_t key;
    int64_t time; /* of the sut's captures */
    uint32_t index;
};

struct nearest {
    int32_t index; /* -1: none */
    int64_t distance, second;
};

struct align_anchors {
    struct like like[2][ALIGN_WINDOW];
    struct nearest nearest[2][ALIGN_WINDOW];
    int64_t error[ALIGN_WINDOW];
    int32_t tails[ALIGN_WINDOW], before[ALIGN_WINDOW];
};

struct align_anchors *align_anchors_new(void)
{
    return malloc(sizeof(struct align_anchors));
}

void align_anchors_free(struct align_anchors *a)
{
    free(a);
}

static int by_key(const void *a, const void *b)
{
    const struct like *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int64_t apart(int64_t a, int64_t b)
{
    uint64_t d = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;

    return d < FAR ? (int64_t)d : FAR;
}

/* The two of |to|, which are in the order of time, that are next to |time|. */
static struct nearest find_nearest(const struct like *to, uint32_t count, int64_t time)
{
    struct nearest n = { -1, INT64_MAX, INT64_MAX };
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (to[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
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

static uint32_t end_of_key(const struct like *like, uint32_t count, uint32_t from)
{
    uint32_t end = from;

    while (end < count && like[end].key == like[from].key)
        end++;
    return end;
}

static void find_all_nearest(struct align_anchors *a, uint32_t n, uint32_t m)
{
    uint32_t i = 0, j = 0;

    while (i < n && j < m) {
        const struct like *x = &a->like[0][i], *y = &a->like[1][j];
        uint32_t i_end = end_of_key(a->like[0], n, i), j_end = end_of_key(a->like[1], m, j);

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

    if (x->index < 0)
        return false;
    y = &a->nearest[1][x->index];
    return y->index == (int32_t)i && is_clear(x, a->error[i]) && is_clear(y, a->error[i]);
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

    for (uint32_t i = 0; known && i < n; i++) {
        int64_t time;

        known = align->expect(align->ctx, &ref[i], &time, &a->error[i]);
        if (time < last)
            time = last; /* offsets differ a little: order counts */
        last = time;
        a->error[i] = a->error[i] < FAR / NEAR ? a->error[i] : FAR / NEAR;
        a->like[0][i] = (struct like){ ref[i].key, time, i };
        a->nearest[0][i].index = -1;
    }
    for (uint32_t i = 0; i < n; i++)
        match[i] = -1;
    if (!known)
        return;
    for (uint32_t i = 0; i < m; i++)
        a->like[1][i] = (struct like){ sut[i].key, sut[i].time, i };
    qsort(a->like[0], n, sizeof(a->like[0][0]), by_key);
    qsort(a->like[1], m, sizeof(a->like[1][0]), by_key);
    find_all_nearest(a, n, m);
    for (uint32_t i = 0; i < n; i++)
        if (is_anchor(a, i))
            match[i] = a->nearest[0][i].index;
    keep_rising(a, n, match);
}
