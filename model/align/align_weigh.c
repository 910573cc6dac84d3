/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_weigh.c
 *
 * Pairs that both ways to align have bound boxes.  In each box, this weighs what a way takes for
 * granted: requests that only one side has, and pairs that came at another time than expected.  A
 * pause makes all requests late that come then, so a time that is as wrong as that of the pair
 * before weighs nothing; nor does a side that catches up.  The contract is in align_weigh.h.
 */
#include "align/align_weigh.h"

#include <stdlib.h>

enum {
    ALONE = 2,   /* as much as an expectation that is wrong by twice its error */
    FASTER = 3,  /* times */
    CLEARLY = 6, /* so much lighter is a way that is only another one */
};

struct align_weigh {
    struct align_expected expected[ALIGN_WINDOW]; /* of the reference's */
    int32_t longest[ALIGN_WINDOW];                /* as |match|, without anchors */
    bool late; /* |longest| leaves the first ones of like requests alone, not the last ones */
};

struct box {
    uint32_t from[2], end[2];
    int64_t late;    /* of the pair before it */
    uint32_t behind; /* pairs behind it that count: 1, or 0 at the end */
};

struct align_weigh *align_weigh_new(void)
{
    return malloc(sizeof(struct align_weigh));
}

void align_weigh_free(struct align_weigh *w)
{
    free(w);
}

/* Times come from files, and may be anything. */
static int64_t minus(int64_t a, int64_t b)
{
    int64_t out;

    return __builtin_sub_overflow(a, b, &out) ? (a < b ? -INT64_MAX : INT64_MAX) : out;
}

/* How much later than expected the pair came; negative: earlier. */
static int64_t late_by(const struct align_expected *e, int64_t time)
{
    if (e->low == e->high)
        return minus(time, e->time);
    return time < e->low ? minus(time, e->low) : time > e->high ? minus(time, e->high) : 0;
}

static uint32_t weight_of(int64_t wrong, int64_t error)
{
    uint64_t times =
        (wrong < 0 ? 0 - (uint64_t)wrong : (uint64_t)wrong) / (error > 0 ? (uint64_t)error : 1);

    return times ? 64 - (uint32_t)__builtin_clzll(times) : 0;
}

/* A pair after another one. */
struct two {
    int64_t late, last; /* |last|: of the pair before */
    int64_t gap[2];     /* between their calls */
};

/* Who stood still catches up: its requests follow each other faster than the other side's. */
static bool catches_up(const struct two *t)
{
    return t->late >= 0 ? t->late <= t->last && t->gap[1] < t->gap[0] / FASTER
                        : t->late >= t->last && t->gap[0] < t->gap[1] / FASTER;
}

static uint32_t weigh_time(const struct two *t, int64_t error)
{
    const uint32_t exact = weight_of(t->late, error);
    const uint32_t alike = weight_of(minus(t->late, t->last), error);

    return catches_up(t) ? 0 : exact < alike ? exact : alike;
}

static uint32_t weigh(const struct align_weigh *w, const struct align_ways *ways,
                      const struct box *box, const int32_t *match, uint32_t *pairs)
{
    const struct align_element *ref = ways->elements[0], *sut = ways->elements[1];
    struct two t = { .last = box->late };
    uint32_t weight = 0, i = box->from[0], last = i ? i - 1 : 0;

    *pairs = 0;
    for (; i < box->end[0] + box->behind; i++) {
        if (match[i] < 0)
            continue;
        t.late = late_by(&w->expected[i], sut[match[i]].time);
        t.gap[0] = minus(ref[i].time, ref[last].time);
        t.gap[1] = match[last] < 0 ? t.gap[0] : minus(sut[match[i]].time, sut[match[last]].time);
        weight += weigh_time(&t, w->expected[i].error);
        t.last = t.late;
        last = i;
        *pairs += i < box->end[0];
    }
    return weight + ALONE * (box->end[0] - box->from[0] + box->end[1] - box->from[1] - 2 * *pairs);
}

/* Another way that is as long is taken only from the late ones: the first ones are nearer to it. */
static uint32_t choose(const struct align_weigh *w, const struct align_ways *ways,
                       const struct box *box)
{
    uint32_t pairs, others;
    const uint32_t weight = weigh(w, ways, box, ways->match, &pairs);
    const uint32_t other = weigh(w, ways, box, w->longest, &others);

    if (w->late ? others != pairs || other + CLEARLY > weight : others <= pairs || other >= weight)
        return 0;
    for (uint32_t i = box->from[0]; i < box->end[0]; i++)
        ways->match[i] = w->longest[i];
    return others - pairs;
}

/* Returns by how many pairs |match| has grown. */
static uint32_t choose_all(const struct align_weigh *w, const struct align_ways *ways)
{
    struct box box = { .behind = 1 };
    uint32_t grown = 0;

    for (uint32_t i = 0; i < ways->count[0]; i++) {
        int32_t j = ways->match[i];

        if (j < 0 || w->longest[i] != j)
            continue;
        box.end[0] = i;
        box.end[1] = (uint32_t)j;
        grown += choose(w, ways, &box);
        box.late = late_by(&w->expected[i], ways->elements[1][j].time);
        box.from[0] = i + 1;
        box.from[1] = (uint32_t)j + 1;
    }
    if (!ways->all) /* the last ones may belong to what comes */
        return grown;
    box.end[0] = ways->count[0];
    box.end[1] = ways->count[1];
    box.behind = 0;
    return grown + choose(w, ways, &box);
}

static void reverse_keys(const struct align_ways *ways)
{
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0, j = ways->count[side]; i + 1 < j; i++) {
            const uint64_t key = ways->keys[side][i];

            ways->keys[side][i] = ways->keys[side][--j];
            ways->keys[side][j] = key;
        }
}

/* What reversed keys gave. */
static void reverse_longest(struct align_weigh *w, const struct align_ways *ways)
{
    const int32_t end = (int32_t)ways->count[1] - 1;

    for (uint32_t i = 0, j = ways->count[0]; i < j; i++) {
        const int32_t first = w->longest[i], last = w->longest[--j];

        w->longest[i] = last < 0 ? -1 : end - last;
        w->longest[j] = first < 0 ? -1 : end - first;
    }
}

static int find_longest(struct align_weigh *w, const struct align_ways *ways, struct err *err)
{
    int result;

    if (w->late)
        reverse_keys(ways);
    result = align_sequences(ways->keys[0], ways->count[0], ways->keys[1], ways->count[1],
                             w->longest, err);
    if (w->late) {
        reverse_keys(ways);
        reverse_longest(w, ways);
    }
    return result;
}

int align_weigh_anchors(struct align_weigh *w, const struct align *align,
                        const struct align_ways *ways, int pairs, struct err *err)
{
    const uint32_t n = ways->count[0];

    if (n == ways->count[1] && (uint32_t)pairs == n)
        return pairs;
    for (uint32_t i = 0; i < n; i++)
        if (!align->expect(align->ctx, &ways->elements[0][i], &w->expected[i]))
            return pairs;
    for (int late = 0; late < 2; late++) {
        w->late = late;
        if (find_longest(w, ways, err) < 0)
            return -err->code;
        pairs += (int)choose_all(w, ways);
    }
    return pairs;
}
