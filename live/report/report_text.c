/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_text.c
 *
 * A report as text for a terminal: verdict first, then time, latencies, load and data.
 */
#include "base/escape.h"
#include "base/values.h"
#include "report/report_parts.h"
#include "show/colour.h"

#include <inttypes.h>

enum { ROWS_OVER_TIME = 12, STALL_ROWS = 10 };

const char *report_time(double ns, char room[VALUE_TEXT_MAX])
{
    const double most = 9e18; /* a bit less than fits */

    return duration_text((int64_t)(ns > most ? most : ns < -most ? -most : ns), room);
}

double report_rate(double amount, int64_t ns)
{
    return ns > 0 ? amount * 1e9 / (double)ns : 0;
}

double report_share(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

uint64_t report_in_class(const struct report *r, enum verdict_class class)
{
    for (uint32_t i = 0; i < r->counts[REPORT_CLASSES]; i++)
        if (!strcmp(r->classes[i].name, verdict_class_name(class)))
            return r->classes[i].operations;
    return 0;
}

const char *report_examples_words(const struct report *r)
{
    uint64_t good = report_in_class(r, VERDICT_AS_RECORDED);
    bool all =
        r->run.operations <= good || r->run.operations - good <= r->counts[REPORT_FIRST_EXAMPLES];

    return all ? "All that are not as recorded"
               : "The first that are not as recorded (more in mismatches.jsonl)";
}

void report_title(const struct report *r, FILE *to)
{
    escape_print(to, r->run.dump);
    fprintf(to, " played on ");
    escape_print(to, r->run.target);
    fprintf(to, ", %s\n", r->run.pace);
}

void report_conditions(const struct report *r, const char *indent, FILE *to)
{
    const char *const names[] = { "rules", "options" }, *const texts[] = { r->run.rules,
                                                                           r->run.options };

    for (int i = 0; i < 2; i++)
        if (texts[i][0]) {
            fprintf(to, "%s%s: ", indent, names[i]);
            escape_print(to, texts[i]);
            putc('\n', to);
        }
}

uint64_t report_timed(const struct report *r)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < r->counts[REPORT_PROCEDURES]; i++)
        count += r->procedures[i].sent.count;
    return count;
}

double report_concurrency(const struct report *r)
{
    double busy = 0;

    for (uint32_t i = 0; i < r->counts[REPORT_PROCEDURES]; i++)
        busy += (double)r->procedures[i].sent.sum;
    return r->run.duration > 0 ? busy / (double)r->run.duration : 0;
}

double report_planned_rate(const struct report *r)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < r->counts[REPORT_INTERVALS]; i++)
        count += r->intervals[i].trace_done;
    return report_rate((double)count, r->run.planned);
}

double report_planned_concurrency(const struct report *r)
{
    double busy = 0;

    for (uint32_t i = 0; i < r->counts[REPORT_INTERVALS]; i++)
        busy += (double)r->intervals[i].trace_busy;
    return r->run.planned > 0 ? busy / (double)r->run.planned : 0;
}

static void verdict(const struct report *r, FILE *to)
{
    bool colour = colour_is_wanted(to);

    fprintf(to, "\nVerdict\n");
    for (uint32_t i = 0; i < r->counts[REPORT_CLASSES]; i++) {
        const struct report_class *c = &r->classes[i];
        const char *note = verdict_class_note((enum verdict_class)i);

        if (c->operations) {
            colour_begin(to, colour, i == VERDICT_AS_RECORDED ? COLOUR_GOOD : COLOUR_BAD);
            fprintf(to, "  %-18s", c->name);
            colour_end(to, colour);
            fprintf(to, " %12" PRIu64 "  %6.2f %%", c->operations,
                    report_share(c->operations, r->run.operations));
            fprintf(to, "%s%s\n", note[0] ? "  " : "", note);
        }
        if (i == VERDICT_AS_RECORDED && r->run.explained)
            fprintf(to, "    %-16s %12" PRIu64 "  %6.2f %%\n", "under rules only", r->run.explained,
                    report_share(r->run.explained, r->run.operations));
    }
    fprintf(to, "  %-18s %12" PRIu64 "\n", "all", r->run.operations);
}

static void dumps(const struct report *r, FILE *to)
{
    char a[VALUE_TEXT_MAX];

    if (r->counts[REPORT_DUMPS] < 2)
        return;
    fprintf(to, "\nDumps         operations  as recorded   not played        from\n");
    for (uint32_t i = 0; i < r->counts[REPORT_DUMPS]; i++) {
        const struct report_dump *d = &r->dumps[i];

        fprintf(to, "  %2u     %15" PRIu64 " %12" PRIu64 " %12" PRIu64 "  %10s  ", i + 1,
                d->operations, d->in_class[VERDICT_AS_RECORDED], d->in_class[VERDICT_NOT_PLAYED],
                duration_text(d->delay, a));
        escape_print(to, d->name);
        putc('\n', to);
    }
}

static void examples(const struct report *r, FILE *to)
{
    if (r->counts[REPORT_FIRST_EXAMPLES])
        fprintf(to, "\n%s\n", report_examples_words(r));
    for (uint32_t i = 0; i < r->counts[REPORT_FIRST_EXAMPLES]; i++) {
        const struct report_example *x = &r->examples[i];

        fputs("  ", to);
        if (r->counts[REPORT_DUMPS] > 1)
            fprintf(to, "dump %" PRIu64 ", ", x->dump + 1);
        fprintf(to, "operation %" PRIu64 " (%s%s", x->number, x->procedure,
                x->what[0] ? " of " : "");
        escape_print(to, x->what);
        fprintf(to, "): %s", x->class);
        if (!strcmp(x->class, verdict_class_name(VERDICT_SKIPPED)))
            fprintf(to, " because of operation %" PRIu64, x->because);
        fputs(x->text[0] ? ": " : "", to);
        escape_print(to, x->text);
        fprintf(to, "\n");
    }
}

static void schedule(const struct report *r, FILE *to)
{
    const struct report_run *run = &r->run;
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX], d[VALUE_TEXT_MAX];

    fprintf(to, "\nTime\n");
    fprintf(to, "  it took %s; the last operation was planned at %s\n",
            duration_text(run->duration, a), duration_text(run->planned, b));
    fprintf(to, "  the longest chain of operations that wait for each other: %s\n",
            duration_text(run->critical_path, a));
    fprintf(to, "  %.0f operations a second, %.2f at the same time\n",
            report_rate((double)report_timed(r), run->duration), report_concurrency(r));
    if (run->refused)
        fprintf(to, "  %" PRIu64 " of the answers are RPC errors or cannot be read\n",
                run->refused);
    fprintf(to, "  the plan, with the latencies of the trace: %.0f and %.2f\n",
            report_planned_rate(r), report_planned_concurrency(r));
    fprintf(to, "\nLateness, by cause  %12s %10s %10s %10s %10s\n", "operations", "in all",
            "median", "99 %", "most");
    for (uint32_t i = 0; i < r->counts[REPORT_LATE]; i++) {
        const struct report_times *t = &r->late[i].times;

        fprintf(to, "  %-16s  %12" PRIu64 " %10s %10s %10s %10s\n", r->late[i].cause, t->count,
                duration_text(t->sum, a), duration_text(t->p50, b), duration_text(t->p99, c),
                duration_text(t->most, d));
    }
}

static void stalls(const struct report *r, FILE *to)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX];

    if (!r->counts[REPORT_STALLS])
        return;
    fprintf(to, "\nLate by dependency, by object  %10s %10s %10s  %s\n", "at least", "at most",
            "longest", "by operation");
    for (uint32_t i = 0; i < r->counts[REPORT_STALLS] && i < STALL_ROWS; i++) {
        const struct report_stall *x = &r->stalls[i];
        char name[48] = "";

        if (r->counts[REPORT_DUMPS] > 1)
            snprintf(name, sizeof(name), "dump %" PRIu64 ", ", x->dump + 1);
        snprintf(name + strlen(name), sizeof(name) - strlen(name), "object %" PRIu64, x->object);
        fprintf(to, "  %-16s %11" PRIu64 " %10s %10s %10s  %" PRIu64 " (%s%s", name, x->operations,
                duration_text(x->waited, a), duration_text(report_stall_most(x), b),
                duration_text(x->longest, c), x->number, x->procedure, x->what[0] ? " of " : "");
        escape_print(to, x->what);
        fprintf(to, ")\n");
    }
}

/* Median and 99 % of one kind of latency. */
static void two_times(const struct report_times *t, FILE *to)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    fprintf(to, "  %9s %9s", t->count ? duration_text(t->p50, a) : "-",
            t->count ? duration_text(t->p99, b) : "-");
}

static void latencies(const struct report *r, FILE *to)
{
    fprintf(to, "\nLatency: median, 99 %%     %-21s%-21s%s\n", "of the trace", "from sending",
            "from the plan");
    for (uint32_t i = 0; i < r->counts[REPORT_PROCEDURES]; i++) {
        const struct report_procedure *p = &r->procedures[i];

        fprintf(to, "  %-20s", p->name);
        two_times(&p->trace, to);
        two_times(&p->sent, to);
        two_times(&p->planned, to);
        fprintf(to, "\n");
    }
}

static void mix(const struct report *r, FILE *to)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    fprintf(to, "\nOperations             count   share      differ       read    written\n");
    for (uint32_t i = 0; i < r->counts[REPORT_PROCEDURES]; i++) {
        const struct report_procedure *p = &r->procedures[i];

        fprintf(to, "  %-14s %11" PRIu64 " %6.2f %% %10" PRIu64 " %10s %10s\n", p->name,
                p->operations, report_share(p->operations, r->run.operations), p->differ,
                p->bytes_read ? size_text((uint64_t)p->bytes_read, a) : "-",
                p->bytes_written ? size_text((uint64_t)p->bytes_written, b) : "-");
    }
}

static void data_set(const char *name, const struct report_set *s, FILE *to)
{
    char a[VALUE_TEXT_MAX];

    fprintf(to, "  %-9s %" PRIu64 " files with %s, %" PRIu64 " directories, %" PRIu64 " others\n",
            name, s->files, size_text((uint64_t)s->bytes, a), s->directories, s->others);
}

static void player(const struct report *r, FILE *to)
{
    const struct report_run *run = &r->run;
    double cpu = (double)run->cpu_user + (double)run->cpu_system;
    uint64_t count = report_timed(r);
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    fprintf(to, "\nData before the run\n");
    data_set("in all", &run->initial, to);
    data_set("accessed", &run->accessed, to);
    fprintf(to, "\nThe player\n");
    fprintf(to, "  %s of CPU (%.0f %% of a core), %s for each operation\n", report_time(cpu, a),
            run->duration > 0 ? 100 * cpu / (double)run->duration : 0,
            report_time(count ? cpu / (double)count : 0, b));
    if (run->writes)
        fprintf(to, "  %.1f calls in each write\n", (double)run->calls / (double)run->writes);
    fprintf(to,
            "  %" PRIu64 " calls sent again, %" PRIu64 " connections lost, %" PRIu64
            " %s of %s in all\n",
            run->resent, run->lost_connections, run->outages,
            run->outages == 1 ? "outage" : "outages", duration_text(run->outages_ns, a));
    if (run->warm_up)
        fprintf(to,
                "  %" PRIu64
                " operations of the warm-up are only in the verdict and in the counts of "
                "operations\n",
                run->warm_up);
}

/* The intervals in a few rows: those of the trace beside those of the run. */
static void over_time(const struct report *r, FILE *to)
{
    uint32_t count = r->counts[REPORT_INTERVALS];
    uint32_t each = (count + ROWS_OVER_TIME - 1) / ROWS_OVER_TIME;
    int64_t length = r->run.interval_length;
    char a[VALUE_TEXT_MAX];

    if (count < 2)
        return;
    fprintf(to, "\nOver time    operations a second      at the same time    differ\n"
                "  from          run      trace       run     trace\n");
    for (uint32_t i = 0; i < count; i += each) {
        uint32_t end = i + each < count ? i + each : count;
        double ns = (double)length * (end - i);
        struct report_interval sum = { 0 };

        for (uint32_t k = i; k < end; k++) {
            sum.done += r->intervals[k].done;
            sum.trace_done += r->intervals[k].trace_done;
            sum.busy += r->intervals[k].busy;
            sum.trace_busy += r->intervals[k].trace_busy;
            sum.errors += r->intervals[k].errors;
        }
        if (ns <= 0)
            return;
        fprintf(to, "  %-8s %8.0f   %8.0f  %8.2f  %8.2f %9" PRIu64 "\n",
                report_time((double)length * i, a), (double)sum.done * 1e9 / ns,
                (double)sum.trace_done * 1e9 / ns, (double)sum.busy / ns,
                (double)sum.trace_busy / ns, sum.errors);
    }
}

void report_text(const struct report *r, FILE *to)
{
    report_title(r, to);
    report_conditions(r, "", to);
    if (r->run.note[0]) {
        escape_print(to, r->run.note);
        putc('\n', to);
    }
    verdict(r, to);
    dumps(r, to);
    report_rules_text(r, to);
    examples(r, to);
    schedule(r, to);
    stalls(r, to);
    latencies(r, to);
    mix(r, to);
    over_time(r, to);
    player(r, to);
}
