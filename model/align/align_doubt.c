/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_doubt.c
 *
 * From each request that is alone, this goes to the like ones of the other side that may belong to
 * it, and from each of these to its counterpart, which would be alone instead, and so on.  No pair
 * on these ways is sure.  Other requests stay in their order: what lies behind one that was
 * answered before it was sent does not belong to what lies before that.  What repeats a request
 * that failed stands for no other one.
 */
#include "align/align_doubt.h"
#include "align/align_late.h"
#include "align/align_like.h"

#include <stdlib.h>

struct align_doubt {
    struct align_like like[2][ALIGN_WINDOW];
    struct align_expected expected[ALIGN_WINDOW]; /* of the reference's */
    int32_t other[2][ALIGN_WINDOW];               /* index of the counterpart, or -1 */
    int32_t back[ALIGN_WINDOW];                   /* of the sut's: counterpart in order, or -1 */
    uint32_t place[ALIGN_WINDOW];                 /* of the reference's: in the sut's order */
    bool reached[2][ALIGN_WINDOW];
    uint32_t queue[2 * ALIGN_WINDOW]; /* 2 * index + side */
    uint32_t first, last;
    uint32_t steps; /* that may still be gone */
};

enum { STEPS_MAX = 1 << 24 };

struct group {
    const struct align_like *like[2];
    uint32_t count[2];
};

struct align_doubt *align_doubt_new(void)
{
    return malloc(sizeof(struct align_doubt));
}

void align_doubt_free(struct align_doubt *d)
{
    free(d);
}

static void reach(struct align_doubt *d, int side, uint32_t index)
{
    if (d->reached[side][index])
        return;
    d->reached[side][index] = true;
    d->queue[d->last++] = 2 * index + (uint32_t)side;
}

static bool passes_others(struct align_doubt *d, const struct align_pairs *p, uint32_t ref,
                          uint32_t sut)
{
    const struct align_element *a = p->elements[0], *b = p->elements[1];
    uint32_t place = d->place[ref], passed = 0;
    uint32_t from = sut < place ? sut + 1 : place, to = sut < place ? place : sut;

    d->steps -= to - from < d->steps ? to - from : d->steps;
    for (uint32_t k = from; k < to; k++) {
        if (d->back[k] < 0 || b[k].key == b[sut].key)
            continue;
        if (++passed > LATE_REACH ||
            (!align_were_together(&a[ref], &a[d->back[k]]) && !align_were_together(&b[sut], &b[k])))
            return true;
    }
    return false;
}

static bool may_belong(struct align_doubt *d, const struct align_pairs *p, uint32_t ref,
                       uint32_t sut)
{
    const struct align_expected *e = &d->expected[ref];
    int64_t time = p->elements[1][sut].time;

    return e->low < e->high && time >= e->low && time <= e->high && !passes_others(d, p, ref, sut);
}

/* |index| of |side| would be alone: whose counterpart could it have? */
static void follow(struct align_doubt *d, const struct align_pairs *p, const struct group *g,
                   int side, uint32_t index)
{
    for (uint32_t k = 0; d->steps > 0 && k < g->count[!side]; k++) {
        uint32_t at = g->like[!side][k].index;
        uint32_t ref = side ? at : index, sut = side ? index : at;
        int32_t other = d->other[!side][at];

        d->steps--;
        if (other == (int32_t)index || p->elements[!side][at].again || !may_belong(d, p, ref, sut))
            continue;
        p->elements[side][index].doubtful = true;
        if (other >= 0)
            reach(d, side, (uint32_t)other);
    }
}

static uint32_t look_through(struct align_doubt *d, const struct align_pairs *p,
                             const struct group *g)
{
    uint32_t apart = 0;

    d->first = d->last = 0;
    for (int side = 0; side < 2; side++)
        for (uint32_t k = 0; k < g->count[side]; k++) {
            uint32_t index = g->like[side][k].index;

            if (d->other[side][index] < 0 && index < p->end[side] &&
                !p->elements[side][index].again)
                reach(d, side, index);
        }
    while (d->first < d->last) {
        int side = d->queue[d->first] & 1;
        uint32_t index = d->queue[d->first++] / 2;
        int32_t other = d->other[side][index];

        follow(d, p, g, side, index);
        if (other < 0)
            continue;
        p->elements[side][index].doubtful = p->elements[!side][other].doubtful = true;
        index = side ? (uint32_t)other : index;
        apart += p->match[index] >= 0;
        p->match[index] = p->passed[index] = -1;
    }
    return apart;
}

/* Returns false if nothing is known of the times, or if nothing is alone. */
static bool prepare(struct align_doubt *d, const struct align *align, const struct align_pairs *p)
{
    bool is_alone = false;
    uint32_t place = 0;

    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < p->count[side]; i++) {
            const struct align_element *e = &p->elements[side][i];

            d->other[side][i] = d->back[i] = -1;
            d->reached[side][i] = false;
            d->like[side][i] = (struct align_like){ e->key, e->time, i };
        }
    for (uint32_t i = 0; i < p->count[0]; i++) {
        int32_t j = p->match[i] >= 0 ? p->match[i] : p->passed[i];

        d->place[i] = place;
        if (p->match[i] >= 0) {
            d->back[j] = (int32_t)i;
            place = (uint32_t)j + 1;
        }
        d->other[0][i] = j;
        if (j >= 0)
            d->other[1][j] = (int32_t)i;
    }
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < p->end[side]; i++)
            is_alone = is_alone || d->other[side][i] < 0;
    for (uint32_t i = 0; is_alone && i < p->count[0]; i++)
        if (!align->expect(align->ctx, &p->elements[0][i], &d->expected[i]))
            return false;
    return is_alone;
}

uint32_t align_doubt_find(struct align_doubt *d, const struct align *align,
                          const struct align_pairs *p)
{
    uint32_t i = 0, j = 0, apart = 0;

    if (!prepare(d, align, p))
        return 0;
    d->steps = STEPS_MAX;
    for (int side = 0; side < 2; side++)
        align_like_sort(d->like[side], p->count[side]);
    while (i < p->count[0] && j < p->count[1]) {
        const struct align_like *x = &d->like[0][i], *y = &d->like[1][j];
        const struct group g = { { x, y },
                                 { align_like_end(d->like[0], p->count[0], i) - i,
                                   align_like_end(d->like[1], p->count[1], j) - j } };

        if (x->key == y->key)
            apart += look_through(d, p, &g);
        i += x->key <= y->key ? g.count[0] : 0;
        j += y->key <= x->key ? g.count[1] : 0;
    }
    return apart;
}
