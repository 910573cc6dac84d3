/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/ingest/follow.c
 *
 * Takes one file after the other from the folder, and says to the reader of each (live.h) whether
 * it is at its end.  Commits every few seconds.  For "nfsdigest ingest --follow".  The contract is
 * in follow.h.
 */
#include "ingest/follow.h"
#include "ingest/folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { COMMIT_MS = 2000, SCAN_MS = 500, WAIT_MS = 100 };

struct following {
    struct follow *f;
    struct store *store;
    struct ingest *ingest;
    struct folder *folder;             /* NULL: a pipe */
    int64_t committed, scanned, moved; /* ms: the last commit, scan, and time when anything came */
    bool ended;                        /* the user wants it, or nothing came */
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is_stopped(void *ctx)
{
    struct following *w = ctx;

    if (!w->ended && w->f->stopped(w->f->ctx)) {
        w->ended = true;
        w->f->end = FOLLOW_STOPPED;
    }
    return w->ended;
}

static void tick(struct following *w)
{
    if (w->f->tick)
        w->f->tick(w->f->ctx);
}

static bool is_due(void *ctx)
{
    struct following *w = ctx;

    tick(w);
    return now_ms() - w->committed >= COMMIT_MS;
}

static void add_store(const struct following *w, struct follow_totals *t)
{
    const struct store_totals *s = store_totals(w->store);

    t->operations += s->operations;
    t->retransmissions += s->retransmissions;
}

static int commit(void *ctx, struct err *err)
{
    struct following *w = ctx;
    int result = store_commit_part(w->store, err);

    w->f->so_far = w->f->totals;
    add_store(w, &w->f->so_far);
    w->committed = now_ms(); /* not counted: a slow disk is not made slower */
    return result;
}

static int scan(struct following *w, struct err *err)
{
    int64_t now = now_ms();

    if (!w->folder || now - w->scanned < SCAN_MS)
        return 0;
    w->scanned = now;
    return folder_scan(w->folder, err);
}

/* Whether nothing came for too long. */
static bool is_idle(struct following *w)
{
    if (w->f->idle && (now_ms() - w->moved) * 1000000 >= w->f->idle) {
        w->ended = true;
        w->f->end = FOLLOW_IDLE;
    }
    return w->ended;
}

static void came(void *ctx)
{
    struct following *w = ctx;

    w->moved = now_ms();
}

/* Of struct live: whether more is expected of this file. */
static int still(void *ctx, struct err *err)
{
    struct following *w = ctx;

    if (scan(w, err) < 0)
        return -err->code;
    return !(w->folder && folder_has_more(w->folder)) && !is_stopped(w) && !is_idle(w);
}

static void count(struct following *w, int result)
{
    struct follow_totals *t = &w->f->totals;

    t->cut += result == INGEST_CUT;
    t->unusable += result == -ERR_INPUT;
    if (result != INGEST_STORED && result != INGEST_CUT)
        return;
    t->files++;
    t->frames += store_totals(w->store)->frames;
    add_store(w, t);
}

static int one(struct following *w, const char *path, struct err *err)
{
    struct live live = {
        .still = still, .stopped = is_stopped, .due = is_due, .rest = commit, .came = came, .ctx = w
    };
    struct err note = { 0 };
    uint64_t size = 0;
    int result;

    w->committed = now_ms();
    result = ingest_live(w->ingest, path, &live, &size, &note, err);
    if (result < 0 && result != -ERR_INPUT)
        return result;
    if (w->folder)
        folder_done(w->folder, size);
    count(w, result);
    w->f->so_far = w->f->totals;
    w->f->told(w->f->ctx, path, result, &note, err);
    return 0;
}

/* Until there is a file: 1, or 0 if none is expected any more. */
static int wait_file(struct following *w, struct err *err)
{
    const struct timespec pause = { .tv_nsec = WAIT_MS * 1000000L };

    for (;;) {
        if (scan(w, err) < 0)
            return -err->code;
        if (is_stopped(w))
            return 0;
        if (folder_has_more(w->folder))
            return 1;
        if (is_idle(w))
            return 0;
        tick(w);
        nanosleep(&pause, NULL);
    }
}

static int all(struct following *w, struct err *err)
{
    int result;

    if (!w->folder)
        return one(w, w->f->path, err);
    while ((result = wait_file(w, err)) == 1) {
        const char *path = folder_take(w->folder, err);

        w->moved = now_ms();
        result = path ? one(w, path, err) : -err->code;
        if (result < 0)
            break;
    }
    return result;
}

/* What the folder had that the database has not. */
static int sum_up(struct following *w, struct err *err)
{
    const struct folder_losses *losses;

    if (!w->folder)
        return 0;
    if (folder_scan(w->folder, err) < 0)
        return -err->code;
    losses = folder_losses(w->folder);
    w->f->totals.vanished = losses->vanished;
    w->f->totals.grown = losses->grown;
    w->f->totals.other = losses->other;
    w->f->totals.left = losses->left;
    snprintf(w->f->lost, sizeof(w->f->lost), "%s", losses->name ? losses->name : "");
    return 0;
}

/* tcpdump may make its file later; a wrong name looks the same. */
static void say_missing(const struct follow *f)
{
    struct stat st;
    char text[512];

    if (stat(f->path, &st) == 0)
        return;
    snprintf(text, sizeof(text), "%.300s: is not there yet: waiting for it", f->path);
    progress_say(f->progress, text);
}

/* A pipe has no successors. */
static bool is_pipe(const char *path)
{
    struct stat st;

    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

int follow_run(struct store *store, const struct engine_options *options, struct follow *f,
               struct err *err)
{
    struct following w = { .f = f, .store = store, .moved = now_ms() };
    int result = 0;

    f->end = FOLLOW_ENDED;
    w.ingest = ingest_new(store, options, f->progress, err);
    if (w.ingest && !is_pipe(f->path))
        w.folder = folder_new(f->path, err);
    if (!w.ingest || (!w.folder && !is_pipe(f->path)) || store_follow(store, err) < 0)
        result = -err->code;
    w.scanned = -SCAN_MS;
    if (result == 0 && w.folder)
        say_missing(f);
    if (result == 0)
        result = all(&w, err);
    if (result == 0 &&
        (ingest_finish(w.ingest, err) < 0 || store_finished(store, err) < 0 || sum_up(&w, err) < 0))
        result = -err->code;
    folder_free(w.folder);
    ingest_free(w.ingest);
    return result;
}
