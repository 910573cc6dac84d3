/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/csv.h"
#include "cli/info_print.h"

#include <inttypes.h>
#include <stdio.h>

static void print_group(const struct group *x, enum group_by by)
{
    csv_value(group_is_none(x, by) ? "" : x->label);
    if (by == BY_STATUS) {
        putchar(',');
        csv_value(x->detail ? x->detail : "");
    }
    printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, x->operations,
           x->errors, x->resent, x->answered, x->read, x->written);
    if (x->answered)
        printf(",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, x->p50, x->p90, x->p99, x->max);
    else
        fputs(",,,,", stdout);
    if (by == BY_PHASE && x->times)
        printf(",%" PRId64, x->lasted);
    else if (by == BY_PHASE)
        putchar(',');
    fputs(CSV_END, stdout);
}

void info_csv(const struct info_view *view)
{
    for (int by = 0; by < BY_MAX; by++) {
        const struct groups *g = &view->groups.by[by];

        if (!(view->tables & 1u << by))
            continue;
        printf("%s%s,operations,errors,resent,answered,read,written,p50,p90,p99,max%s" CSV_END,
               group_names[by], by == BY_STATUS ? ",procedure" : "",
               by == BY_PHASE ? ",lasted" : "");
        for (int i = 0; i < g->count; i++)
            print_group(&g->groups[i], (enum group_by)by);
    }
}
