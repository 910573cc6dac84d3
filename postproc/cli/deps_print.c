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
        printf(" (unplayable: %s)", unplayable_name((enum unplayable)item->unplayable));
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

static void json_unless_0(struct json *j, const char *key, int64_t value)
{
    if (value)
        json_i64(j, key, value);
    else
        json_null(j, key);
}

static int json_on(struct json *j, struct deps_pick *pick, const struct deps_on *on,
                   struct err *err)
{
    int64_t source, frame;

    if (deps_frame(pick, on->operation, &source, &frame, err) < 0)
        return -err->code;
    json_object(j, NULL);
    json_u64(j, "place", on->place);
    json_unless_0(j, "operation", on->operation);
    json_unless_0(j, "source", source);
    json_unless_0(j, "frame", frame);
    json_text(j, "procedure", on->procedure);
    json_object_end(j);
    return 0;
}

int deps_item_json(struct deps_pick *pick, const struct deps_item *item, struct err *err)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_text(&j, "kind", "operation");
    json_u64(&j, "place", item->place);
    json_unless_0(&j, "operation", item->operation);
    json_unless_0(&j, "call_source", item->call_source);
    json_unless_0(&j, "call_frame", item->call_frame);
    json_unless_0(&j, "reply_source", item->reply_source);
    json_unless_0(&j, "reply_frame", item->reply_frame);
    json_i64(&j, "time", item->time);
    json_text(&j, "procedure", item->procedure);
    json_text(&j, "path", item->path);
    json_text(&j, "path2", item->path2);
    json_text(&j, "status", item->status);
    json_text(&j, "inferred",
              item->inferred ? repair_reason_name((enum repair_reason)item->inferred) : NULL);
    json_text(&j, "not_replayable",
              item->unplayable ? unplayable_name((enum unplayable)item->unplayable) : NULL);
    json_array(&j, "depends_on");
    for (uint32_t i = item->count; i-- > 0;)
        if (json_on(&j, pick, &item->on[i], err) < 0)
            return -err->code;
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
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
        { "  most of one operation", offsetof(struct depend_counts, most) },
        { "operations with none", offsetof(struct depend_counts, independent) },
        { "joined", offsetof(struct depend_counts, joined) },
        { "kept though implied", offsetof(struct depend_counts, kept) },
    };
    char text[VALUE_TEXT_MAX];

    plan_print_operations(c);
    printf("\n%-24s", "");
    for (int i = 0; i < 2; i++)
        printf("%16s", granularity_name(columns[i]));
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        printf("\n%-24s", rows[row].name);
        for (int i = 0; i < 2; i++) {
            const char *counts = (const char *)&c->depend[columns[i]];

            printf("%16s", count_text(*(const uint64_t *)(counts + rows[row].at), text));
        }
        if (row == 0) {
            printf("\n%-24s", "  per operation");
            for (int i = 0; i < 2; i++)
                printf("%16.3f", share(c->depend[columns[i]].edges, c->operations + c->inferred));
        }
    }
    printf("\n%-24s", "longest chain");
    for (int i = 0; i < 2; i++)
        printf("%16s", count_text(chain[columns[i]], text));
    printf("\n%-24s", "  share of operations");
    for (int i = 0; i < 2; i++)
        printf("%14.2f %%", 100 * share(chain[columns[i]], played(c)));
    putchar('\n');
}

void deps_summary_json(const struct plan_counts *c, const uint64_t chain[2])
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_text(&j, "kind", "summary");
    plan_print_operations_json(&j, c);
    for (int g = ACCESS_OBJECT; g >= ACCESS_FINE; g--) {
        const struct depend_counts *d = &c->depend[g];

        json_object(&j, granularity_name((enum granularity)g));
        json_u64(&j, "dependencies", d->edges);
        json_number(&j, "mean", "%.6f", share(d->edges, c->operations + c->inferred));
        json_u64(&j, "most", d->most);
        json_u64(&j, "independent", d->independent);
        json_u64(&j, "joined", d->joined);
        json_u64(&j, "kept", d->kept);
        json_u64(&j, "longest_chain", chain[g]);
        json_number(&j, "critical_share", "%.6f", share(chain[g], played(c)));
        json_object_end(&j);
    }
    json_object_end(&j);
    json_end(&j);
}
