/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/deps_print.c
 *
 * One operation with what it depends on, and the summary, each as text and as JSON; the graph is in
 * deps_dot.c.  For cmd_deps.c.  The contract is in deps_print.h.
 */
#include "cli/deps_print.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/plan_print.h"

static void print_frame(int64_t source, int64_t frame)
{
    if (!frame)
        fputs("-", stdout);
    else if (source > 1)
        printf("%lld:%lld", (long long)source, (long long)frame);
    else
        printf("%lld", (long long)frame);
}

int deps_item_text(struct deps_pick *pick, const struct deps_item *item, struct err *err)
{
    bool called = item->call_frame != 0;
    char text[VALUE_TEXT_MAX];

    printf("%llu ", (unsigned long long)item->place);
    if (item->operation)
        printf("%lld ", (long long)item->operation);
    else
        fputs("- ", stdout);
    print_frame(called ? item->call_source : item->reply_source,
                called ? item->call_frame : item->reply_frame);
    printf(" %s %s %s", time_text(item->time, text), item->procedure ? item->procedure : "?",
           item->path ? item->path : "-");
    if (item->path2)
        printf(" %s", item->path2);
    printf(" %s", item->status ? item->status : "-");
    if (item->inferred)
        printf(" (inferred: %s)", repair_reason_name((enum repair_reason)item->inferred));
    if (item->unplayable)
        printf(" (not replayable: %s)", unplayable_name((enum unplayable)item->unplayable));
    for (uint32_t i = item->count; i-- > 0;) {
        const struct deps_on *on = &item->on[i];
        int64_t source, frame;

        if (deps_frame(pick, on->operation, &source, &frame, err) < 0)
            return -err->code;
        printf("%s %llu %s [", i + 1 == item->count ? " <-" : ",", (unsigned long long)on->place,
               on->procedure ? on->procedure : "?");
        print_frame(source, frame);
        putchar(']');
    }
    putchar('\n');
    return 0;
}

static void json_number(const char *key, int64_t value)
{
    if (value)
        printf(",\"%s\":%lld", key, (long long)value);
    else
        printf(",\"%s\":null", key);
}

static void json_string(const char *key, const char *value)
{
    printf(",\"%s\":", key);
    json_text(stdout, value);
}

int deps_item_json(struct deps_pick *pick, const struct deps_item *item, struct err *err)
{
    printf("{\"kind\":\"operation\",\"place\":%llu", (unsigned long long)item->place);
    json_number("operation", item->operation);
    json_number("call_source", item->call_source);
    json_number("call_frame", item->call_frame);
    json_number("reply_source", item->reply_source);
    json_number("reply_frame", item->reply_frame);
    printf(",\"time\":%lld", (long long)item->time);
    json_string("procedure", item->procedure);
    json_string("path", item->path);
    json_string("path2", item->path2);
    json_string("status", item->status);
    json_string("inferred",
                item->inferred ? repair_reason_name((enum repair_reason)item->inferred) : NULL);
    json_string("not_replayable",
                item->unplayable ? unplayable_name((enum unplayable)item->unplayable) : NULL);
    fputs(",\"depends_on\":[", stdout);
    for (uint32_t i = item->count; i-- > 0;) {
        const struct deps_on *on = &item->on[i];
        int64_t source, frame;

        if (deps_frame(pick, on->operation, &source, &frame, err) < 0)
            return -err->code;
        printf("{\"place\":%llu", (unsigned long long)on->place);
        json_number("operation", on->operation);
        json_number("source", source);
        json_number("frame", frame);
        json_string("procedure", on->procedure);
        putchar('}');
        if (i)
            putchar(',');
    }
    fputs("]}\n", stdout);
    return 0;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static uint64_t played(const struct plan_counts *c)
{
    return c->operations + c->inferred - c->unplayable;
}

void deps_summary_text(const struct plan_counts *c, const uint64_t chain[2])
{
    static const enum granularity columns[] = { ACCESS_OBJECT, ACCESS_FINE };
    static const struct {
        const char *name;
        size_t at;
    } rows[] = {
        { "direct dependencies", offsetof(struct depend_counts, edges) },
        { "at most", offsetof(struct depend_counts, most) },
        { "without any", offsetof(struct depend_counts, independent) },
        { "joined", offsetof(struct depend_counts, joined) },
        { "kept though implied", offsetof(struct depend_counts, kept) },
    };
    char text[VALUE_TEXT_MAX];

    plan_print_operations(c);
    printf("\n%-20s", "");
    for (int i = 0; i < 2; i++)
        printf("%16s", granularity_name(columns[i]));
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        printf("\n%-20s", rows[row].name);
        for (int i = 0; i < 2; i++) {
            const char *counts = (const char *)&c->depend[columns[i]];

            printf("%16s", count_text(*(const uint64_t *)(counts + rows[row].at), text));
        }
        if (row == 0) {
            printf("\n%-20s", "an operation");
            for (int i = 0; i < 2; i++)
                printf("%16.3f", share(c->depend[columns[i]].edges, c->operations + c->inferred));
        }
    }
    printf("\n%-20s", "longest chain");
    for (int i = 0; i < 2; i++)
        printf("%16s", count_text(chain[columns[i]], text));
    printf("\n%-20s", "of all");
    for (int i = 0; i < 2; i++)
        printf("%14.2f %%", 100 * share(chain[columns[i]], played(c)));
    putchar('\n');
}

void deps_summary_json(const struct plan_counts *c, const uint64_t chain[2])
{
    fputs("{\"kind\":\"summary\"", stdout);
    plan_print_operations_json(c);
    for (int g = ACCESS_OBJECT; g >= ACCESS_FINE; g--) {
        const struct depend_counts *d = &c->depend[g];

        printf(",\"%s\":{\"dependencies\":%llu,\"mean\":%.6f,\"most\":%llu,\"independent\":%llu,"
               "\"joined\":%llu,\"kept\":%llu,\"longest_chain\":%llu,\"critical_share\":%.6f}",
               granularity_name((enum granularity)g), (unsigned long long)d->edges,
               share(d->edges, c->operations + c->inferred), (unsigned long long)d->most,
               (unsigned long long)d->independent, (unsigned long long)d->joined,
               (unsigned long long)d->kept, (unsigned long long)chain[g],
               share(chain[g], played(c)));
    }
    puts("}");
}
