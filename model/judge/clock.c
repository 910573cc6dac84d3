/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/clock.c
 *
 * The offset of a server's clock is the median of its samples.  Anchors are pairs of times of the
 * two captures.  They are reduced to a row in which both rise, and times between two anchors are
 * interpolated.  For times.c here, and request_sequences.c and compare_pairs.c of postproc/compare.
 * The contract is in clock.h.
 */
#include "base/grow.h"
#include "judge/clock.h"

#include "judge/steps.h"

#include <stdlib.h>
#include <string.h>

/* Times of altered files may be any; the results can be added and taken from each other. */
static int64_t plus(int64_t a, int64_t b)
{
    const int64_t most = INT64_C(1) << 62;
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        sum = b < 0 ? -most : most;
    return sum > most ? most : sum < -most ? -most : sum;
}

static int64_t minus(int64_t a, int64_t b)
{
    return b == INT64_MIN ? plus(plus(a, INT64_MAX), 1) : plus(a, -b);
}

/* |from| is not after |to|. */
static int64_t middle_of(int64_t from, int64_t to)
{
    return (int64_t)((uint64_t)from + ((uint64_t)to - (uint64_t)from) / 2);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

void clock_sample(struct clock_side *s, int64_t time, int64_t call, int64_t reply)
{
    uint32_t at = s->count;
    int64_t step;

    if (reply < call)
        return;
    step = step_of_time(time);
    if (!s->seen || step < s->granularity)
        s->granularity = step;
    s->seen++;
    if (s->count == CLOCK_SAMPLES) /* every place is as likely, and the same in each run */
        at = (uint32_t)((s->seen * 0x9e3779b97f4a7c15u) >> 32) % CLOCK_SAMPLES;
    else
        s->count++;
    s->offset[at] = minus(time, middle_of(call, reply));
    s->width[at] = minus(reply, call);
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
    if (GROW(m->anchors, m->count, m->cap) < 0)
        return err_memory(err, "clocks");
    m->anchors[m->count++] = (struct clock_anchor){ { ref, sut } };
    return 0;
}

static int by_times(const void *a, const void *b)
{
    const struct clock_anchor *x = a, *y = b;

    if (x->time[0] != y->time[0])
        return x->time[0] < y->time[0] ? -1 : 1;
    return (x->time[1] < y->time[1]) - (x->time[1] > y->time[1]); /* at most one of these rises */
}

/* Sets |rank|[i] to the length of the longest rising subsequence that ends with anchor i (of those
 * before it), or that begins with it when |backwards|.  |ends|: memory for as many.  Returns the
 * greatest. */
static uint32_t rank_anchors(const struct clock_map *m, bool backwards, uint32_t *rank,
                             int64_t *ends)
{
    uint32_t length = 0;

    for (uint32_t n = 0; n < m->count; n++) {
        uint32_t i = backwards ? m->count - 1 - n : n, low = 0, high = length;
        int64_t sut = m->anchors[i].time[1];

        sut = backwards ? -sut : sut;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (ends[middle] < sut)
                low = middle + 1;
            else
                high = middle;
        }
        ends[low] = sut;
        rank[i] = low + 1;
        length += low == length;
    }
    return length;
}

/* Of the anchors at one place of the longest rising subsequences each comes after one of the place
 * before, on both sides, and before one of the next.  So their first and last times rise from place
 * to place, and the middle between these, which does not depend on which side is which. */
int clock_settle(struct clock_map *m, struct err *err)
{
    uint32_t *rank = calloc(m->count + 1, sizeof(*rank));
    uint32_t *behind = calloc(m->count + 1, sizeof(*behind));
    struct clock_anchor *first = calloc(m->count + 1, sizeof(*first));
    struct clock_anchor *last = calloc(m->count + 1, sizeof(*last));
    int64_t *ends = calloc(m->count + 1, sizeof(*ends));
    uint32_t length = 0;
    bool ok = rank && behind && first && last && ends;

    if (ok && m->count) {
        for (uint32_t i = 0; i < m->count; i++)
            for (int side = 0; side < 2; side++)
                m->anchors[i].time[side] = plus(m->anchors[i].time[side], 0);
        qsort(m->anchors, m->count, sizeof(*m->anchors), by_times);
        length = rank_anchors(m, false, rank, ends);
        rank_anchors(m, true, behind, ends);
    }
    for (uint32_t i = 0; i < length; i++) {
        first[i] = (struct clock_anchor){ { INT64_MAX, INT64_MAX } };
        last[i] = (struct clock_anchor){ { INT64_MIN, INT64_MIN } };
    }
    for (uint32_t i = 0; ok && i < m->count; i++) {
        uint32_t place = rank[i] - 1;
        const struct clock_anchor *a = &m->anchors[i];

        if (rank[i] + behind[i] - 1 != length)
            continue; /* in none of the longest */
        for (int side = 0; side < 2; side++) {
            if (a->time[side] < first[place].time[side])
                first[place].time[side] = a->time[side];
            if (a->time[side] > last[place].time[side])
                last[place].time[side] = a->time[side];
        }
    }
    for (uint32_t i = 0; ok && i < length; i++)
        for (int side = 0; side < 2; side++)
            m->anchors[i].time[side] = middle_of(first[i].time[side], last[i].time[side]);
    m->count = ok ? length : m->count;
    free(rank);
    free(behind);
    free(first);
    free(last);
    free(ends);
    return ok ? 0 : err_memory(err, "clocks");
}

void clock_map_free(struct clock_map *m)
{
    free(m->anchors);
    memset(m, 0, sizeof(*m));
}

int64_t clock_carry(const struct clock_map *m, int from, int64_t time)
{
    const struct clock_anchor *a = m->anchors;
    int64_t t = minus(time, m->offset[from]), carried;
    uint32_t low = 0, high = m->count;
    int to = !from;

    if (!m->count)
        return plus(t, m->offset[to]);
    while (low < high) { /* the first anchor behind t */
        uint32_t middle = low + (high - low) / 2;

        if (a[middle].time[from] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) {
        carried = plus(a[0].time[to], minus(t, a[0].time[from]));
    } else {
        carried = a[low - 1].time[to];
        if (low == m->count)
            carried = plus(carried, minus(t, a[low - 1].time[from]));
        else /* between two */
            carried =
                plus(carried, (int64_t)((double)minus(t, a[low - 1].time[from]) *
                                        (double)minus(a[low].time[to], a[low - 1].time[to]) /
                                        (double)minus(a[low].time[from], a[low - 1].time[from])));
    }
    return plus(carried, m->offset[to]);
}
