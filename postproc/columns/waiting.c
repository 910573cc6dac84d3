/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "columns/waiting.h"

void waiting_add(struct waiting *w, const struct row *row)
{
    struct record *record = &w->records[w->count];

    *record = *row->record;
    w->rows[w->count] = *row;
    w->rows[w->count].record = record;
    w->rows[w->count++].at = record;
}

/* With |from| known, the loop over the rows has no choices in it. */
__attribute__((always_inline)) static inline void
load_as(const struct waiting *w, const struct column *column, enum from from, int64_t *numbers)
{
    const struct column known = { .from = (uint8_t)from, .offset = column->offset };

    for (unsigned i = 0; i < w->count; i++)
        numbers[i] = column_number(&known, &w->records[i]);
}

static void load_numbers(const struct waiting *w, const struct column *column, int64_t *numbers)
{
    switch ((enum from)column->from) {
    case FROM_U8:
        load_as(w, column, FROM_U8, numbers);
        break;
    case FROM_U16:
        load_as(w, column, FROM_U16, numbers);
        break;
    case FROM_U32:
        load_as(w, column, FROM_U32, numbers);
        break;
    case FROM_I32:
        load_as(w, column, FROM_I32, numbers);
        break;
    default:
        load_as(w, column, FROM_I64, numbers);
    }
}

/* The rows that have what the column needs, and no value that stands for NULL. */
static uint64_t find_there(const struct waiting *w, const struct column *column,
                           const int64_t *numbers)
{
    uint64_t there = 0;

    if (!column->needs && !column->null)
        return UINT64_MAX;
    for (unsigned i = 0; i < w->count; i++)
        there |= (uint64_t)((w->rows[i].has & column->needs) == column->needs &&
                            !column_is_null(column, numbers[i]))
                 << i;
    return there;
}

int waiting_put(const struct waiting *w, const struct column *column, struct builder *builder)
{
    int64_t numbers[WAITING_ROWS];
    uint64_t there = 0;

    if (column_is_number(column)) {
        load_numbers(w, column, numbers);
        return builder_put_numbers(builder, find_there(w, column, numbers), numbers, w->count);
    }
    for (unsigned i = 0; i < w->count; i++) {
        struct cell cell = { 0 };

        if (column_cell(column, &w->rows[i], &cell) < 0)
            return -ERR_SYSTEM;
        numbers[i] = cell.number;
        there |= (uint64_t)cell.there << i;
    }
    return builder_put_numbers(builder, there, numbers, w->count);
}
