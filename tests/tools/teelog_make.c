/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/teelog_make.c
 *
 *     teelog_make DIR [all]
 *
 * Makes a log of a shadow (live/teelog) from a fixed row of made pairs, and prints the verdict of
 * each as a JSON line: the oracle for what "nfsdigest compare DIR" finds in it.  Then it logs no
 * more until its input ends, so that a test can read the log meanwhile, or kill it.
 */
#define TEELOG_LAB_ALONE
#include "teelog_lab.h"

static void say(const struct world *w, const char *name)
{
    const struct tee_verdict *v = &w->verdict;

    printf("{\"name\":\"%s\",\"what\":%d,\"number\":%llu,\"differences\":%u,\"kinds\":%u,"
           "\"state_differs\":%d}\n",
           name, (int)v->what, (unsigned long long)v->number, v->differences, v->kinds,
           v->state_differs);
}

static void files_and_attributes(struct world *w)
{
    struct attributes_given sut = plain;

    sut.ctime += 1000000000;
    getattr(w, &plain, &sut);
    say(w, "equal");
    sut.mode = 0600;
    getattr(w, &plain, &sut);
    say(w, "mode");
    w->next.overlap = OVERLAP_OBJECT;
    sut.size = 99;
    getattr(w, &plain, &sut);
    say(w, "overlap");
    w->next.overlap = 0;
    read_file(w, "the same contents", "the same contentz");
    say(w, "contents");
    sut = plain;
    sut.size = 99;
    getattr(w, &plain, &sut);
    say(w, "size");
    /* a status; then the object is made again, and is equal */
    getattr(w, &plain, NULL);
    say(w, "status");
    teelog_remade(w->log, FILE_ID);
    sut = plain;
    sut.mtime += 60000000000;
    sut.fileid = 333;
    getattr(w, &plain, &sut);
    say(w, "time");
}

static void listings(struct world *w)
{
    static const bool no[SIDES] = { false, false }, yes[SIDES] = { true, true };

    list(w, 0, (const char *[SIDES]){ "abc", "fb" }, no, false);
    list(w, 3, (const char *[SIDES]){ "def", "edca" }, yes, true);
    say(w, "listing");
    list(w, 0, (const char *[SIDES]){ "abc", "abc" }, no, false);
    list(w, 3, (const char *[SIDES]){ "def", "de" }, yes, true);
    say(w, "entry");
}

static int on_input(void *ctx, uint32_t events, struct err *err)
{
    (void)events, (void)err;
    loop_stop(((struct world *)ctx)->loop);
    return 0;
}

int main(int argc, char **argv)
{
    struct teelog_options options = { .record_all = argc > 2 };
    struct watch watch = { .ready = on_input };
    struct err err = { 0 };
    struct world w;

    if (argc < 2)
        return 2;
    begin_in(&w, argv[1], &options);
    files_and_attributes(&w);
    listings(&w);
    fflush(stdout);
    watch.ctx = &w;
    if (loop_watch(w.loop, &watch, 1, &err) < 0 || loop_run(w.loop, &err) < 0)
        return 4;
    loop_unwatch(w.loop, &watch);
    if (teelog_end(w.log, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 4;
    }
    engine_free(w.engine);
    loop_free(w.loop);
    free(w.operation);
    return 0;
}
