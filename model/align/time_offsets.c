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
            l->of[i][j] = UNKNOWN;
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

void time_offsets_note(struct time_offsets *l, int64_t client, int64_t ref, int64_t sut)
{
    uint32_t row = (uint32_t)((uint64_t)client % CLIENTS);
    int64_t *offset = &l->of[row][step_of(l, ref)], new = minus(sut, ref), expected, error;

    if (time_offsets_expect(l, client, ref, &expected, &error))
        note_error(l, row, minus(sut, expected));
    *offset = *offset == UNKNOWN ? new : *offset + minus(new, *offset) / PART;
    l->last[row] = *offset;
}

bool time_offsets_expect(const struct time_offsets *l, int64_t client, int64_t ref, int64_t *sut,
                         int64_t *error)
{
    const int64_t *of = l->of[(uint64_t)client % CLIENTS];
    int64_t offset = l->last[(uint64_t)client % CLIENTS];
    int step = step_of(l, ref);

    *sut = 0;
    *error = l->error[(uint64_t)client % CLIENTS];
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
