/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/cmd_curve.c
 *
 * nfsreplay curve: latency against throughput.  Each run has a session and a new tree of its own.
 */
#include "replay/commands.h"
#include "replay/curve.h"
#include "replay/play.h"
#include "replay/rules_told.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct measuring {
    const struct replay_options *asked;
    struct replay_options one; /* of the run at hand: one target and its pace */
    struct survey survey;
    struct curve curve;
    uint32_t target, number; /* of the run at hand, as curve_add wants them */
    struct tally all;        /* |rules| only: of all runs */
};

/* --- a run */

/* Keeps what the run has shown.  An interrupted one is no point of the curve: 1. */
static int keep(struct measuring *m, const struct play *play, struct report *report,
                struct err *err)
{
    char pace[REPLAY_PACE_TEXT], how[REPLAY_OPTIONS_TEXT], name[CURVE_RUN_TEXT], folder[4096];
    struct curve_point *point;

    report_fill(report, m->one.dumps[0].path, m->one.targets[0].address,
                replay_pace_text(&m->one, pace), play->tally);
    report_rules(report, m->one.rules, play->tally);
    snprintf(report->run.options, sizeof(report->run.options), "%s",
             replay_options_text(&m->one, how));
    rules_add(&m->all, play->tally);
    play_note(play, report->run.note, sizeof(report->run.note));
    if (snprintf(folder, sizeof(folder), "%s/%s", m->asked->output,
                 curve_run_name(m->target, m->number, name)) >= (int)sizeof(folder))
        return err_set(err, ERR_SYSTEM, "%s: the path is too long", m->asked->output);
    if (report_save(report, play->tally, folder, err) < 0)
        return -err->code;
    if (play->interrupted)
        return 1;
    point = curve_add(&m->curve, m->target, m->number, report, play->tally, err);
    if (!point)
        return -err->code;
    if (m->number)
        point->wanted = m->one.rate;
    if (!m->asked->quiet)
        curve_print_row(point, stdout);
    return 0;
}

static int play_once(struct measuring *m, struct session *s, struct err *err)
{
    static struct play play;
    struct report *report = report_new(err);
    struct tally *tally = report ? tally_new(err) : NULL;
    int result = -err->code;

    if (tally)
        result = rules_tally(m->asked, tally, err);
    if (tally && result == 0) {
        result = play_new(&play, s, tally, err);
        if (result == 0) {
            drop_trees(s, report);
            result = play_run(&play, err);
        }
        if (result == 0)
            result = keep(m, &play, report, err);
        play_free(&play);
    }
    tally_free(tally);
    report_free(report);
    return result;
}

/* Removes the tree, and if |plays|, makes it again and plays on it.  Returns 1 if a signal
 * interrupted it. */
static int run_once(struct measuring *m, bool plays, struct err *err)
{
    static struct session session;
    int result = session_open(&session, &m->one, err);

    session.terminal = !m->asked->quiet && isatty(STDERR_FILENO);
    for (uint32_t i = 0; i < session.dump_count; i++)
        session.dumps[i].survey = m->survey;
    if (result == 0)
        result = remove_trees(&session, err);
    if (result == 0 && plays) {
        result = look_at_markers(&session, err);
        if (result == 0)
            result = make_trees(&session, NULL, err);
        if (result == 0)
            result = look_at_markers(&session, err);
        if (result == 0)
            result = play_once(m, &session, err);
    }
    if (result < 0 && session_interrupted(&session))
        result = 1; /* whatever question it left without an answer */
    session_progress(&session, NULL);
    session_close(&session);
    return result;
}

/* --- the runs */

static int measure_target(struct measuring *m, uint32_t target, struct err *err)
{
    uint64_t points = m->asked->points;
    double most;
    int result;

    m->one = *m->asked;
    m->one.targets[0] = m->asked->targets[target];
    m->one.target_count = 1;
    m->one.quiet = true; /* the table tells */
    m->one.pace = PACE_ASAP;
    m->target = target;
    m->number = 0;
    if (!m->asked->quiet)
        curve_print_head(&m->curve, target, stdout);
    result = run_once(m, true, err);
    if (result != 0)
        return result;
    most = m->curve.points[m->curve.count - 1].reached;
    if (!(most > 0))
        return err_set(err, ERR_INPUT, "%s answered nothing%s, so no rate can be planned",
                       m->one.targets[0].address, m->asked->warm_up ? " behind the warm-up" : "");
    m->one.pace = PACE_RATE;
    while (m->number < points && result == 0) {
        m->number++;
        m->one.rate = most * m->number / (double)points;
        result = run_once(m, true, err);
    }
    return result == 0 ? run_once(m, false, err) : result;
}

/* What would refuse the last target hours later is said now. */
static int check_targets(struct measuring *m, struct err *err)
{
    static struct session session;
    int result = 0;

    for (uint32_t i = 0; i < m->asked->target_count && result == 0; i++) {
        m->one = *m->asked;
        m->one.targets[0] = m->asked->targets[i];
        m->one.target_count = 1;
        result = session_open(&session, &m->one, err);
        if (result == 0)
            result = check_removable(&session, err);
        if (result < 0 && session_interrupted(&session))
            result = 1;
        session_close(&session);
    }
    return result;
}

static int measure(struct measuring *m, struct err *err)
{
    struct err ignored = { 0 };
    int result = check_targets(m, err), saved;

    for (uint32_t i = 0; i < m->asked->target_count && result == 0; i++)
        result = measure_target(m, i, err);
    if (result == 1)
        fputs("nfsreplay: interrupted: the curve has the runs before\n", stderr);
    if (!m->curve.count)
        return result;
    saved = curve_save(&m->curve, result < 0 ? &ignored : err); /* also of what stood before */
    result = result < 0 || saved == 0 ? result : saved;
    if (result >= 0 && m->asked->json && curve_print_json(&m->curve, stdout, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < m->curve.count && result == 0; i++)
        result = m->curve.points[i].differ ? 1 : 0;
    return result;
}

/* --- before */

static int check_servers(const struct script *script, struct err *err)
{
    uint32_t servers = 0;

    for (uint32_t i = 1; i <= script->host_count; i++)
        servers += script->hosts[i].is_server;
    if (servers <= 1)
        return 0;
    return err_set(err, ERR_USAGE,
                   "%s has %u servers, and a curve is of one: \"nfsdigest rdump\" makes dumps "
                   "of a part of a trace",
                   script->path, servers);
}

/* The trace must have one server: each target stands for it. */
static int check_dump(struct measuring *m, struct err *err)
{
    const char *path = m->asked->dumps[0].path;
    struct script script = { 0 };
    struct stat st;
    int result;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, ERR_USAGE,
                       "%s: a curve reads the dump several times, so it must be a file", path);
    result = script_open(&script, path, err);
    if (result == 0)
        result = survey_dump(&script, &m->survey, err);
    if (result == 0 && m->survey.damaged && !m->asked->partial)
        result =
            err_set(err, ERR_INPUT, "%s: --partial plays what stands before", m->survey.damage);
    if (result == 0)
        result = check_servers(&script, err);
    script_close(&script);
    if (result == 0 && m->survey.damaged && !m->asked->quiet)
        fprintf(stderr, "nfsreplay: %s: what stands before is played\n", m->survey.damage);
    return result;
}

int cmd_curve(int argc, char **argv, struct err *err)
{
    static struct replay_options options;
    static struct measuring m;
    int result = replay_options(&options, REPLAY_CURVE, argc, argv, err);

    if (result != 1)
        return result;
    m.asked = &options;
    result = check_dump(&m, err);
    if (result == 0)
        result = curve_open(&m.curve, &options, err);
    if (result == 0)
        result = rules_tally(&options, &m.all, err);
    if (result == 0)
        result = make_folder(options.output, "a curve", err);
    if (result == 0) {
        result = measure(&m, err);
        rmdir(options.output); /* if there is nothing in it */
        if (result >= 0 && !options.quiet && rules_tell(options.rules, m.all.rules, err) < 0)
            result = -err->code;
    }
    curve_close(&m.curve);
    free(m.all.rules);
    replay_options_free(&options);
    return result;
}
