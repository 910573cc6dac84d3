/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "align/time_offsets.h"

#include <stdlib.h>

enum {
    CLIENTS = 256, /* more share */
    STEPS = 1024,  /* of the time of the trace */
    NEAR = 64,     /* so many steps away an offset still counts */
    PART = 4,      /* of the way that a new one moves an offset: one odd pair does little */
    ERROR_START = 10000000, /* ns */
    ERROR_LEAST = 1000,
    /* parts by which the error rises when it was too small, and falls when not: about its 80 %
     * quantile; the first ones teach faster */
    ERROR_UP = 4,
    ERROR_DOWN = 16,
    ERROR_DOWN_FIRST = 3,
    FIRST = 32,
};
#define UNKNOWN INT64_MIN

/* A part of the time of the trace, for a client. */
struct step {
    bool is_noted, has_sure;
    int64_t ref, offset; /* where the pairs of this step lie, and by how much the times differ */
    /* of the sure pairs: the range of the reference's times and of the offsets */
    int64_t first, last, low, high;
    int64_t first_offset, last_offset;
};

struct time_offsets {
    int64_t first;
    uint64_t step;
    int64_t last[CLIENTS], error[CLIENTS];
    uint32_t notes[CLIENTS];           /* up to FIRST */
    struct step steps[CLIENTS][STEPS]; /* untouched pages of what is not noted need no memory */
};

struct time_offsets *time_offsets_new(int64_t first, int64_t last, struct err *err)
{
    struct time_offsets *l = calloc(1, sizeof(*l));

    if (!l) {
        err_memory(err, "aligning");
        return NULL;
    }
    l->first = first;
    l->step = last > first ? ((uint64_t)last - (uint64_t)first) / STEPS + 1 : 1;
    for (int i = 0; i < CLIENTS; i++) {
        l->last[i] = UNKNOWN;
        l->error[i] = ERROR_START;
    }
    return l;
}

void time_offsets_free(struct time_offsets *l)
{
    free(l);
}

static int step_of(const struct time_offsets *l, int64_t ref)
{
    uint64_t since = ref > l->first ? (uint64_t)ref - (uint64_t)l->first : 0;

    return since / l->step < STEPS ? (int)(since / l->step) : STEPS - 1;
}

/* Times come from files, and may be anything. */
static int64_t minus(int64_t a, int64_t b)
{
    int64_t out;

    return __builtin_sub_overflow(a, b, &out) || out == UNKNOWN ? 0 : out;
}

static void note_error(struct time_offsets *l, uint32_t row, int64_t wrong)
{
    int64_t *error = &l->error[row];
    bool first = l->notes[row] < FIRST;

    l->notes[row] += first;
    if (wrong < 0)
        wrong = -wrong;
    if (wrong > *error)
        *error += (wrong / 2 > *error ? wrong / 2 : *error) / ERROR_UP;
    else if (*error > ERROR_LEAST)
        *error -= *error / (first ? ERROR_DOWN_FIRST : ERROR_DOWN);
}

/* The offset at |ref| on the way from one step to another. */
static int64_t between(const struct step *a, const struct step *b, int64_t ref)
{
    const int64_t way = minus(b->ref, a->ref), at = minus(ref, a->ref);

    if (at >= way)
        return b->offset;
    return a->offset + (int64_t)((double)minus(b->offset, a->offset) * ((double)at / (double)way));
}

/* By the pairs so far.  Returns false if there are none. */
static bool estimate(const struct time_offsets *l, int64_t client, int64_t ref, int64_t *sut)
{
    uint32_t row = (uint32_t)((uint64_t)client % CLIENTS);
    const struct step *steps = l->steps[row], *before = NULL, *behind = NULL;
    int64_t offset = l->last[row];
    int step = step_of(l, ref);

    *sut = 0;
    for (int i = 0; i < NEAR && !(before && behind); i++) {
        const struct step *a = step >= i ? &steps[step - i] : NULL;
        const struct step *b = step + i < STEPS ? &steps[step + i] : NULL;

        if (!before && a && a->is_noted && a->ref <= ref)
            before = a;
        if (!behind && b && b->is_noted && b->ref >= ref)
            behind = b;
    }
    if (before && behind)
        offset = between(before, behind, ref);
    else if (before || behind)
        offset = (before ? before : behind)->offset;
    return offset != UNKNOWN && !__builtin_add_overflow(ref, offset, sut);
}

void time_offsets_note(struct time_offsets *l, int64_t client, int64_t ref, int64_t sut)
{
    uint32_t row = (uint32_t)((uint64_t)client % CLIENTS);
    struct step *step = &l->steps[row][step_of(l, ref)];
    int64_t expected; /* without the sure pairs, of which this may be one */

    if (estimate(l, client, ref, &expected))
        note_error(l, row, minus(sut, expected));
    if (step->is_noted) {
        step->offset += minus(minus(sut, ref), step->offset) / PART;
        step->ref += minus(ref, step->ref) / PART;
    } else {
        step->offset = minus(sut, ref);
        step->ref = ref;
    }
    step->is_noted = true;
    l->last[row] = step->offset;
}

static void widen(int64_t *least, int64_t *most, int64_t to)
{
    *least = to < *least ? to : *least;
    *most = to > *most ? to : *most;
}

void time_offsets_note_sure(struct time_offsets *l, int64_t client, int64_t ref, int64_t sut)
{
    struct step *s = &l->steps[(uint64_t)client % CLIENTS][step_of(l, ref)];

    if (!s->has_sure || ref < s->first) {
        s->first = ref;
        s->first_offset = minus(sut, ref);
    }
    if (!s->has_sure || ref > s->last) {
        s->last = ref;
        s->last_offset = minus(sut, ref);
    }
    if (!s->has_sure)
        s->low = s->high = minus(sut, ref);
    s->has_sure = true;
    widen(&s->low, &s->high, minus(sut, ref));
}

/* What may be, by the sure pairs of this step, if |ref| lies between two of them.  Else also by the
 * nearest pair of the step before or behind: one or few pairs do not tell how much the offset
 * changes in a step.  If this step has none, by all of the steps before and behind. */
static bool find_range(const struct time_offsets *l, int64_t client, int64_t ref, int64_t *low,
                       int64_t *high)
{
    const struct step *steps = l->steps[(uint64_t)client % CLIENTS], *before = NULL, *behind = NULL;
    int step = step_of(l, ref);
    const struct step *own = &steps[step];
    int64_t least, most;

    for (int i = 0; i < NEAR && !(before && behind); i++) {
        const struct step *a = step >= i ? &steps[step - i] : NULL;
        const struct step *b = step + i < STEPS ? &steps[step + i] : NULL;

        if (!before && a && a->has_sure && a->first <= ref)
            before = a;
        if (!behind && b && b->has_sure && b->last >= ref)
            behind = b;
    }
    if (!before || !behind) /* offsets may go on to rise or fall */
        return false;
    least = most = before->last_offset;
    widen(&least, &most, behind->first_offset);
    for (int i = 0; i < 2; i++) {
        const struct step *s = i ? behind : before;

        if (s == own || !own->has_sure) {
            widen(&least, &most, s->low);
            widen(&least, &most, s->high);
        }
    }
    return !__builtin_add_overflow(ref, least, low) && !__builtin_add_overflow(ref, most, high);
}

bool time_offsets_expect(const struct time_offsets *l, int64_t client, int64_t ref,
                         struct align_expected *e)
{
    *e = (struct align_expected){ .error = l->error[(uint64_t)client % CLIENTS] };
    if (!estimate(l, client, ref, &e->time))
        return false;
    if (!find_range(l, client, ref, &e->low, &e->high))
        e->low = e->high = e->time;
    else if (minus(e->high, e->low) < e->error) /* it also learned from pairs that were wrong */
        e->error = minus(e->high, e->low) > ERROR_LEAST ? minus(e->high, e->low) : ERROR_LEAST;
    e->time = e->time < e->low ? e->low : e->time > e->high ? e->high : e->time;
    return true;
}
