/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_html_run.c
 *
 * One run on the page, in the order of questions: was it right, in time, as fast as the trace, and
 * what was it.  The same parts as in report_text.c.
 */
#include "report/report_html_parts.h"

#include <inttypes.h>

void html_title(struct page *page, const struct report *r)
{
    page_put(page, "<code>");
    page_text(page, r->run.dump);
    page_put(page, "</code> played on <code>");
    page_text(page, r->run.target);
    page_put(page, "</code>, ");
    page_text(page, r->run.pace);
}

bool html_verdict(const struct report *r, char text[128])
{
    uint64_t all = r->run.operations, good = report_in_class(r, VERDICT_AS_RECORDED);
    uint64_t left = report_in_class(r, VERDICT_UNPLAYABLE) + report_in_class(r, VERDICT_NOT_PLAYED);
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX];

    if (!all)
        snprintf(text, 128, "No operation was played");
    else if (good >= all && r->run.explained)
        snprintf(text, 128, "All %s operations are as recorded, %s of them under rules only",
                 count_text(all, a), count_text(r->run.explained, b));
    else if (good >= all)
        snprintf(text, 128, "All %s operations are as recorded", count_text(all, a));
    else if (good + left >= all)
        snprintf(text, 128, "%s operations are as recorded, and %s were not played",
                 count_text(good, a), count_text(left, b));
    else if (left)
        snprintf(text, 128, "%s of %s operations are not as recorded, and %s were not played",
                 count_text(all - good - left, a), count_text(all, b), count_text(left, c));
    else
        snprintf(text, 128, "%s of %s operations are not as recorded", count_text(all - good, a),
                 count_text(all, b));
    return all && good >= all;
}

static void heading(struct page *page, int level, const char *text)
{
    page_put(page, "<h%d>%s</h%d>\n", level, text, level);
}

static void rate_tile(struct page *page, const char *name, double rate)
{
    char text[VALUE_TEXT_MAX];

    cells_tile(page, name, count_text(rate < 1e18 ? (uint64_t)(rate + 0.5) : UINT64_MAX, text));
}

static void tiles(struct page *page, const struct report *r)
{
    const struct report_run *run = &r->run;
    char text[VALUE_TEXT_MAX];

    cells_tiles(page);
    cells_tile(page, "operations", count_text(run->operations, text));
    snprintf(text, sizeof(text), "%.2f %%",
             report_share(report_in_class(r, VERDICT_AS_RECORDED), run->operations));
    cells_tile(page, "as recorded", text);
    cells_tile(page, "time of the run", duration_text(run->duration, text));
    cells_tile(page, "last plan at", duration_text(run->planned, text));
    cells_tile(page, "longest chain of operations", duration_text(run->critical_path, text));
    rate_tile(page, "operations a second", report_rate((double)report_timed(r), run->duration));
    rate_tile(page, "operations a second of the plan", report_planned_rate(r));
    snprintf(text, sizeof(text), "%.2f", report_concurrency(r));
    cells_tile(page, "at the same time", text);
    snprintf(text, sizeof(text), "%.2f", report_planned_concurrency(r));
    cells_tile(page, "at the same time in the plan", text);
    cells_tiles_end(page);
}

static void classes(struct page *page, const struct report *r)
{
    static const char *const heads[] = { "class", "operations", "share", NULL };

    cells_begin(page, "How operations ended", heads);
    for (uint32_t i = 0; i < r->counts[REPORT_CLASSES]; i++) {
        const struct report_class *c = &r->classes[i];
        const char *note = verdict_class_note((enum verdict_class)i);
        char name[80];

        if (!c->operations)
            continue;
        snprintf(name, sizeof(name), "%s%s%s%s", c->name, note[0] ? " (" : "", note,
                 note[0] ? ")" : "");
        cells_row(page, name);
        cells_count(page, c->operations);
        cells_share(page, c->operations, r->run.operations);
        cells_row_end(page);
        if (i == VERDICT_AS_RECORDED && r->run.explained) {
            cells_row(page, "under rules only");
            cells_count(page, r->run.explained);
            cells_share(page, r->run.explained, r->run.operations);
            cells_row_end(page);
        }
    }
    cells_end(page);
}

static void rules(struct page *page, const struct report *r)
{
    static const char *const heads[] = { "rule", "<where",         "operations", "differ otherwise",
                                         "<why", "<the first one", NULL };
    char text[VALUE_TEXT_MAX];

    if (!r->counts[REPORT_RULES])
        return;
    cells_begin(page, "Differences that rules allow", heads);
    for (uint32_t i = 0; i < r->counts[REPORT_RULES]; i++) {
        const struct report_rule *x = &r->rules[i];

        cells_row(page, x->rule);
        page_put(page, "<td class=\"t\">");
        page_text(page, x->file);
        if (x->line)
            page_put(page, " line %s", count_text(x->line, text));
        page_put(page, "</td>");
        cells_count(page, x->operations);
        cells_count(page, x->differ);
        cells_text(page, x->reason);
        page_put(page, "<td class=\"t\">");
        if (x->text[0])
            page_put(page, "operation %s, ", count_text(x->number, text));
        page_text(page, x->procedure);
        page_put(page, "%s", x->text[0] ? ": " : "");
        page_text(page, x->text);
        page_put(page, "</td>");
        cells_row_end(page);
    }
    cells_end(page);
}

static void dumps(struct page *page, const struct report *r)
{
    static const char *const heads[] = { "dump",        "<file and directory", "operations",
                                         "as recorded", "not played",          "from",
                                         NULL };
    char text[VALUE_TEXT_MAX];

    if (r->counts[REPORT_DUMPS] < 2)
        return;
    cells_begin(page, "Dumps and copies", heads);
    for (uint32_t i = 0; i < r->counts[REPORT_DUMPS]; i++) {
        const struct report_dump *d = &r->dumps[i];

        cells_row(page, count_text(i + 1, text));
        cells_text(page, d->name);
        cells_count(page, d->operations);
        cells_count(page, d->in_class[VERDICT_AS_RECORDED]);
        cells_count(page, d->in_class[VERDICT_NOT_PLAYED]);
        cells_time(page, true, d->delay);
        cells_row_end(page);
    }
    cells_end(page);
}

/* Begins a row of what has a |number| in a dump. */
static void row_in_dump(struct page *page, const struct report *r, uint64_t dump, uint64_t number)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], place[2 * VALUE_TEXT_MAX + 8];

    if (r->counts[REPORT_DUMPS] > 1)
        snprintf(place, sizeof(place), "dump %s, %s", count_text(dump + 1, a),
                 count_text(number, b));
    else
        count_text(number, place);
    cells_row(page, place);
}

static void examples(struct page *page, const struct report *r)
{
    static const char *const heads[] = { "operation", "<procedure",  "<object",
                                         "<class",    "<difference", NULL };
    char text[VALUE_TEXT_MAX];

    if (!r->counts[REPORT_FIRST_EXAMPLES])
        return;
    cells_begin(page, report_examples_words(r), heads);
    for (uint32_t i = 0; i < r->counts[REPORT_FIRST_EXAMPLES]; i++) {
        const struct report_example *x = &r->examples[i];

        row_in_dump(page, r, x->dump, x->number);
        cells_text(page, x->procedure);
        cells_text(page, x->what);
        cells_text(page, x->class);
        page_put(page, "<td class=\"t\">");
        if (!strcmp(x->class, verdict_class_name(VERDICT_SKIPPED)))
            page_put(page, "because of operation %s%s", count_text(x->because, text),
                     x->text[0] ? ": " : "");
        page_text(page, x->text);
        page_put(page, "</td>");
        cells_row_end(page);
    }
    cells_end(page);
}

/* What a cause of lateness is, in words; "" if this program does not know it. */
static const char *meaning(const char *cause)
{
    static const char *const words[LATE_CAUSES] = {
        [LATE_OWN] = "the player itself",
        [LATE_DEPENDENCY] = "operations that it depends on were not done",
        [LATE_WINDOW] = "the player had not read so far ahead",
        [LATE_OUTSTANDING] = "too many calls were under way",
    };

    for (unsigned i = 0; i < LATE_CAUSES; i++)
        if (!strcmp(cause, tally_late_name((enum tally_late)i)))
            return words[i];
    return strcmp(cause, "all") != 0 ? "" : "from the plan to the sending";
}

static void schedule(struct page *page, const struct report *r)
{
    static const char *const heads[] = { "cause",  "<meaning", "operations", "in all",
                                         "median", "99 %",     "most",       NULL };

    cells_begin(page, "Lateness, by cause", heads);
    for (uint32_t i = 0; i < r->counts[REPORT_LATE]; i++) {
        const struct report_times *t = &r->late[i].times;

        cells_row(page, r->late[i].cause);
        cells_text(page, meaning(r->late[i].cause));
        cells_count(page, t->count);
        cells_time(page, true, t->sum);
        cells_time(page, t->count, t->p50);
        cells_time(page, t->count, t->p99);
        cells_time(page, t->count, t->most);
        cells_row_end(page);
    }
    cells_end(page);
}

static void stalls(struct page *page, const struct report *r)
{
    static const char *const heads[] = { "object",     "operations",       "at least",
                                         "at most",    "longest",          "by operation",
                                         "<procedure", "<object and name", NULL };

    if (!r->counts[REPORT_STALLS])
        return;
    cells_begin(page, "Late by dependency, by object", heads);
    for (uint32_t i = 0; i < r->counts[REPORT_STALLS]; i++) {
        const struct report_stall *x = &r->stalls[i];

        row_in_dump(page, r, x->dump, x->object);
        cells_count(page, x->operations);
        cells_time(page, true, x->waited);
        cells_time(page, true, report_stall_most(x));
        cells_time(page, true, x->longest);
        cells_count(page, x->number);
        cells_text(page, x->procedure);
        cells_text(page, x->what);
        cells_row_end(page);
    }
    cells_end(page);
}

static void latencies(struct page *page, const struct report *r)
{
    static const char *const groups[] = { "",  "of the trace", "from sending", "from the plan", "",
                                          NULL };
    static const uint8_t widths[] = { 1, 4, 4, 2, 1 };
    static const char *const heads[] = { "procedure", "median", "90 %", "99 %",
                                         "most",      "median", "90 %", "99 %",
                                         "most",      "median", "99 %", "sending / trace, medians",
                                         NULL };

    cells_begin_groups(page, "Latencies, beside those of the trace", groups, widths);
    cells_heads(page, heads);
    for (uint32_t i = 0; i < r->counts[REPORT_PROCEDURES]; i++) {
        const struct report_procedure *p = &r->procedures[i];
        const struct report_times *both[] = { &p->trace, &p->sent };

        cells_row(page, p->name);
        for (int k = 0; k < 2; k++) {
            cells_time(page, both[k]->count, both[k]->p50);
            cells_time(page, both[k]->count, both[k]->p90);
            cells_time(page, both[k]->count, both[k]->p99);
            cells_time(page, both[k]->count, both[k]->most);
        }
        cells_time(page, p->planned.count, p->planned.p50);
        cells_time(page, p->planned.count, p->planned.p99);
        if (p->trace.count && p->sent.count && p->trace.p50 > 0)
            page_put(page, "<td>%.2f</td>", (double)p->sent.p50 / (double)p->trace.p50);
        else
            page_put(page, "<td>-</td>");
        cells_row_end(page);
    }
    cells_end(page);
}

static void mix(struct page *page, const struct report *r)
{
    static const char *const heads[] = { "procedure", "operations", "share", "differ",
                                         "read",      "written",    NULL };

    cells_begin(page, "Operations by procedure", heads);
    for (uint32_t i = 0; i < r->counts[REPORT_PROCEDURES]; i++) {
        const struct report_procedure *p = &r->procedures[i];

        cells_row(page, p->name);
        cells_count(page, p->operations);
        cells_share(page, p->operations, r->run.operations);
        cells_count(page, p->differ);
        cells_size(page, p->bytes_read);
        cells_size(page, p->bytes_written);
        cells_row_end(page);
    }
    cells_end(page);
}

static void data_set(struct page *page, const char *name, const struct report_set *s)
{
    cells_row(page, name);
    cells_count(page, s->files);
    cells_size(page, s->bytes);
    cells_count(page, s->directories);
    cells_count(page, s->others);
    cells_row_end(page);
}

static void player(struct page *page, const struct report *r)
{
    const struct report_run *run = &r->run;
    double cpu = (double)run->cpu_user + (double)run->cpu_system;
    uint64_t count = report_timed(r);
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    page_put(page, "<ul>\n<li>%s of CPU (%.0f %% of a core), %s for each operation</li>\n",
             report_time(cpu, a), run->duration > 0 ? 100 * cpu / (double)run->duration : 0,
             report_time(count ? cpu / (double)count : 0, b));
    if (run->writes)
        page_put(page, "<li>%.1f calls in each write</li>\n",
                 (double)run->calls / (double)run->writes);
    page_put(page, "<li>%s calls sent again, ", count_text(run->resent, a));
    page_put(page, "%s connections lost, ", count_text(run->lost_connections, a));
    page_put(page, "%s %s of %s in all</li>\n", count_text(run->outages, a),
             run->outages == 1 ? "outage" : "outages", duration_text(run->outages_ns, b));
    if (run->warm_up)
        page_put(page,
                 "<li>%s operations of the warm-up are only in the verdict and in the counts of "
                 "operations</li>\n",
                 count_text(run->warm_up, a));
    page_put(page, "</ul>\n");
}

static void condition(struct page *page, const char *name, const char *text)
{
    if (!text[0])
        return;
    page_put(page, "<p>%s: ", name);
    page_text(page, text);
    page_put(page, "</p>\n");
}

void html_run(struct page *page, const struct report *r, int level)
{
    static const char *const data[] = { "part",        "files",  "bytes in them",
                                        "directories", "others", NULL };
    char text[128];
    bool good = html_verdict(r, text);

    page_put(page, "<p class=\"verdict %s\">%s.</p>\n", good ? "good" : "bad", text);
    condition(page, "Rules", r->run.rules);
    condition(page, "Options", r->run.options);
    if (r->run.note[0]) {
        page_put(page, "<p class=\"warning\">");
        page_text(page, r->run.note);
        page_put(page, "</p>\n");
    }
    tiles(page, r);
    if (r->run.refused)
        page_put(page,
                 "<p class=\"note\">%s of the answers are RPC errors or cannot be read.</p>\n",
                 count_text(r->run.refused, text));
    heading(page, level, "Verdict");
    classes(page, r);
    dumps(page, r);
    rules(page, r);
    examples(page, r);
    heading(page, level, "Schedule");
    schedule(page, r);
    stalls(page, r);
    heading(page, level, "Load over time");
    html_plot(page, r);
    heading(page, level, "Latencies");
    latencies(page, r);
    heading(page, level, "Operations");
    mix(page, r);
    heading(page, level, "Data before the run");
    cells_begin(page, "Objects before the run", data);
    data_set(page, "in all", &r->run.initial);
    data_set(page, "accessed", &r->run.accessed);
    cells_end(page);
    heading(page, level, "The player");
    player(page, r);
}
