/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/quantiles.c
 *
 * Each percentile is a search for the value of a rank in a range.  In each round, all values are
 * read once.  A search whose range holds few values collects them, and sorts them; another one
 * divides its range into cells, counts the values in each, and goes on with the cell that has the
 * rank.  As many groups are searched at a time as the memory for cells allows.  For
 * operation_groups.c.  The contract is in quantiles.h.
 */
#include "store/quantiles.h"
#include "base/grow.h"
#include "base/temporary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUES_IN_MEMORY = 1 << 20,
    CELLS = 4096, /* of a search */
    CELLS_OF_ALL = 2 << 20,
};

const unsigned quantiles_percent[QUANTILES] = { 50, 90, 99 };

struct value {
    int64_t value;
    uint32_t groups[QUANTILES_DIMENSIONS];
};

/* The values from |low| to |high| of a group: |count| of them, among which |rank| is looked for. */
struct search {
    int64_t low, high;
    uint64_t count, rank;
    unsigned shift; /* a cell has 2^shift values */
    bool collects, done;
    uint32_t used;   /* cells that hold a collected value */
    uint64_t *cells; /* counters, or values as offsets from |low| */
};

struct quantiles {
    struct value *values; /* the last ones put; earlier ones are in the file */
    uint32_t count, cap;
    struct temporary *file;                /* NULL: there are no more */
    uint32_t *index[QUANTILES_DIMENSIONS]; /* group to its place among the current searches */
    uint64_t groups[QUANTILES_DIMENSIONS]; /* number of groups */
    struct search (*searches)[QUANTILES];  /* of the groups that are searched at a time */
    uint64_t *cells;
};

struct quantiles *quantiles_new(struct err *err)
{
    struct quantiles *q = calloc(1, sizeof(*q));

    if (!q)
        err_memory(err, "latencies");
    return q;
}

void quantiles_free(struct quantiles *q)
{
    if (!q)
        return;
    for (int d = 0; d < QUANTILES_DIMENSIONS; d++)
        free(q->index[d]);
    temporary_free(q->file);
    free(q->searches);
    free(q->cells);
    free(q->values);
    free(q);
}

static int spill(struct quantiles *q, struct err *err)
{
    if (!q->file)
        q->file = temporary_new("latencies", err);
    if (!q->file || temporary_write(q->file, q->values, q->count * sizeof(*q->values), err) < 0)
        return -err->code;
    q->count = 0;
    return 0;
}

int quantiles_put(struct quantiles *q, int64_t value, const uint32_t groups[QUANTILES_DIMENSIONS],
                  struct err *err)
{
    if (q->count == VALUES_IN_MEMORY && spill(q, err) < 0)
        return -err->code;
    if (GROW(q->values, q->count, q->cap) < 0)
        return err_memory(err, "latencies");
    q->values[q->count].value = value;
    memcpy(q->values[q->count].groups, groups, sizeof(q->values->groups));
    q->count++;
    for (int d = 0; d < QUANTILES_DIMENSIONS; d++)
        if (groups[d] != QUANTILES_NO_GROUP && groups[d] >= q->groups[d])
            q->groups[d] = (uint64_t)groups[d] + 1;
    return 0;
}

static uint64_t offset_of(const struct search *s, int64_t value)
{
    return (uint64_t)value - (uint64_t)s->low;
}

static void see(struct search *s, int64_t value)
{
    uint64_t offset = offset_of(s, value);

    if (s->done || value < s->low || value > s->high)
        return;
    if (!s->collects)
        s->cells[offset >> s->shift]++;
    else if (s->used < s->count)
        s->cells[s->used++] = offset;
}

static void see_values(struct quantiles *q, const struct value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (int d = 0; d < QUANTILES_DIMENSIONS; d++) {
            uint32_t group = values[i].groups[d], at;

            if (group == QUANTILES_NO_GROUP || !q->index[d])
                continue;
            at = q->index[d][group];
            for (int p = 0; at != QUANTILES_NO_GROUP && p < QUANTILES; p++)
                see(&q->searches[at][p], values[i].value);
        }
}

static int see_all(struct quantiles *q, struct err *err)
{
    enum { AT_ONCE = 512 };
    struct value values[AT_ONCE];
    int result = 0;

    /* VALUES_IN_MEMORY is a multiple of AT_ONCE, so no read gets a part only */
    if (q->file && temporary_rewind(q->file, err) < 0)
        return -err->code;
    while (q->file && (result = temporary_read(q->file, values, sizeof(values), err)) > 0)
        see_values(q, values, AT_ONCE);
    if (result < 0)
        return result;
    see_values(q, q->values, q->count);
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* What a round has found: the value, or a smaller range. */
static void narrow(struct search *s)
{
    uint64_t cell = 0;

    if (s->collects) {
        qsort(s->cells, s->used, sizeof(*s->cells), by_value);
        s->low = (int64_t)((uint64_t)s->low + s->cells[s->rank - 1]);
        s->done = true;
        return;
    }
    while (s->rank > s->cells[cell])
        s->rank -= s->cells[cell++];
    s->count = s->cells[cell];
    s->low = (int64_t)((uint64_t)s->low + (cell << s->shift));
    if (offset_of(s, s->high) >> s->shift)
        s->high = (int64_t)((uint64_t)s->low + (UINT64_C(1) << s->shift) - 1);
    s->done = s->low == s->high;
}

/* Prepares the next round of the searches |first| to |last| - 1.  Returns whether there is one. */
static bool next_round(struct quantiles *q, size_t groups)
{
    uint64_t *cells = q->cells;
    bool any = false;

    for (size_t i = 0; i < groups; i++)
        for (int p = 0; p < QUANTILES; p++) {
            struct search *s = &q->searches[i][p];

            if (s->done)
                continue;
            any = true;
            s->collects = s->count <= CELLS;
            s->used = 0;
            s->cells = cells;
            s->shift = 0;
            while (offset_of(s, s->high) >> s->shift >= CELLS)
                s->shift++;
            if (!s->collects)
                memset(cells, 0, CELLS * sizeof(*cells));
            cells += s->collects ? s->count : CELLS;
        }
    return any;
}

static int search(struct quantiles *q, size_t groups, struct err *err)
{
    while (next_round(q, groups)) {
        if (see_all(q, err) < 0)
            return -err->code;
        for (size_t i = 0; i < groups; i++)
            for (int p = 0; p < QUANTILES; p++)
                if (!q->searches[i][p].done)
                    narrow(&q->searches[i][p]);
    }
    return 0;
}

static uint64_t cells_of(const struct quantiles_wanted *w)
{
    return QUANTILES * (w->count < CELLS ? w->count : CELLS);
}

static void begin(struct quantiles *q, uint32_t at, const struct quantiles_wanted *w)
{
    q->index[w->dimension][w->group] = at;
    for (int p = 0; p < QUANTILES; p++)
        q->searches[at][p] = (struct search){
            .low = w->least,
            .high = w->most,
            .count = w->count,
            /* count * percent / 100, rounded up, without an overflow */
            .rank = w->count / 100 * quantiles_percent[p] +
                    (w->count % 100 * quantiles_percent[p] + 99) / 100,
            .done = w->least == w->most,
        };
}

static int make_room(struct quantiles *q, size_t searches, struct err *err)
{
    free(q->searches);
    q->searches = calloc(searches, sizeof(*q->searches));
    if (!q->cells)
        q->cells = malloc(CELLS_OF_ALL * sizeof(*q->cells));
    for (int d = 0; d < QUANTILES_DIMENSIONS; d++) {
        if (!q->index[d] && q->groups[d])
            q->index[d] = malloc(q->groups[d] * sizeof(*q->index[d]));
        if (q->groups[d] && !q->index[d])
            return err_memory(err, "percentiles");
    }
    return q->searches && q->cells ? 0 : err_memory(err, "percentiles");
}

int quantiles_find(struct quantiles *q, struct quantiles_wanted *wanted, size_t count,
                   struct err *err)
{
    enum { SEARCHES = 1 << 16 };

    if (!count)
        return 0;
    if (make_room(q, count < SEARCHES ? count : SEARCHES, err) < 0)
        return -err->code;
    for (size_t from = 0, to; from < count; from = to) {
        uint64_t cells = 0;

        for (int d = 0; d < QUANTILES_DIMENSIONS; d++)
            if (q->index[d])
                memset(q->index[d], 0xff, q->groups[d] * sizeof(*q->index[d]));
        for (to = from; to < count && to - from < SEARCHES; to++) {
            cells += cells_of(&wanted[to]);
            if (cells > CELLS_OF_ALL)
                break;
            begin(q, (uint32_t)(to - from), &wanted[to]);
        }
        if (search(q, to - from, err) < 0)
            return -err->code;
        for (size_t i = from; i < to; i++)
            for (int p = 0; p < QUANTILES; p++)
                wanted[i].value[p] = q->searches[i - from][p].low;
    }
    return 0;
}
