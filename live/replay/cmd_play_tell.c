/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/cmd_play_tell.h"
#include "base/escape.h"
#include "base/values.h"
#include "replay/rules_told.h"

#include <inttypes.h>
#include <stdio.h>

enum { SHOWN = 20 };

static void print_classes(const struct tally *t)
{
    char count[VALUE_TEXT_MAX];

    for (uint32_t i = 0; i < VERDICT_CLASSES; i++) {
        if (t->class[i])
            printf("  %-18s %12s\n", verdict_class_name((enum verdict_class)i),
                   count_text(t->class[i], count));
        if (i == VERDICT_AS_RECORDED && t->explained)
            printf("    %-16s %12s\n", "under rules only", count_text(t->explained, count));
    }
}

static void print_example(const struct report *r, const struct tally_example *e)
{
    const struct procedure *procedure = rdump_procedure(e->procedure);

    if (r->counts[REPORT_DUMPS] > 1 && e->dump < r->counts[REPORT_DUMPS]) {
        escape_print(stdout, r->dumps[e->dump].name);
        fputs(": ", stdout);
    }

    printf("operation %" PRIu64 " (%" PRId64 " in the database), %s ", e->number, e->source,
           procedure ? procedure->name : "?");
    escape_print(stdout, e->what);
    printf(": %s", verdict_class_name(e->class));
    if (e->class == VERDICT_SKIPPED)
        printf(" because of operation %" PRIu64, e->because);
    if (e->text[0]) {
        fputs(": ", stdout);
        escape_print(stdout, e->text);
    }
    putchar('\n');
}

static void print_differences(const struct report *r, const struct tally *t)
{
    for (uint32_t i = 0, shown = 0; i < t->example_count && shown < SHOWN; i++)
        if (verdict_differs(t->examples[i].class)) {
            print_example(r, &t->examples[i]);
            shown++;
        }
}

/* The rate is that of the report: what was skipped, left without an answer or played before the
 * measuring took none of this time. */
static void print_run(const struct report *r, const struct tally *t)
{
    char took[VALUE_TEXT_MAX], cpu[VALUE_TEXT_MAX], count[VALUE_TEXT_MAX];
    const char *why = r->run.note;
    uint64_t answered = report_timed(r);

    print_classes(t);
    printf("%s operations answered in %s (%.0f a second)", count_text(answered, count),
           duration_text(r->run.duration, took), report_rate((double)answered, r->run.duration));
    if (r->run.warm_up)
        printf(" behind the %s of the warm-up", count_text(r->run.warm_up, count));
    printf(", CPU %s", duration_text(t->cpu_user + t->cpu_system, cpu));
    if (t->refused)
        printf("; %s of the answers are RPC errors or cannot be read",
               count_text(t->refused, count));
    printf("%s%s\n", why[0] ? "; " : "", why);
}

int play_tell(const struct replay_options *o, struct report *report, const struct tally *tally,
              const char *note, struct err *err)
{
    char pace[REPLAY_PACE_TEXT], dumps[REPLAY_NAMES_TEXT], targets[REPLAY_NAMES_TEXT],
        how[REPLAY_OPTIONS_TEXT];
    int result = 0, printed;

    report_fill(report, replay_dumps_text(o, dumps), replay_targets_text(o, targets),
                replay_pace_text(o, pace), tally);
    report_rules(report, o->rules, tally);
    snprintf(report->run.options, sizeof(report->run.options), "%s", replay_options_text(o, how));
    snprintf(report->run.note, sizeof(report->run.note), "%s", note);
    if (o->output)
        result = report_save(report, tally, o->output, err);
    if (o->json) { /* also if it could not be kept */
        printed = report_json(report, stdout, result == 0 ? err : NULL);
        return result < 0 ? result : printed;
    }
    print_differences(report, tally);
    if (!o->quiet)
        print_run(report, tally);
    if (!o->quiet)
        report_rules_text(report, stdout);
    if (!o->quiet && result == 0)
        result = rules_tell(o->rules, tally->rules, err);
    return result;
}

bool play_is_as_recorded(const struct tally *t)
{
    for (uint32_t i = 0; i < VERDICT_CLASSES; i++)
        if (verdict_differs((enum verdict_class)i) && t->class[i])
            return false;
    return true;
}
