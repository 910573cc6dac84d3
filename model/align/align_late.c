/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "align/align_late.h"
#include "align/align_like.h"

#include <stdlib.h>

enum { CANDIDATES = 4 }; /* like requests that are tried, on either side of the place */

struct align_late {
    struct align_like left[ALIGN_WINDOW];
    int32_t back[ALIGN_WINDOW]; /* of b: the index in a, or -1 */
    bool taken[ALIGN_WINDOW];   /* of b */
};

struct view {
    const struct align_element *a, *b;
    const int32_t *back;
};

struct align_late *align_late_new(void)
{
    return malloc(sizeof(struct align_late));
}

void align_late_free(struct align_late *late)
{
    free(late);
}

/* Whether a[i], whose place in b is before |place|, and b[j] passed only what was under way with
 * one of them. */
static bool may_pass(const struct view *v, uint32_t i, uint32_t place, uint32_t j)
{
    uint32_t from = j < place ? j + 1 : place, to = j < place ? place : j, passed = 0;

    for (uint32_t k = from; k < to; k++) {
        if (v->back[k] < 0)
            continue;
        if (++passed > LATE_REACH || (!align_were_together(&v->a[i], &v->a[v->back[k]]) &&
                                      !align_were_together(&v->b[j], &v->b[k])))
            return false;
    }
    return true;
}

/* The first of the key at or behind |index|, or where it would be. */
static uint32_t find_left(const struct align_like *left, uint32_t count, uint64_t key,
                          uint32_t index)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (left[middle].key < key || (left[middle].key == key && left[middle].index < index))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int32_t find_one(const struct align_late *l, const struct view *v, uint32_t count,
                        uint32_t i, uint32_t place)
{
    uint64_t key = v->a[i].key;
    uint32_t at = find_left(l->left, count, key, place);

    for (uint32_t k = at; k < count && k < at + CANDIDATES && l->left[k].key == key; k++)
        if (!l->taken[l->left[k].index] && may_pass(v, i, place, l->left[k].index))
            return (int32_t)l->left[k].index;
    for (uint32_t k = at; k > 0 && k + CANDIDATES > at && l->left[k - 1].key == key; k--)
        if (!l->taken[l->left[k - 1].index] && may_pass(v, i, place, l->left[k - 1].index))
            return (int32_t)l->left[k - 1].index;
    return -1;
}

uint32_t align_late_find(struct align_late *l, const struct align_element *a, uint32_t n,
                         const struct align_element *b, uint32_t m, const int32_t *match,
                         int32_t *passed)
{
    struct view v = { a, b, l->back };
    uint32_t count = 0, place = 0, found = 0;

    for (uint32_t j = 0; j < m; j++)
        l->back[j] = -1;
    for (uint32_t i = 0; i < n; i++) {
        passed[i] = -1;
        if (match[i] >= 0)
            l->back[match[i]] = (int32_t)i;
    }
    for (uint32_t j = 0; j < m; j++)
        if (l->back[j] < 0) {
            l->left[count++] = (struct align_like){ b[j].key, b[j].time, j };
            l->taken[j] = false;
        }
    if (!count)
        return 0;
    align_like_sort(l->left, count);
    for (uint32_t i = 0; i < n; i++) {
        if (match[i] >= 0) {
            place = (uint32_t)match[i] + 1;
            continue;
        }
        passed[i] = find_one(l, &v, count, i, place);
        if (passed[i] >= 0) {
            l->taken[passed[i]] = true;
            found++;
        }
    }
    return found;
}
