/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/group_show.h"

#include <stdlib.h>
#include <string.h>

const char *const group_sort_names[SORT_MAX] = { "operations", "errors",  "resent",
                                                 "read",       "written", "p50",
                                                 "p90",        "p99",     "max" };

static bool by_percentile(enum group_sort sort)
{
    return sort == SORT_P50 || sort == SORT_P90 || sort == SORT_P99;
}

/* Groups without answers come last.  Latencies can be negative, if clocks differ. */
static uint64_t value_of(const struct group *g, enum group_sort sort)
{
    const int64_t latencies[] = { g->p50, g->p90, g->p99, g->max };

    switch (sort) {
    case SORT_ERRORS:
        return g->errors;
    case SORT_RESENT:
        return g->resent;
    case SORT_READ:
        return g->read;
    case SORT_WRITTEN:
        return g->written;
    case SORT_P50:
    case SORT_P90:
    case SORT_P99:
    case SORT_LONGEST:
        return g->answered ? (uint64_t)latencies[sort - SORT_P50] + (UINT64_C(1) << 63) : 0;
    default:
        return g->operations;
    }
}

/* By |*sort|, then by operations, then by key; hosts by address. */
static int most_first(const void *a, const void *b, void *sort)
{
    const struct group *x = &((const struct member *)a)->group;
    const struct group *y = &((const struct member *)b)->group;
    uint64_t of_x = value_of(x, *(enum group_sort *)sort);
    uint64_t of_y = value_of(y, *(enum group_sort *)sort);

    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    if (x->operations != y->operations)
        return x->operations < y->operations ? 1 : -1;
    for (int i = 0; i < 3; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return x->label && y->label ? strcmp(x->label, y->label) : 0;
}

/* Phases in their order; what is in none comes last. */
static int first_first(const void *a, const void *b)
{
    uint64_t x = (uint64_t)((const struct member *)a)->group.key[0];
    uint64_t y = (uint64_t)((const struct member *)b)->group.key[0];

    return (x > y) - (x < y);
}

static void sort_members(struct dimension *d, enum group_by by, enum group_sort sort)
{
    if (d->count && by == BY_PHASE && sort == SORT_OPERATIONS)
        qsort(d->members, d->count, sizeof(*d->members), first_first);
    else if (d->count)
        qsort_r(d->members, d->count, sizeof(*d->members), most_first, &sort);
}

/* Finds the percentiles of the first |count| members of each table. */
static int find(struct dimension by[BY_MAX], const int slots[BY_MAX], const uint32_t count[BY_MAX],
                struct quantiles *quantiles, struct err *err)
{
    struct quantiles_wanted *wanted, *next;
    size_t most = 1;
    int result;

    for (int i = 0; i < BY_MAX; i++)
        most += count[i];
    wanted = next = calloc(most, sizeof(*wanted));
    if (!wanted)
        return err_memory(err, "groups");
    for (int i = 0; i < BY_MAX; i++)
        for (const struct member *m = by[i].members; m < by[i].members + count[i]; m++)
            if (m->group.answered)
                *next++ = (struct quantiles_wanted){ .dimension = (unsigned)slots[i],
                                                     .group = m->at,
                                                     .count = m->group.answered,
                                                     .least = m->least,
                                                     .most = m->group.max };
    result = quantiles_find(quantiles, wanted, (size_t)(next - wanted), err);
    next = wanted;
    for (int i = 0; result == 0 && i < BY_MAX; i++)
        for (struct member *m = by[i].members; m < by[i].members + count[i]; m++)
            if (m->group.answered) {
                m->group.p50 = next->value[0];
                m->group.p90 = next->value[1];
                m->group.p99 = next++->value[2];
            }
    free(wanted);
    return result;
}

static int take(struct dimension *d, uint64_t top, struct groups *to, struct err *err)
{
    uint32_t shown = d->count < top ? d->count : (uint32_t)top;

    to->left_out = d->count - shown;
    if (!shown)
        return 0;
    to->groups = calloc(shown, sizeof(*to->groups));
    if (!to->groups)
        return err_memory(err, "groups");
    for (uint32_t i = 0; i < shown; i++) {
        to->groups[to->count++] = d->members[i].group;
        d->members[i].group.label = NULL;
    }
    return 0;
}

int group_show(struct dimension by[BY_MAX], const int slots[BY_MAX], struct quantiles *quantiles,
               const struct groups_request *request, struct operation_groups *groups,
               struct err *err)
{
    bool late = by_percentile(request->sort);
    uint32_t count[BY_MAX];

    for (int i = 0; i < BY_MAX; i++) {
        if (!late)
            sort_members(&by[i], (enum group_by)i, request->sort);
        count[i] = late || by[i].count < request->top ? by[i].count : (uint32_t)request->top;
    }
    if (find(by, slots, count, quantiles, err) < 0)
        return -err->code;
    for (int i = 0; i < BY_MAX; i++) {
        if (late)
            sort_members(&by[i], (enum group_by)i, request->sort);
        if (take(&by[i], request->top, &groups->by[i], err) < 0)
            return -err->code;
    }
    return 0;
}
