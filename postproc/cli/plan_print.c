/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/plan_print.h"
#include "base/json.h"
#include "base/values.h"

#include <stdio.h>

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static uint64_t all(const struct plan_counts *c)
{
    return c->operations + c->inferred;
}

void plan_print_operations_json(const struct plan_counts *c)
{
    printf(",\"operations\":%llu,\"others\":%llu,\"inferred\":{", (unsigned long long)c->operations,
           (unsigned long long)c->others);
    for (int i = 1, shown = 0; i < REPAIR_REASON_MAX; i++)
        if (c->by_reason[i])
            printf("%s\"%s\":%llu", shown++ ? "," : "", repair_reason_name((enum repair_reason)i),
                   (unsigned long long)c->by_reason[i]);
    printf("},\"superfluous\":%llu,\"not_replayable\":{", (unsigned long long)c->superfluous);
    for (int i = 1, shown = 0; i < UNPLAYABLE_MAX; i++)
        if (c->by_unplayable[i])
            printf("%s\"%s\":%llu", shown++ ? "," : "", unplayable_name((enum unplayable)i),
                   (unsigned long long)c->by_unplayable[i]);
    printf("}");
}

static void print_json(const struct plan_counts *c, const struct plan_made *made)
{
    const struct depend_counts *d = &c->depend[made->granularity];

    printf("{\"file\":");
    json_name(stdout, made->file);
    printf(",\"bytes\":%llu,\"bytes_per_operation\":%.2f,\"copies\":%u,\"objects\":%llu,"
           "\"entries\":%llu,\"subtrees\":%llu",
           (unsigned long long)made->bytes, share(made->bytes, all(c) * made->copies), made->copies,
           (unsigned long long)c->objects, (unsigned long long)c->entries,
           (unsigned long long)c->subtrees);
    plan_print_operations_json(c);
    printf(",\"compared\":%llu,\"racing\":%llu,\"unseen\":%llu,\"granularity\":\"%s\","
           "\"dependencies\":%llu,\"mean_dependencies\":%.4f,\"most_dependencies\":%llu,"
           "\"independent\":%llu,\"joined\":%llu,\"kept\":%llu}\n",
           (unsigned long long)c->compared, (unsigned long long)c->unsure[UNSURE_RACING],
           (unsigned long long)c->unsure[UNSURE_UNSEEN], granularity_name(made->granularity),
           (unsigned long long)d->edges, share(d->edges, d->operations),
           (unsigned long long)d->most, (unsigned long long)d->independent,
           (unsigned long long)d->joined, (unsigned long long)d->kept);
}

static void print_reasons(uint64_t total, const uint64_t *counts, int max, const char *(*name)(int))
{
    char text[VALUE_TEXT_MAX];
    const char *mark = ": ";

    for (int i = 1; total && i < max; i++)
        if (counts[i]) {
            printf("%s%s %s", mark, name(i), count_text(counts[i], text));
            mark = ", ";
        }
    printf("\n");
}

static const char *reason_name(int i)
{
    return repair_reason_name((enum repair_reason)i);
}

static const char *why_name(int i)
{
    return unplayable_name((enum unplayable)i);
}

void plan_print_before(const struct plan_counts *c)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], d[VALUE_TEXT_MAX];

    printf("tree before     %s objects, %s names, %s subtrees\n", count_text(c->objects, a),
           count_text(c->entries, b), count_text(c->subtrees, d));
}

void plan_print_operations(const struct plan_counts *c)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    printf("operations      %s; %s of other programs are left out\n", count_text(c->operations, a),
           count_text(c->others, b));
    printf("inferred        %s", count_text(c->inferred, a));
    print_reasons(c->inferred, c->by_reason, REPAIR_REASON_MAX, reason_name);
    if (c->superfluous)
        printf("                %s more would contradict what was captured: left out\n",
               count_text(c->superfluous, a));
    printf("not replayable  %s (%.3f %%)", count_text(c->unplayable, a),
           100 * share(c->unplayable, c->operations));
    print_reasons(c->unplayable, c->by_unplayable, UNPLAYABLE_MAX, why_name);
}

void plan_print(const struct plan_counts *c, const struct plan_made *made, bool json)
{
    const struct depend_counts *d = &c->depend[made->granularity];
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], e[VALUE_TEXT_MAX];

    if (json) {
        print_json(c, made);
        return;
    }
    printf("%s: %s, %.1f bytes an operation\n", made->file, size_text(made->bytes, a),
           share(made->bytes, all(c) * made->copies));
    if (made->copies > 1)
        printf("copies          %u of all that follows\n", made->copies);
    plan_print_before(c);
    plan_print_operations(c);
    printf("results         %s groups of values must show again; %s need not: %s changed at the "
           "same time,\n",
           count_text(c->compared, a),
           count_text(c->unsure[UNSURE_RACING] + c->unsure[UNSURE_UNSEEN], b),
           count_text(c->unsure[UNSURE_RACING], e));
    printf("                %s by what was not captured\n",
           count_text(c->unsure[UNSURE_UNSEEN], a));
    printf("dependencies    %s direct ones (%s), %.2f an operation, at most %s",
           count_text(d->edges, a), granularity_name(made->granularity),
           share(d->edges, d->operations), count_text(d->most, b));
    printf("; %s operations have none\n", count_text(d->independent, a));
}
