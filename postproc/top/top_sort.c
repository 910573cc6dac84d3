/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/top_parts.h"

#include <stdlib.h>
#include <string.h>

static uint64_t above_0(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

uint64_t top_value(const struct top_counts *c, enum top_column column)
{
    switch (column) {
    case TOP_OPERATIONS:
        return c->operations;
    case TOP_READ:
        return c->read;
    case TOP_WRITTEN:
        return c->written;
    case TOP_P50:
        return above_0(spread_at(&c->latency, 0.5));
    case TOP_P99:
        return above_0(spread_at(&c->latency, 0.99));
    case TOP_ERRORS:
        return c->errors;
    case TOP_RESENT:
        return c->resent;
    default:
        return c->waiting;
    }
}

struct sorted {
    uint64_t value, operations;
    const struct top_row *row;
};

static int compare(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    if (a->operations != b->operations)
        return a->operations > b->operations ? -1 : 1;
    return strcmp(a->row->label, b->row->label);
}

size_t top_sorted(const struct top *top, enum top_by by, enum top_column column, bool last,
                  const struct top_row **rows, size_t most)
{
    const struct top_table *t = top_table(top, by);
    struct sorted all[TOP_ROWS];
    size_t count = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        const struct top_counts *c = last ? &t->rows[i].last : &t->rows[i].all;

        if (c->operations || c->waiting || c->resent)
            all[count++] = (struct sorted){ top_value(c, column), c->operations, &t->rows[i] };
    }
    qsort(all, count, sizeof(*all), compare);
    if (count > most)
        count = most;
    for (size_t i = 0; i < count; i++)
        rows[i] = all[i].row;
    return count;
}
