/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/top_parts.h"

#include <stdlib.h>
#include <string.h>

void top_counts_merge(struct top_counts *to, const struct top_counts *from)
{
    to->operations += from->operations;
    to->errors += from->errors;
    to->unanswered += from->unanswered;
    to->read += from->read;
    to->written += from->written;
    to->resent += from->resent;
    to->waiting += from->waiting;
    spread_merge(&to->latency, &from->latency);
}

struct top_row *rows_find(struct top_table *t, uint64_t key)
{
    uint32_t at;

    for (uint32_t slot = table_first(&t->index, key, &at); slot != TABLE_NONE;
         slot = table_next(&t->index, key, &at))
        if (t->rows[slot].key == key)
            return &t->rows[slot];
    return NULL;
}

struct top_row *rows_add(struct top_table *t, uint64_t key, const char *label)
{
    size_t len = strlen(label), skip = 0;
    struct top_row *row;

    if (!t->rows && !(t->rows = calloc(TOP_ROWS, sizeof(*t->rows))))
        return NULL;
    if (t->count == TOP_ROWS || table_add(&t->index, key, t->count) < 0)
        return NULL;
    row = &t->rows[t->count++];
    memset(row, 0, sizeof(*row));
    row->key = key;
    if (len >= TOP_LABEL) { /* the end of a path says more; not from the middle of a character */
        memcpy(row->label, "...", 3);
        skip = len - (TOP_LABEL - 4);
        while ((label[skip] & 0xc0) == 0x80)
            skip++;
    }
    memcpy(row->label + (skip ? 3 : 0), label + skip, len - skip + 1);
    return row;
}

/* What did the least lately comes first, then what did the least at all. */
static int compare_rows(const void *left, const void *right)
{
    const struct top_row *a = left, *b = right;

    if (a->now.operations != b->now.operations)
        return a->now.operations < b->now.operations ? -1 : 1;
    if (a->all.operations != b->all.operations)
        return a->all.operations < b->all.operations ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

void rows_next(struct top_table *t)
{
    uint32_t drop = TOP_ROWS / 4;

    if (t->count < TOP_ROWS)
        return;
    qsort(t->rows, t->count, sizeof(*t->rows), compare_rows);
    for (uint32_t i = 0; i < drop; i++) {
        top_counts_merge(&t->others_now, &t->rows[i].now);
        top_counts_merge(&t->others_all, &t->rows[i].all);
    }
    t->lost += drop;
    t->count -= drop;
    memmove(t->rows, t->rows + drop, t->count * sizeof(*t->rows));
    table_clear(&t->index);
    for (uint32_t i = 0; i < t->count; i++)
        table_add(&t->index, t->rows[i].key, i); /* there was room for more */
}

void rows_free(struct top_table *t)
{
    free(t->rows);
    table_free(&t->index);
}
