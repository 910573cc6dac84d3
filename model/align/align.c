/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align.c
 *
 * Myers's greedy algorithm: for each number of edits d, it finds the furthest place on each
 * diagonal k = x - y that d edits reach.  The rows of places are kept, and the path is traced back
 * through them.
 */
#include "align/align.h"
#include "align/align_again.h"
#include "align/align_anchor.h"
#include "align/align_doubt.h"
#include "align/align_late.h"
#include "align/align_weigh.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

struct search {
    const uint64_t *a, *b;
    int32_t n, m;
    int32_t *rows; /* row d has 2d + 1 places, from d * d on */
    size_t cap;    /* of |rows| */
    int32_t *match;
    int32_t offset_a, offset_b; /* of |a| and |b| in the whole sequences */
    uint32_t count;
};

static int32_t *row_at(const struct search *s, int32_t d)
{
    return s->rows + (size_t)d * (size_t)d + (size_t)d; /* index k in -d..d */
}

static bool reserve_row(struct search *s, int32_t d)
{
    return GROW_TO(s->rows, (size_t)(d + 1) * (size_t)(d + 1), s->cap) == 0;
}

/* Where d edits come to on diagonal k before what is equal; x may pass |n|, or y |m|. */
static int32_t step_to(const struct search *s, int32_t d, int32_t k)
{
    const int32_t *before = row_at(s, d - 1);
    int32_t down = k < d - 1 ? before[k + 1] : -1;         /* an element of b is inserted */
    int32_t right = k > -(d - 1) ? before[k - 1] + 1 : -1; /* one of a is left out */

    return down > right ? down : right;
}

/* Matches what is equal along the way from the start to diagonal k with d edits. */
static void walk_back(struct search *s, int32_t d, int32_t k)
{
    int32_t x = row_at(s, d)[k];

    for (;; d--) {
        int32_t start = d ? step_to(s, d, k) : 0;

        for (; x > start; x--) {
            s->match[s->offset_a + x - 1] = s->offset_b + x - 1 - k;
            s->count++;
        }
        if (!d)
            return;
        if (k < d - 1 && row_at(s, d - 1)[k + 1] == start) {
            k++; /* down: x stays */
        } else {
            k--;
            start--;
        }
        x = start;
    }
}

/* Aligns from the start on: to the end of both, or as far as ALIGN_EDITS edits lead. */
static int search_once(struct search *s, int32_t *end_x, int32_t *end_y, struct err *err)
{
    int32_t best_k = 0, best = -1;

    for (int32_t d = 0;; d++) {
        int32_t *row;

        if (!reserve_row(s, d))
            return err_memory(err, "aligning");
        row = row_at(s, d);
        best = -1;
        for (int32_t k = -d; k <= d; k++)
            row[k] = -1; /* every other diagonal is out of reach */
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t x = d ? step_to(s, d, k) : 0, y = x - k;

            if (x < 0 || x > s->n || y < 0 || y > s->m)
                continue;
            while (x < s->n && y < s->m && s->a[x] == s->b[y]) {
                x++;
                y++;
            }
            row[k] = x;
            if (x + y > best) {
                best = x + y;
                best_k = k;
            }
            if (x == s->n && y == s->m)
                break;
        }
        if (best == s->n + s->m || d == ALIGN_EDITS) {
            *end_x = row[best_k];
            *end_y = *end_x - best_k;
            walk_back(s, d, best_k);
            return 0;
        }
    }
}

int align_sequences(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count,
                    int32_t *match, struct err *err)
{
    struct search s = { .match = match };
    int32_t x = 0, y = 0;
    int result = 0;

    for (uint32_t i = 0; i < a_count; i++)
        match[i] = -1;
    while (result == 0 && (s.offset_a < (int32_t)a_count || s.offset_b < (int32_t)b_count)) {
        s.a = a + s.offset_a;
        s.b = b + s.offset_b;
        s.n = (int32_t)a_count - s.offset_a;
        s.m = (int32_t)b_count - s.offset_b;
        result = search_once(&s, &x, &y, err);
        s.offset_a += x;
        s.offset_b += y;
    }
    free(s.rows);
    return result < 0 ? result : (int)s.count;
}

struct window {
    struct align_element *elements;
    uint32_t count;
    bool ended;
};

struct align_windows {
    const struct align *align;
    struct window side[2];
    uint64_t *keys[2];
    int32_t *match, *passed; /* of side 0: indexes in side 1, in its order and out of it */
    int32_t *passed_back;    /* of side 1 */
    struct align_anchors *anchors;
    struct align_late *late;
    struct align_doubt *doubt;
    struct align_weigh *weigh;
    struct err *err;
};

static int fill(struct align_windows *r, int side, uint32_t want)
{
    struct window *w = &r->side[side];
    int result = 1;

    while (!w->ended && w->count < want && result > 0) {
        result = r->align->next(r->align->ctx, side, &w->elements[w->count], r->err);
        if (result > 0)
            w->count++;
        else if (result == 0)
            w->ended = true;
    }
    return result < 0 ? result : 0;
}

static void drop(struct window *w, uint32_t n)
{
    w->count -= n;
    memmove(w->elements, w->elements + n, w->count * sizeof(*w->elements));
}

/* Drops the first |n|, but for those that are paired with one behind the first |other|. */
static void drop_but(struct window *w, uint32_t n, const int32_t *passed, uint32_t other)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++)
        if (passed[i] >= (int32_t)other)
            w->elements[kept++] = w->elements[i];
    memmove(w->elements + kept, w->elements + n, (w->count - n) * sizeof(*w->elements));
    w->count -= n - kept;
}

/* Those without a counterpart, up to |end|. */
static int put_alone(struct align_windows *r, uint32_t *j, uint32_t end)
{
    int result = 0;

    for (; result == 0 && *j < end; ++*j)
        if (r->passed_back[*j] < 0)
            result = r->align->put(r->align->ctx, NULL, &r->side[1].elements[*j], r->err);
    return result;
}

/* Puts the first |a| and |b| elements out, as |match| and |passed| have them; those of a pair of
 * which only one is among them stay. */
static int put_first(struct align_windows *r, uint32_t a, uint32_t b)
{
    const struct align_element *ref = r->side[0].elements, *sut = r->side[1].elements;
    uint32_t i = 0, j = 0;
    int result = 0;

    for (; result == 0 && i < a; i++) {
        const struct align_element *other = NULL;

        if (r->match[i] >= 0 && (uint32_t)r->match[i] < b) {
            result = put_alone(r, &j, (uint32_t)r->match[i]);
            other = &sut[j++];
        } else if (r->passed[i] >= 0) {
            if ((uint32_t)r->passed[i] >= b)
                continue;
            other = &sut[r->passed[i]];
        }
        if (result == 0)
            result = r->align->put(r->align->ctx, &ref[i], other, r->err);
    }
    if (result == 0)
        result = put_alone(r, &j, b);
    drop_but(&r->side[0], a, r->passed, b);
    drop_but(&r->side[1], b, r->passed_back, a);
    return result;
}

/* What came out of order; it needs something that did not to have a place. */
static void find_passed(struct align_windows *r, bool any)
{
    uint32_t n = r->side[0].count, m = r->side[1].count;

    for (uint32_t j = 0; j < m; j++)
        r->passed_back[j] = -1;
    for (uint32_t i = 0; i < n; i++)
        r->passed[i] = -1;
    if (!any || !align_late_find(r->late, r->side[0].elements, n, r->side[1].elements, m, r->match,
                                 r->passed))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (r->passed[i] >= 0)
            r->passed_back[r->passed[i]] = (int32_t)i;
}

static int64_t apart(int64_t a, int64_t b)
{
    return (int64_t)((a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a) / 2);
}

static bool may_be(const struct align_expected *e, const struct align_element *sut)
{
    return e->low < e->high && sut->time >= e->low && sut->time <= e->high;
}

/* Whether there is a like request nearby that is clearly closer to when it is expected, or that may
 * belong to one of the two as well. */
static bool is_doubtful(const struct align_windows *r, uint32_t at)
{
    const struct align *align = r->align;
    const struct align_element *ref = r->side[0].elements, *sut = r->side[1].elements;
    struct align_expected e, other;
    int64_t distance;

    if (!align->expect(align->ctx, &ref[at], &e))
        return false;
    distance = apart(e.time, sut[at].time);
    for (uint32_t i = at + 1; i <= at + ALIGN_LIKE; i++) {
        bool is_far = distance > e.error;

        if (i < r->side[1].count && sut[i].key == ref[at].key &&
            ((is_far && apart(e.time, sut[i].time) < distance / 2) || may_be(&e, &sut[i])))
            return true;
        if (i < r->side[0].count && ref[i].key == sut[at].key &&
            align->expect(align->ctx, &ref[i], &other) &&
            ((is_far && apart(other.time, sut[at].time) < distance / 2) ||
             may_be(&other, &sut[at])))
            return true;
    }
    return false;
}

/* What is equal at the front needs no search. */
static int put_equal(struct align_windows *r, bool *progress)
{
    const struct align_element *ref = r->side[0].elements, *sut = r->side[1].elements;
    uint32_t n = 0;
    int result = 0;

    while (result == 0 && n < r->side[0].count && n < r->side[1].count &&
           ref[n].key == sut[n].key && !is_doubtful(r, n)) {
        result = r->align->put(r->align->ctx, &ref[n], &sut[n], r->err);
        n++;
    }
    drop(&r->side[0], n);
    drop(&r->side[1], n);
    *progress = n > 0;
    return result;
}

/* What is between anchors.  Returns how many pairs there are. */
static int align_between(struct align_windows *r, uint32_t n, uint32_t m)
{
    uint32_t a = 0, b = 0;
    int count = 0;

    for (uint32_t i = 0; i <= n; i++) {
        uint32_t j = i < n ? (uint32_t)r->match[i] : m;
        int found;

        if (i < n && r->match[i] < 0)
            continue;
        found = align_sequences(r->keys[0] + a, i - a, r->keys[1] + b, j - b, r->match + a, r->err);
        if (found < 0)
            return found;
        for (; a < i; a++)
            if (r->match[a] >= 0)
                r->match[a] += (int32_t)b;
        count += found + (i < n);
        a = i + 1;
        b = j + 1;
    }
    return count;
}

/* Pairs what failed instead of what repeats it, and takes pairs apart that may be others.  Returns
 * how many of |match| are left. */
static int part_doubtful(struct align_windows *r, int pairs, bool all)
{
    struct align_pairs p = { .match = r->match, .passed = r->passed };

    for (int side = 0; side < 2; side++) {
        p.elements[side] = r->side[side].elements;
        p.count[side] = r->side[side].count;
        p.end[side] = all ? p.count[side] : p.count[side] - p.count[side] / 4;
        for (uint32_t i = 0; i < p.count[side]; i++)
            p.elements[side][i].doubtful = false;
    }
    align_again_pair_first(&p, r->passed_back);
    pairs -= (int)align_doubt_find(r->doubt, r->align, &p);
    for (uint32_t j = 0; j < p.count[1]; j++)
        if (r->passed_back[j] >= 0 && r->passed[r->passed_back[j]] < 0)
            r->passed_back[j] = -1;
    return pairs;
}

/* Pairs those in order.  Returns how many pairs there are. */
static int align_in_order(struct align_windows *r, bool all)
{
    const struct align_ways ways = { .elements = { r->side[0].elements, r->side[1].elements },
                                     .keys = { r->keys[0], r->keys[1] },
                                     .count = { r->side[0].count, r->side[1].count },
                                     .match = r->match,
                                     .all = all };
    int pairs;

    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < ways.count[side]; i++)
            r->keys[side][i] = ways.elements[side][i].key;
    align_anchors_find(r->anchors, r->align, ways.elements[0], ways.count[0], ways.elements[1],
                       ways.count[1], r->match);
    pairs = align_between(r, ways.count[0], ways.count[1]);
    return pairs < 0 ? pairs : align_weigh_anchors(r->weigh, r->align, &ways, pairs, r->err);
}

/* Aligns the windows and puts out what is final. */
static int put_aligned(struct align_windows *r)
{
    uint32_t n = r->side[0].count, m = r->side[1].count, a, b;
    bool all = r->side[0].ended && r->side[1].ended, any = false;
    int result;

    result = align_in_order(r, all);
    if (result < 0)
        return result;
    find_passed(r, result > 0);
    result = part_doubtful(r, result, all);
    a = n - n / 4;
    b = m - m / 4;
    if (!all && result) {
        uint32_t last_a = 0, last_b = 0;

        for (uint32_t i = 0; i < n; i++)
            if (r->match[i] >= 0 && (!any || (i < a && (uint32_t)r->match[i] < b))) {
                last_a = i + 1;
                last_b = (uint32_t)r->match[i] + 1;
                any = true;
            }
        a = last_a;
        b = last_b;
    }
    return all ? put_first(r, n, m) : put_first(r, a, b);
}

static int run(struct align_windows *r)
{
    bool progress;
    int result;

    for (;;) {
        for (int side = 0; side < 2; side++)
            if ((result = fill(r, side, 256)) < 0)
                return result;
        if ((result = put_equal(r, &progress)) < 0)
            return result;
        if (progress)
            continue;
        for (int side = 0; side < 2; side++)
            if ((result = fill(r, side, ALIGN_WINDOW)) < 0)
                return result;
        if (!r->side[0].count && !r->side[1].count)
            return 0;
        if ((result = put_aligned(r)) < 0)
            return result;
    }
}

struct align_windows *align_open(struct err *err)
{
    struct align_windows *w = calloc(1, sizeof(*w));
    bool ok = w && (w->match = calloc(ALIGN_WINDOW, sizeof(int32_t))) &&
              (w->passed = calloc(ALIGN_WINDOW, sizeof(int32_t))) &&
              (w->passed_back = calloc(ALIGN_WINDOW, sizeof(int32_t))) &&
              (w->anchors = align_anchors_new()) && (w->late = align_late_new()) &&
              (w->doubt = align_doubt_new()) && (w->weigh = align_weigh_new());

    for (int side = 0; ok && side < 2; side++) {
        w->side[side].elements = calloc(ALIGN_WINDOW, sizeof(struct align_element));
        w->keys[side] = calloc(ALIGN_WINDOW, sizeof(uint64_t));
        ok = w->side[side].elements && w->keys[side];
    }
    if (ok)
        return w;
    align_close(w);
    err_memory(err, "aligning");
    return NULL;
}

void align_close(struct align_windows *w)
{
    for (int side = 0; w && side < 2; side++) {
        free(w->side[side].elements);
        free(w->keys[side]);
    }
    if (w) {
        free(w->match);
        free(w->passed);
        free(w->passed_back);
        align_late_free(w->late);
        align_doubt_free(w->doubt);
        align_weigh_free(w->weigh);
        align_anchors_free(w->anchors);
    }
    free(w);
}

int align_run(struct align_windows *w, const struct align *align, struct err *err)
{
    w->align = align;
    w->err = err;
    for (int side = 0; side < 2; side++) {
        w->side[side].count = 0;
        w->side[side].ended = false;
    }
    return run(w);
}
