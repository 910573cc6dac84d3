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

struct time_offsets {
    int64_t first;
    uint64_t step;
    int64_t last[CLIENTS], error[CLIENTS];
    uint32_t notes[CLIENTS]; /* up to FIRST */
    int64_t of[CLIENTS][STEPS];
    int64_t low[CLIENTS][STEPS], high[CLIENTS][STEPS]; /* of the sure pairs */
};

struct time_offsets *time_offsets_new(int64_t first, int64_t last, struct err *err)
{
    struct time_offsets *l = malloc(sizeof(*l));

    if (!l) {
        err_memory(err, "aligning");
        return NULL;
    }
    l->first = first;
    l->step = last > first ? ((uint64_t)last - (uint64_t)first) / STEPS + 1 : 1;
    for (int i = 0; i < CLIENTS; i++) {
        l->last[i] = UNKNOWN;
        l->error[i] = ERROR_START;
        l->notes[i] = 0;
        for (int j = 0; j < STEPS; j++)
            l->of[i][j] = l->low[i][j] = UNKNOWN;
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

/* By the pairs so far.  Returns false if there are none. */
static bool estimate(const struct time_offsets *l, int64_t client, int64_t ref, int64_t *sut)
{
    const int64_t *of = l->of[(uint64_t)client % CLIENTS];
    int64_t offset = l->last[(uint64_t)client % CLIENTS];
    int step = step_of(l, ref);

    *sut = 0;
    for (int i = 0; i < NEAR; i++) {
        if (step >= i && of[step - i] != UNKNOWN) {
            offset = of[step - i];
            break;
        }
        if (step + i < STEPS && of[step + i] != UNKNOWN) {
            offset = of[step + i];
            break;
        }
    }
    return offset != UNKNOWN && !__builtin_add_overflow(ref, offset, sut);
}

void time_offsets_note(struct time_offsets *l, int64_t client, int64_t ref, int64_t sut)
{
    uint32_t row = (uint32_t)((uint64_t)client % CLIENTS);
    int64_t *offset = &l->of[row][step_of(l, ref)], new = minus(sut, ref);
    int64_t expected; /* without the sure pairs, of which this may be one */

    if (estimate(l, client, ref, &expected))
        note_error(l, row, minus(sut, expected));
    *offset = *offset == UNKNOWN ? new : *offset + minus(new, *offset) / PART;
    l->last[row] = *offset;
}

void time_offsets_note_sure(struct time_offsets *l, int64_t client, int64_t ref, int64_t sut)
{
    uint32_t row = (uint32_t)((uint64_t)client % CLIENTS);
    int step = step_of(l, ref);
    int64_t *low = &l->low[row][step], *high = &l->high[row][step], new = minus(sut, ref);

    if (*low == UNKNOWN)
        *low = *high = new;
    *low = new < *low ? new : *low;
    *high = new > *high ? new : *high;
}

/* The nearest step with sure pairs, before and behind; of both the range is what may be. */
static bool find_range(const struct time_offsets *l, int64_t client, int64_t ref, int64_t *low,
                       int64_t *high)
{
    uint32_t row = (uint32_t)((uint64_t)client % CLIENTS);
    const int64_t *lows = l->low[row], *highs = l->high[row];
    int step = step_of(l, ref), found[2] = { -1, -1 };
    int64_t least, most;

    for (int i = 0; i < NEAR; i++) {
        if (found[0] < 0 && step >= i && lows[step - i] != UNKNOWN)
            found[0] = step - i;
        if (found[1] < 0 && step + i < STEPS && lows[step + i] != UNKNOWN)
            found[1] = step + i;
    }
    if (found[0] < 0 || found[1] < 0) /* offsets may go on to rise or fall */
        return false;
    least = lows[found[0]] < lows[found[1]] ? lows[found[0]] : lows[found[1]];
    most = highs[found[0]] > highs[found[1]] ? highs[found[0]] : highs[found[1]];
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
