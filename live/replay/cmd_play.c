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

static void print_example(const struct tally_example *e)
{
    const struct procedure *procedure = rdump_procedure(e->procedure);

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

static void print_differences(const struct tally *t)
{
    for (uint32_t i = 0, shown = 0; i < t->example_count && shown < SHOWN; i++)
        if (verdict_differs(t->examples[i].class)) {
            print_example(&t->examples[i]);
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
    char pace[REPLAY_PACE_TEXT];
    int result = 0;

    report_fill(report, o->dump, o->targets[0].address, replay_pace_text(o, pace), p->tally);
    play_note(p, report->run.note, sizeof(report->run.note));
    if (o->output)
        result = report_save(report, p->tally, o->output, err);
    if (o->json)
        return result == 0 ? report_json(report, stdout, err) : result;
    print_differences(p->tally);
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

int look_at_dump(const struct replay_options *o, struct survey *to, struct err *err)
{
    int result = survey_dump(o->dump, to, err);

    if (result == 0 && to->damaged && !o->partial)
        return err_set(err, ERR_INPUT, "%s: --partial plays what stands before", to->damage);
    return result;
}

static int play_all(struct session *s, const struct survey *survey, struct err *err)
{
    static struct play play;
    struct report *report = report_new(err);
    int result = report ? play_new(&play, s, survey, err) : -err->code, told;

    if (result == 0) {
        report_data(report, &s->script);
        script_drop_tree(&s->script);
        result = play_run(&play, err);
        told = tell(&play, report, result == 0 ? err : NULL);
        result = result == 0 ? told : result;
    }
    if (result == 0 && play.damaged && !s->options->quiet)
        fprintf(stderr, "nfsreplay: %s: what stood before was played\n", play.damage);
    if (result == 0)
        result = as_recorded(play.tally) && !play.interrupted ? 0 : 1;
    play_free(&play);
    report_free(report);
    return result;
}

int look_at_markers(struct session *s, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < s->target_count && result == 0; i++) {
        struct session_target *t = &s->targets[i];

        result = marker_find(t->pipeline, &t->target, &t->place, err);
    }
    return result;
}

static int run(int argc, char **argv, enum replay_command command, struct err *err)
{
    static struct replay_options options;
    static struct session session;
    struct survey seen;
    int result = replay_options(&options, command, argc, argv, err);

    if (result != 1)
        return result;
    result = look_at_dump(&options, &seen, err);
    if (result < 0)
        return result;
    result = session_open(&session, &options, err);
    if (result == 0 && command == REPLAY_RUN) {
        result = make_trees(&session, err);
        if (result == 0)
            result = look_at_markers(&session, err);
    }
    if (result == 0)
        result = play_all(&session, &seen, err);
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
