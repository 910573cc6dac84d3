/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/plan_print.h"
#include "base/escape.h"
#include "base/values.h"

#include <stdio.h>
#include <string.h>

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static uint64_t all(const struct plan_counts *c)
{
    return c->operations + c->inferred;
}

void plan_print_operations_json(struct json *j, const struct plan_counts *c)
{
    json_u64(j, "operations", c->operations);
    json_u64(j, "others", c->others);
    json_object(j, "inferred");
    for (int i = 1; i < REPAIR_REASON_MAX; i++)
        if (c->by_reason[i])
            json_u64(j, repair_reason_name((enum repair_reason)i), c->by_reason[i]);
    json_object_end(j);
    json_u64(j, "superfluous", c->superfluous);
    json_object(j, "not_replayable");
    for (int i = 1; i < UNPLAYABLE_MAX; i++)
        if (c->by_unplayable[i])
            json_u64(j, unplayable_name((enum unplayable)i), c->by_unplayable[i]);
    json_object_end(j);
}

static void print_json(const struct plan_counts *c, const struct plan_made *made)
{
    const struct depend_counts *d = &c->depend[made->granularity];
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_file(&j, "file", made->file);
    json_u64(&j, "bytes", made->bytes);
    json_number(&j, "bytes_per_operation", "%.2f", share(made->bytes, all(c) * made->copies));
    json_u64(&j, "copies", made->copies);
    json_u64(&j, "objects", c->objects);
    json_u64(&j, "entries", c->entries);
    json_u64(&j, "subtrees", c->subtrees);
    json_u64(&j, "impossible_names", c->impossible_names);
    plan_print_operations_json(&j, c);
    json_u64(&j, "compared", c->compared);
    json_u64(&j, "racing", c->unsure[UNSURE_RACING]);
    json_u64(&j, "unseen", c->unsure[UNSURE_UNSEEN]);
    json_text(&j, "granularity", granularity_name(made->granularity));
    json_u64(&j, "dependencies", d->edges);
    json_number(&j, "mean_dependencies", "%.4f", share(d->edges, d->operations));
    json_u64(&j, "most_dependencies", d->most);
    json_u64(&j, "independent", d->independent);
    json_u64(&j, "joined", d->joined);
    json_u64(&j, "kept", d->kept);
    json_object_end(&j);
    json_end(&j);
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

    printf("initial tree    %s objects, %s names, %s subtrees\n", count_text(c->objects, a),
           count_text(c->entries, b), count_text(c->subtrees, d));
    if (c->impossible_names)
        printf("                %s names were left out, which no file can have\n",
               count_text(c->impossible_names, a));
}

void plan_print_operations(const struct plan_counts *c)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    printf("operations      %s; %s of other programs were left out\n", count_text(c->operations, a),
           count_text(c->others, b));
    printf("inferred        %s", count_text(c->inferred, a));
    print_reasons(c->inferred, c->by_reason, REPAIR_REASON_MAX, reason_name);
    if (c->superfluous)
        printf("                %s more were left out, because they contradict the capture\n",
               count_text(c->superfluous, a));
    printf("unplayable      %s (%.3f %%)", count_text(c->unplayable, a),
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
    escape_print(stdout, made->file);
    printf(": %s, %.1f bytes per operation\n", size_text(made->bytes, a),
           share(made->bytes, all(c) * made->copies));
    if (made->copies > 1)
        printf("copies          %u; the figures below are for one\n", made->copies);
    plan_print_before(c);
    plan_print_operations(c);
    printf("results         a replay must show %s groups of values again; %s groups need not: %s "
           "were\n"
           "                changed by operations at the same time,",
           count_text(c->compared, a),
           count_text(c->unsure[UNSURE_RACING] + c->unsure[UNSURE_UNSEEN], b),
           count_text(c->unsure[UNSURE_RACING], e));
    printf(" %s by operations that were not captured\n", count_text(c->unsure[UNSURE_UNSEEN], a));
    printf("dependencies    %s direct ones (%s), %.2f per operation, at most %s",
           count_text(d->edges, a), granularity_name(made->granularity),
           share(d->edges, d->operations), count_text(d->most, b));
    printf("; %s operations have none\n", count_text(d->independent, a));
}
