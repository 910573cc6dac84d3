/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/cmd_play.c
 *
 * nfsreplay play and run.
 */
#include "base/escape.h"
#include "base/values.h"
#include "replay/commands.h"
#include "replay/play.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>

enum { SHOWN = 20 };

/* --- what a person sees */

static void print_classes(const struct tally *t)
{
    char count[VALUE_TEXT_MAX];

    for (uint32_t i = 0; i < VERDICT_CLASSES; i++)
        if (t->class[i])
            printf("  %-18s %12s\n", verdict_class_name((enum verdict_class)i),
                   count_text(t->class[i], count));
}

static void print_example(const struct session *s, const struct tally_example *e)
{
    const struct procedure *procedure = rdump_procedure(e->procedure);

    if (s->dump_count > 1) {
        escape_print(stdout, s->dumps[e->dump].directory);
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

static void print_differences(const struct session *s, const struct tally *t)
{
    for (uint32_t i = 0, shown = 0; i < t->example_count && shown < SHOWN; i++)
        if (verdict_differs(t->examples[i].class)) {
            print_example(s, &t->examples[i]);
            shown++;
        }
}

static void print_run(const struct play *p, const char *why)
{
    const struct tally *t = p->tally;
    char took[VALUE_TEXT_MAX], cpu[VALUE_TEXT_MAX];
    uint64_t done = 0;
    int64_t ns = t->ended - t->begun;

    for (uint32_t i = 0; i < VERDICT_CLASSES; i++)
        done += i != VERDICT_NOT_PLAYED ? t->class[i] : 0;
    print_classes(t);
    printf("%" PRIu64 " operations in %s (%.0f a second), CPU %s%s%s\n", done,
           duration_text(ns, took), ns > 0 ? (double)done * 1e9 / (double)ns : 0,
           duration_text(t->cpu_user + t->cpu_system, cpu), why[0] ? "; " : "", why);
}

/* What was kept, printed: all that --output, --json and --quiet ask for. */
static int tell(const struct play *p, struct report *report, struct err *err)
{
    const struct replay_options *o = p->session->options;
    char pace[REPLAY_PACE_TEXT], dumps[REPLAY_NAMES_TEXT], targets[REPLAY_NAMES_TEXT];
    int result = 0;

    report_fill(report, replay_dumps_text(o, dumps), replay_targets_text(o, targets),
                replay_pace_text(o, pace), p->tally);
    play_note(p, report->run.note, sizeof(report->run.note));
    if (o->output)
        result = report_save(report, p->tally, o->output, err);
    if (o->json)
        return result == 0 ? report_json(report, stdout, err) : result;
    print_differences(p->session, p->tally);
    if (!o->quiet)
        print_run(p, report->run.note);
    return result;
}

/* True if every operation that can be played, and was, ended as in the trace. */
static bool as_recorded(const struct tally *t)
{
    for (uint32_t i = 0; i < VERDICT_CLASSES; i++)
        if (verdict_differs((enum verdict_class)i) && t->class[i])
            return false;
    return true;
}

/* --- the commands */

int look_at_markers(struct session *s, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < s->target_count && result == 0; i++)
        result = session_look(&s->targets[i], err);
    return result;
}

void drop_trees(struct session *s, struct report *report)
{
    for (uint32_t i = 0; i < s->dump_count; i++) {
        report_data(report, &s->dumps[i].script);
        script_drop_tree(&s->dumps[i].script);
    }
}

static void tell_damage(const struct play *p)
{
    for (uint32_t i = 0; i < p->session->dump_count && !p->session->options->quiet; i++) {
        const char *damage = play_damage(p, i);

        if (damage)
            fprintf(stderr, "nfsreplay: %s: what stood before was played\n", damage);
    }
}

static int play_all(struct session *s, struct err *err)
{
    static struct play play;
    struct report *report = report_new(err);
    struct tally *tally = report ? tally_new(err) : NULL;
    int result = -err->code, told;

    if (tally) {
        result = play_new(&play, s, tally, err);
        if (result == 0) {
            drop_trees(s, report);
            result = play_run(&play, err);
            told = tell(&play, report, result == 0 ? err : NULL);
            result = result == 0 ? told : result;
        }
        if (result == 0) {
            tell_damage(&play);
            result = as_recorded(tally) && !play.interrupted ? 0 : 1;
        }
        play_free(&play);
    }
    tally_free(tally);
    report_free(report);
    return result;
}

static int run(int argc, char **argv, enum replay_command command, struct err *err)
{
    static struct replay_options options;
    static struct session session;
    int result = replay_options(&options, command, argc, argv, err);

    if (result != 1)
        return result;
    result = session_open(&session, &options, err);
    if (result == 0)
        result = session_survey(&session, !options.partial, err);
    if (result == 0 && command == REPLAY_RUN) {
        result = make_trees(&session, err);
        if (result == 0)
            result = look_at_markers(&session, err);
    }
    if (result == 0)
        result = play_all(&session, err);
    if (result >= 0 && session_end_recording(&session, err) < 0)
        result = -err->code;
    session_progress(&session, NULL);
    session_close(&session);
    return result;
}

int cmd_play(int argc, char **argv, struct err *err)
{
    return run(argc, argv, REPLAY_PLAY, err);
}

int cmd_run(int argc, char **argv, struct err *err)
{
    return run(argc, argv, REPLAY_RUN, err);
}
