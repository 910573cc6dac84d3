/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/clock.h"

#include <stdlib.h>
#include <string.h>

/* Times of altered files may be any; the results can be added and taken from each other. */
static int64_t bounded(__int128 time)
{
    const __int128 most = (__int128)1 << 62;

    return (int64_t)(time > most ? most : time < -most ? -most : time);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

void clock_sample(struct clock_side *s, int64_t time, int64_t call, int64_t reply)
{
    static const int64_t steps[] = { 1000000000, 100000000, 10000000, 4000000, 1000000, 1000, 1 };
    uint32_t at = s->count;

    if (reply < call)
        return;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (time % steps[i] == 0) {
            if (!s->seen || steps[i] < s->granularity)
                s->granularity = steps[i];
            break;
        }
    s->seen++;
    if (s->count == CLOCK_SAMPLES) /* every place is as likely, and the same in each run */
        at = (uint32_t)((s->seen * 0x9e3779b97f4a7c15u) >> 32) % CLOCK_SAMPLES;
    else
        s->count++;
    s->offset[at] = bounded(time - ((__int128)call + ((__int128)reply - call) / 2));
    s->width[at] = bounded((__int128)reply - call);
}

bool clock_estimate(struct clock_side *s, int64_t *offset, int64_t *error, int64_t *granularity)
{
    if (!s->count)
        return false;
    qsort(s->offset, s->count, sizeof(s->offset[0]), compare);
    qsort(s->width, s->count, sizeof(s->width[0]), compare);
    *offset = s->offset[s->count / 2];
    *error = s->width[s->count / 2] / 2;
    *granularity = s->granularity;
    return true;
}

int clock_anchor(struct clock_map *m, int64_t ref, int64_t sut, struct err *err)
{
    if (m->count == m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 1024;
        void *grown = realloc(m->anchors, cap * sizeof(*m->anchors));

        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory");
        m->anchors = grown;
        m->cap = cap;
    }
    m->anchors[m->count++] = (struct clock_anchor){ sut, ref };
    return 0;
}

static int by_ref(const void *a, const void *b)
{
    const struct clock_anchor *x = a, *y = b;

    if (x->ref != y->ref)
        return x->ref < y->ref ? -1 : 1;
    return x->sut < y->sut ? 1 : x->sut > y->sut ? -1 : 0; /* so that at most one of these rises */
}

/* The longest rising subsequence: ends[n] is the anchor with the smallest sut that ends one of
 * length n + 1. */
int clock_settle(struct clock_map *m, struct err *err)
{
    uint32_t *ends = calloc(m->count + 1, sizeof(*ends));
    uint32_t *before = calloc(m->count + 1, sizeof(*before));
    uint32_t length = 0, at;

    if (!ends || !before) {
        free(ends);
        free(before);
        return err_set(err, ERR_SYSTEM, "out of memory");
    }
    if (m->count)
        qsort(m->anchors, m->count, sizeof(*m->anchors), by_ref);
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t low = 0, high = length;

        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (m->anchors[ends[middle]].sut < m->anchors[i].sut)
                low = middle + 1;
            else
                high = middle;
        }
        before[i] = low ? ends[low - 1] : UINT32_MAX;
        ends[low] = i;
        length += low == length;
    }
    at = length ? ends[length - 1] : 0;
    for (uint32_t i = length; i-- > 0; at = before[at])
        ends[i] = at;
    for (uint32_t i = 0; i < length; i++)
        m->anchors[i] = m->anchors[ends[i]];
    m->count = length;
    free(ends);
    free(before);
    return 0;
}

void clock_map_free(struct clock_map *m)
{
    free(m->anchors);
    memset(m, 0, sizeof(*m));
}

int64_t clock_to_ref(const struct clock_map *m, int64_t sut)
{
    const struct clock_anchor *a = m->anchors;
    __int128 t = (__int128)sut - m->offset[1], ref;
    uint32_t low = 0, high = m->count;

    if (!m->count)
        return bounded(t + m->offset[0]);
    while (low < high) { /* the first anchor behind t */
        uint32_t middle = low + (high - low) / 2;

        if (a[middle].sut <= t)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) {
        ref = a[0].ref + (t - a[0].sut);
    } else {
        ref = a[low - 1].ref;
        if (low == m->count)
            ref += t - a[low - 1].sut;
        else /* between two; their distances are below 2^64 */
            ref += (__int128)((double)(t - a[low - 1].sut) *
                              (double)((__int128)a[low].ref - a[low - 1].ref) /
                              (double)((__int128)a[low].sut - a[low - 1].sut));
    }
    return bounded(ref + m->offset[0]);
}
