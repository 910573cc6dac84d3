/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/cmd_play.c
 *
 * nfsreplay play and run.  Each round has a session of its own; the tally adds them up.
 */
#include "replay/commands.h"
#include "base/escape.h"
#include "replay/play.h"
#include "replay/cmd_play_tell.h"
#include "replay/rules_told.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All rounds. */
struct rounds {
    const struct replay_options *options;
    struct tally *tally;
    struct report *report;
    uint64_t played;
    bool ended;        /* no further one */
    bool tree_differs; /* run: what was made is not all as the dump wants it */
    char note[192];    /* of the last one */
};

static void note_rounds(const struct rounds *r, char *to, size_t size)
{
    bool all = r->played == r->options->rounds;

    if (all)
        snprintf(to, size, "%s", r->note);
    else
        snprintf(to, size, "%" PRIu64 " of %" PRIu64 " rounds%s%s", r->played, r->options->rounds,
                 r->note[0] ? "; " : "", r->note);
}

static int tell(struct rounds *r, struct err *err)
{
    char note[sizeof(r->report->run.note)];

    note_rounds(r, note, sizeof(note));
    return play_tell(r->options, r->report, r->tally, note, err);
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
    char name[sizeof(report->dumps[0].name)];

    for (uint32_t i = 0; i < s->dump_count; i++) {
        struct session_dump *d = &s->dumps[i];

        if (d->directory[0])
            snprintf(name, sizeof(name), "%.100s (%.150s)", d->directory, d->path);
        else
            snprintf(name, sizeof(name), "%.255s", d->path);
        if (report)
            report_dump(report, name, d->delay);
        for (uint32_t k = 0; k < d->target_count && report; k++)
            report_data(report, &d->script, d->targets[k].target.server);
        script_drop_tree(&d->script);
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

static int play_round(struct rounds *r, struct session *s, struct err *err)
{
    static struct play play;
    int result = play_new(&play, s, r->tally, err);

    if (result == 0) {
        drop_trees(s, r->played ? NULL : r->report);
        result = play_run(&play, err);
        play_note(&play, r->note, sizeof(r->note));
        if (result == 0 && !r->played)
            tell_damage(&play);
        r->played++;
        r->ended = result < 0 || play.interrupted || r->tally->gave_up;
    }
    play_free(&play);
    return result;
}

/* --- before a round */

static bool changes(const struct session *s)
{
    for (uint32_t i = 0; i < s->dump_count; i++)
        if (s->dumps[i].survey.changes)
            return true;
    return false;
}

/* Between rounds only a tree of this program's is removed. */
static int check_rounds(const struct session *s, struct err *err)
{
    for (uint32_t i = 0; i < s->target_count && changes(s); i++)
        if (s->targets[i].place.marker.state == MARKER_NONE)
            return err_set(err, ERR_INPUT,
                           "%s: nfsreplay did not make the tree, and does not remove it between "
                           "rounds: --loop plays there only dumps that change nothing",
                           s->targets[i].text);
    return 0;
}

/* The trees as they were, with the contents that they had. */
static int make_anew(struct rounds *r, struct session *s, struct err *err)
{
    struct replay_options quiet = *s->options;
    const struct replay_options *options = s->options;
    int result = 0;

    if (!changes(s))
        return 0;
    quiet.quiet = true;
    for (uint32_t i = 0; i < s->target_count && result == 0; i++) {
        const char *text = s->targets[i].place.marker.contents;

        if (i && strcmp(text, quiet.contents.text) != 0)
            result = err_set(err, ERR_INPUT, "%s was filled with \"%s\", and others with \"%s\"",
                             s->targets[i].text, text, quiet.contents.text);
        else
            result = contents_parse(text, &quiet.contents, err);
    }
    s->options = &quiet;
    if (result == 0)
        result = remove_trees(s, err);
    if (result == 0)
        result = look_at_markers(s, err);
    if (result == 0)
        result = make_trees(s, &r->tree_differs, err);
    if (result == 0)
        result = look_at_markers(s, err);
    s->options = options;
    return result;
}

/* One session.  Returns 1 if a signal ended it before the operations. */
static int run_round(struct rounds *r, enum replay_command command, struct err *err)
{
    static struct session session;
    int result = session_open(&session, r->options, err);

    if (result == 0)
        result = session_survey(&session, !r->options->partial, err);
    if (result == 0 && command == REPLAY_RUN && !r->played) {
        result = make_trees(&session, &r->tree_differs, err);
        if (result == 0)
            result = look_at_markers(&session, err);
    }
    if (result == 0 && r->options->rounds > 1)
        result = r->played ? make_anew(r, &session, err) : check_rounds(&session, err);
    if (result == 0)
        result = play_round(r, &session, err);
    if (result < 0 && r->played && !r->ended && session_interrupted(&session))
        result = 1; /* whatever question it left without an answer */
    if (!r->played)
        result = command_result(&session, result);
    if (r->played && result == 1)
        snprintf(r->note, sizeof(r->note), "interrupted by a signal");
    if (result >= 0 && session_end_recording(&session, err) < 0)
        result = -err->code;
    session_progress(&session, NULL);
    session_close(&session);
    return result;
}

int make_folder(const char *path, const char *what, struct err *err)
{
    if (mkdir(path, 0777) == 0)
        return 0;
    return err_set(err, errno == EEXIST ? ERR_USAGE : ERR_SYSTEM, "%s: %s%s%s%s", path,
                   strerror(errno), errno == EEXIST ? ": " : "", errno == EEXIST ? what : "",
                   errno == EEXIST ? " needs a new folder" : "");
}

static int run(int argc, char **argv, enum replay_command command, struct err *err)
{
    static struct replay_options options;
    struct rounds r = { .options = &options };
    int result = replay_options(&options, command, argc, argv, err), told;
    struct err further = { 0 };
    bool made;

    if (result != 1)
        return result;
    r.report = report_new(err);
    r.tally = r.report ? tally_new(err) : NULL;
    result = r.tally ? rules_tally(&options, r.tally, err) : -err->code;
    if (result == 0 && options.output)
        result = make_folder(options.output, "a run", err);
    made = result == 0 && options.output;
    while (result == 0 && r.played < options.rounds && !r.ended) {
        if (r.played)
            tally_round(r.tally);
        result = run_round(&r, command, err);
    }
    if (r.played) {
        told = tell(&r, result >= 0 ? err : &further);
        if (result < 0 && told < 0) { /* two errors */
            fputs("nfsreplay: ", stderr);
            escape_print(stderr, further.text);
            putc('\n', stderr);
        }
        result = result < 0 ? result : told;
        if (result == 0)
            result = play_is_as_recorded(r.tally) && !r.ended && !r.tree_differs &&
                             r.played == options.rounds
                         ? 0
                         : 1;
    }
    if (made)
        rmdir(options.output); /* if there is nothing in it */
    tally_free(r.tally);
    report_free(r.report);
    replay_options_free(&options);
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
