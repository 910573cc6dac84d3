/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_ingest_follow.c
 *
 * "nfsdigest ingest --follow": says what became of each file, and in the end of all.  The work is
 * ingest/follow.h's.
 */
#include "base/json.h"
#include "base/values.h"
#include "cli/cli.h"
#include "cli/ingest_job.h"
#include "cli/signals.h"
#include "ingest/follow.h"
#include "tell/tell.h"

#include <stdio.h>

struct followed {
    const struct ingest_job *job;
    struct store *store;
    const struct follow *follow;
    struct tell *tell; /* or NULL */
};

enum { FILES, FRAMES, OPERATIONS, RETRANSMISSIONS, CUT, UNUSABLE, COUNT };

static const struct metric table[COUNT] = {
    [FILES] = { "nfsdigest_ingest_files_total", METRIC_COUNTER, "files that were stored", NULL },
    [FRAMES] = { "nfsdigest_ingest_frames_total", METRIC_COUNTER, "frames of these files", NULL },
    [OPERATIONS] = { "nfsdigest_ingest_operations_total", METRIC_COUNTER,
                     "operations that were committed", NULL },
    [RETRANSMISSIONS] = { "nfsdigest_ingest_retransmissions_total", METRIC_COUNTER,
                          "retransmissions that were committed", NULL },
    [CUT] = { "nfsdigest_ingest_cut_files_total", METRIC_COUNTER,
              "files of which a part was stored", NULL },
    [UNUSABLE] = { "nfsdigest_ingest_unusable_files_total", METRIC_COUNTER,
                   "files that could not be stored", NULL },
};

static int collect(void *ctx, struct metrics_page *page, struct err *err)
{
    const struct followed *f = ctx;
    const struct follow_totals *t = &f->follow->so_far;
    const uint64_t values[COUNT] = { t->files,           t->frames, t->operations,
                                     t->retransmissions, t->cut,    t->unusable };

    (void)err;
    for (int i = 0; i < COUNT; i++)
        metrics_page_u64(page, &table[i], NULL, values[i]);
    return 0;
}

static int begin_metrics(struct followed *f, const char *address, struct err *err)
{
    const struct tell_setup setup = { address, table, COUNT, collect, f };
    char listens[TELL_ADDRESS], text[TELL_ADDRESS + 32];

    if (!address)
        return 0;
    f->tell = tell_new(&setup, listens, err);
    if (!f->tell)
        return -err->code;
    snprintf(text, sizeof(text), "metrics: %s", listens);
    say(text);
    return 0;
}

/* A database is worth more than its metrics: it goes on without them. */
static void tick(void *ctx)
{
    struct followed *f = ctx;
    struct err err;

    if (tell_poll(f->tell, &err) == 0)
        return;
    say(err.text);
    tell_free(f->tell);
    f->tell = NULL;
}

static atomic_bool stop; /* as long as the process: its thread for signals sets it */

static bool is_stopped(void *ctx)
{
    (void)ctx;
    return atomic_load(&stop);
}

static void told(void *ctx, const char *path, int result, const struct err *note,
                 const struct err *err)
{
    struct followed *f = ctx;

    if (note->text[0])
        say(note->text);
    ingest_tell(f->job, f->store, path, result, err);
    if (result == INGEST_CUT || result == -ERR_INPUT)
        say(err->text);
    fflush(stdout);
}

/* What the database lacks. */
static void say_losses(const struct follow *f)
{
    const struct follow_totals *t = &f->totals;
    char text[1024];

    if (t->vanished) {
        snprintf(text, sizeof(text), "%llu files went before they were read%s%s",
                 (unsigned long long)t->vanished, t->grown ? "" : ", the last one was ",
                 t->grown ? "" : f->lost);
        say(text);
    }
    if (t->grown) {
        snprintf(text, sizeof(text),
                 "%llu files grew after a later one was there: what was added is not in the "
                 "database; the "
                 "last one was %s",
                 (unsigned long long)t->grown, f->lost);
        say(text);
    }
    if (t->left) {
        snprintf(text, sizeof(text),
                 "%llu files were not begun; the same command without --follow "
                 "adds them",
                 (unsigned long long)t->left);
        say(text);
    }
}

static void say_totals(const struct follow *f)
{
    static const char *const why[] = { "the pipe was closed", "ended by a signal",
                                       "nothing came for --idle" };
    const struct follow_totals *t = &f->totals;
    char frames[VALUE_TEXT_MAX], operations[VALUE_TEXT_MAX], further[VALUE_TEXT_MAX];
    char files[VALUE_TEXT_MAX], text[512];

    snprintf(text, sizeof(text), "%s: %s files, %s frames, %s operations, %s retransmissions",
             why[f->end], count_text(t->files, files), count_text(t->frames, frames),
             count_text(t->operations, operations), count_text(t->retransmissions, further));
    say(text);
}

static void print_totals(const struct follow *f)
{
    static const char *const why[] = { "closed", "signal", "idle" };
    const struct follow_totals *t = &f->totals;
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_text(&j, "end", why[f->end]);
    json_u64(&j, "files", t->files);
    json_u64(&j, "frames", t->frames);
    json_u64(&j, "operations", t->operations);
    json_u64(&j, "retransmissions", t->retransmissions);
    json_u64(&j, "cut", t->cut);
    json_u64(&j, "unusable", t->unusable);
    json_u64(&j, "vanished", t->vanished);
    json_u64(&j, "grown", t->grown);
    json_u64(&j, "left", t->left);
    json_u64(&j, "no_captures", t->other);
    json_object_end(&j);
    json_end(&j);
}

int ingest_follow(const struct ingest_job *job, const struct follow_args *args, struct err *err)
{
    struct followed followed = { .job = job };
    struct follow f = { .path = job->paths[0],
                        .idle = args->idle,
                        .stopped = is_stopped,
                        .told = told,
                        .tick = tick,
                        .ctx = &followed,
                        .progress = &progress_line };
    int result;

    if (job->count != 1)
        return err_set(
            err, ERR_USAGE,
            "--follow takes one file, pipe or folder: name the folder of rotated captures");
    followed.follow = &f;
    followed.store = store_open(job->database, STORE_WRITE, err);
    if (!followed.store)
        return -err->code;
    signals_catch(&stop);
    result = begin_metrics(&followed, args->metrics, err);
    if (result == 0)
        result = follow_run(followed.store, job->options, &f, err);
    tell_free(followed.tell);
    store_close(followed.store);
    progress_clear();
    if (result < 0)
        return result;
    say_losses(&f);
    if (job->json)
        print_totals(&f);
    else if (!job->quiet)
        say_totals(&f);
    return f.totals.cut || f.totals.unusable || f.totals.vanished || f.totals.grown ? ERR_INPUT : 0;
}
