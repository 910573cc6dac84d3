/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/cmd_populate.c
 *
 * nfsreplay populate: everything that can be wrong is looked at before the first change.
 */
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "replay/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what the callbacks see */

struct watcher {
    const struct session *session;
    const char *doing;
    bool tells; /* differences are printed */
};

static int on_differs(void *ctx, const char *path, const char *text, struct err *err)
{
    const struct watcher *w = ctx;

    if (!w->tells)
        return 0;
    session_progress(w->session, NULL);
    if (w->session->options->trees_json) {
        struct json j = { .out = stdout };

        json_object(&j, NULL);
        json_text(&j, "path", path);
        json_text(&j, "difference", text);
        json_object_end(&j);
        json_end(&j);
        return j.failed ? err_memory(err, "a name") : 0;
    }
    /* the report is alone on standard output */
    fprintf(w->session->options->json ? stderr : stdout, "%s: %s\n", path, text);
    return 0;
}

static int on_progress(void *ctx, const struct populate_counts *c, struct err *err)
{
    const struct watcher *w = ctx;
    char done[VALUE_TEXT_MAX], all[VALUE_TEXT_MAX], size[VALUE_TEXT_MAX], text[160];

    (void)err;
    snprintf(text, sizeof(text), "%s: %s of %s objects, %s", w->doing,
             count_text(c->there + c->made, done), count_text(c->objects, all),
             size_text(c->written + c->read, size));
    session_progress(w->session, text);
    return 0;
}

static int go_through(struct session *s, struct session_target *t, enum populate_mode mode,
                      bool tells, struct populate_counts *counts, struct err *err)
{
    struct watcher watcher = { s, mode == POPULATE_MAKE ? "making" : "looking", tells };
    struct populate_setup setup = { .loop = s->loop,
                                    .target = &t->target,
                                    .plan = &t->plan,
                                    .mode = mode,
                                    .contents = s->options->contents,
                                    .reads = s->options->check_contents,
                                    .scratch = { t->place.scratch, t->place.scratch_len },
                                    .connections = (uint32_t)s->options->connections,
                                    .outstanding = (uint32_t)s->options->outstanding,
                                    .differs = on_differs,
                                    .progress = on_progress,
                                    .ctx = &watcher };
    int result = 0;

    if (mode == POPULATE_CHECK && t->place.marker.contents[0])
        result = contents_parse(t->place.marker.contents, &setup.contents, err);
    if (result == 0)
        result = populate(&setup, counts, err);
    session_progress(s, NULL);
    return result;
}

/* |c| NULL: the tree is there, and nfsreplay did not make it. */
static void put_counts(const struct session_target *t, const struct populate_counts *c,
                       int64_t took)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_text(&j, "target", t->text);
    json_bool(&j, "foreign", !c);
    if (c) {
        json_u64(&j, "objects", c->objects);
        json_u64(&j, "there", c->there);
        json_u64(&j, "made", c->made);
        json_u64(&j, "refused", c->refused);
        json_u64(&j, "links", c->links);
        json_u64(&j, "links_made", c->links_made);
        json_u64(&j, "written", c->written);
        json_u64(&j, "read", c->read);
        json_u64(&j, "differences", c->differences);
        json_bool(&j, "interrupted", c->interrupted);
        json_i64(&j, "took", took);
    }
    json_object_end(&j);
    json_end(&j);
}

static void print_counts(const struct session *s, const struct session_target *t,
                         const struct populate_counts *c, int64_t took)
{
    uint64_t missing = c->objects - c->there - c->made - c->refused;
    char objects[VALUE_TEXT_MAX], made[VALUE_TEXT_MAX], size[VALUE_TEXT_MAX], time[VALUE_TEXT_MAX];
    char text[VALUE_TEXT_MAX];

    if (s->options->trees_json)
        put_counts(t, c, took);
    if (s->options->quiet || s->options->trees_json)
        return;
    escape_print(stdout, t->where);
    printf(": %s objects, %s made, %s written, in %s", count_text(c->objects, objects),
           count_text(c->made, made), size_text(c->written, size), duration_text(took, time));
    if (s->options->check_contents)
        printf("; %s compared", size_text(c->read, text));
    if (c->links)
        printf("; %s further links, %" PRIu64 " made", count_text(c->links, text), c->links_made);
    if (c->refused)
        printf("; %s that the server does not make", count_text(c->refused, text));
    if (missing)
        printf("; %s %s", count_text(missing, text), c->interrupted ? "not reached" : "missing");
    if (c->differences)
        printf("; %s differences", count_text(c->differences, text));
    puts(c->interrupted ? "; interrupted" : "");
}

/* --- what can be wrong */

/* |refused|: objects that are missing, as the server does not make such. */
static int compare_foreign(struct session *s, struct session_target *t, uint64_t refused,
                           struct err *err)
{
    struct populate_counts counts;
    int result = go_through(s, t, POPULATE_CHECK, false, &counts, err);
    char differences[VALUE_TEXT_MAX];

    if (result < 0 || counts.interrupted || counts.differences <= refused)
        return result;
    return err_set(err, ERR_INPUT,
                   "%s has a tree that nfsreplay did not make, and that is not as the dump wants "
                   "it: %s difference%s, which \"nfsreplay populate --check\" shows",
                   t->text, count_text(counts.differences, differences),
                   counts.differences == 1 ? "" : "s");
}

/* A tree without our marker: it counts if it is complete (ftnfsd --image makes it). */
static int look_at_foreign(struct session *s, struct session_target *t, bool *complete,
                           struct err *err)
{
    struct populate_counts counts;
    int result = go_through(s, t, POPULATE_FIND, false, &counts, err);
    char missing[VALUE_TEXT_MAX], objects[VALUE_TEXT_MAX];
    const char *other = t->place.other[0] ? t->place.other : RDUMP_SCRATCH;

    if (result < 0)
        return result;
    *complete = !counts.interrupted && counts.there + counts.refused == counts.objects;
    if (counts.interrupted)
        return 0;
    if (*complete)
        return compare_foreign(s, t, counts.refused, err);
    return err_set(err, ERR_INPUT,
                   "%s is neither empty nor a tree of nfsreplay: it has \"%s\", and %s of the "
                   "dump's %s objects are missing",
                   t->text, other, count_text(counts.objects - counts.there, missing),
                   count_text(counts.objects, objects));
}

static int check_marker(const struct session *s, const struct session_target *t, struct err *err)
{
    const struct marker *m = &t->place.marker;

    if (!session_is_ours(t))
        return err_set(err, ERR_INPUT,
                       "%s has the tree of another dump, or of another server of this one: "
                       "\"nfsreplay clean\" with that one removes it",
                       t->text);
    if (m->state == MARKER_PLAYED)
        return err_set(err, ERR_INPUT,
                       "%s was played on, so its tree is no longer that of the dump: "
                       "\"nfsreplay clean\" removes it",
                       t->text);
    if (m->contents[0] && strcmp(m->contents, s->options->contents.text) != 0)
        return err_set(err, ERR_INPUT,
                       "%s was filled with \"%s\": say --fill %s, or \"nfsreplay clean\" first",
                       t->text, m->contents, m->contents);
    return 0;
}

/* What all trees on the same target of the command line still need. */
static void needs(const struct session *s, const struct session_target *t, uint64_t *bytes,
                  uint64_t *objects)
{
    *bytes = *objects = 0;
    for (uint32_t i = 0; i < s->target_count; i++)
        if (s->targets[i].index == t->index && s->targets[i].place.marker.state == MARKER_NONE) {
            const struct plan *plan = &s->targets[i].plan;

            *bytes = plan->bytes > UINT64_MAX - *bytes ? UINT64_MAX : *bytes + plan->bytes;
            *objects += plan->object_count;
        }
}

static int check_space(const struct session *s, struct session_target *t, struct err *err)
{
    struct FSSTAT3args args = { t->directory.parent };
    struct FSSTAT3res res;
    char wants[VALUE_TEXT_MAX], has[VALUE_TEXT_MAX];
    uint64_t bytes, objects;
    int result;

    if (t->plan.largest > t->target.maxfilesize)
        return err_set(err, ERR_INPUT, "%s: the largest file has %s, and the server takes %s",
                       t->text, size_text(t->plan.largest, wants),
                       size_text(t->target.maxfilesize, has));
    if (t->place.marker.state != MARKER_NONE)
        return 0;
    needs(s, t, &bytes, &objects);
    if (s->options->contents.kind == CONTENTS_SPARSE)
        bytes = 0;
    result = pipeline_ask(t->pipeline, NFS3_FSSTAT, &args, &res, err);
    if (result < 0)
        return result;
    if (result == 0 && res.abytes < bytes && !s->options->force)
        return err_set(err, ERR_INPUT,
                       "%s has room for %s, and the files of the tree have %s: say --fill sparse, "
                       "or --force",
                       t->text, size_text(res.abytes, has), size_text(bytes, wants));
    if (result == 0 && res.afiles < objects && res.tfiles && !s->options->force)
        return err_set(err, ERR_INPUT,
                       "%s has room for %" PRIu64 " files, and the tree has %" PRIu64
                       " objects: --force tries nevertheless",
                       t->text, res.afiles, objects);
    return 0;
}

static int check_sizes(const struct session *s, const struct session_target *t, struct err *err)
{
    const struct survey *survey = &t->dump->survey;
    const struct target *to = &t->target;

    if (s->options->force || (survey->read_most <= to->rtmax && survey->write_most <= to->wtmax))
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s moves at most %u bytes in a READ and %u in a WRITE, and the trace up to %u "
                   "and %u: their answers would differ; --force goes on",
                   t->text, to->rtmax, to->wtmax, survey->read_most, survey->write_most);
}

/* --- making */

/* The directories that nfsreplay has for itself.  What it cannot use it leaves as it was. */
static int make_directories(struct session_target *t, struct err *err)
{
    bool was_there = t->target.root_len;
    struct err ignored = { 0 };
    int result = session_make_directory(t, err);

    if (result == 0)
        result = marker_scratch(t->pipeline, &t->target, &t->place, err);
    if (result < 0 && !was_there)
        session_remove_directory(t, &ignored);
    return result;
}

static int make_tree(struct session *s, struct session_target *t, struct populate_counts *counts,
                     struct err *err)
{
    int result = make_directories(t, err);

    if (result < 0)
        return err_prefix(err, "%s", t->text);
    t->place.marker.state = MARKER_MAKING;
    t->place.marker.identity = t->identity;
    memcpy(t->place.marker.contents, s->options->contents.text, sizeof(t->place.marker.contents));
    result = marker_write(t->pipeline, &t->place, err);
    if (result == 0)
        result = go_through(s, t, POPULATE_MAKE, true, counts, err);
    if (result == 0 && !counts->interrupted) {
        t->place.marker.state = MARKER_MADE;
        result = marker_write(t->pipeline, &t->place, err);
    }
    return result < 0 ? err_prefix(err, "%s", t->text) : 0;
}

/* Looks at everything that can be wrong.  |complete|: the tree is there without our marker. */
static int check_target(struct session *s, struct session_target *t, bool *complete,
                        struct err *err)
{
    const struct marker_place *place = &t->place;
    int result = 0;

    if (place->marker.state != MARKER_NONE)
        result = check_marker(s, t, err);
    else if (marker_is_foreign(place))
        result = look_at_foreign(s, t, complete, err);
    if (result == 0 && !*complete)
        result = check_space(s, t, err);
    return result == 0 ? check_sizes(s, t, err) : result;
}

static int make_target(struct session *s, struct session_target *t, bool complete, bool *differs,
                       struct err *err)
{
    struct populate_counts counts;
    int64_t begun = loop_clock();
    int result;

    if (complete) {
        if (s->options->trees_json) {
            put_counts(t, NULL, 0);
        } else if (!s->options->quiet) {
            escape_print(stdout, t->where);
            puts(": the tree is there, and nfsreplay did not make it");
        }
        return 0;
    }
    result = make_tree(s, t, &counts, err);
    if (result == 0)
        print_counts(s, t, &counts, loop_clock() - begun);
    if (result == 0 && differs)
        *differs |= counts.differences > counts.refused;
    return result;
}

int make_trees(struct session *s, bool *differs, struct err *err)
{
    bool *complete = calloc((size_t)s->target_count + 1, sizeof(*complete));
    int result = complete ? 0 : err_memory(err, "targets");

    for (uint32_t i = 0; i < s->target_count && result == 0; i++)
        result = check_target(s, &s->targets[i], &complete[i], err);
    for (uint32_t i = 0; i < s->target_count && result == 0 && !session_interrupted(s); i++)
        result = make_target(s, &s->targets[i], complete[i], differs, err);
    free(complete);
    return result == 0 && session_interrupted(s) ? 1 : result;
}

/* --- the command */

/* --check: 1 if something differs. */
static int check_trees(struct session *s, struct err *err)
{
    struct populate_counts counts;
    bool differs = false;
    int result = 0;

    for (uint32_t i = 0; i < s->target_count && result == 0; i++) {
        int64_t begun = loop_clock();

        if (!s->targets[i].target.root_len)
            return err_set(err, ERR_INPUT, "%s: there is no tree of the dump", s->targets[i].text);
        result = go_through(s, &s->targets[i], POPULATE_CHECK, true, &counts, err);
        if (result < 0)
            break;
        print_counts(s, &s->targets[i], &counts, loop_clock() - begun);
        differs |= counts.differences || counts.interrupted ||
                   counts.there + counts.refused < counts.objects;
    }
    return result < 0 ? result : differs;
}

int cmd_populate(int argc, char **argv, struct err *err)
{
    static struct replay_options options;
    static struct session session;
    bool differs = false;
    int result = replay_options(&options, REPLAY_POPULATE, argc, argv, err);

    if (result != 1)
        return result;
    result = session_open(&session, &options, err);
    if (result == 0 && !options.check)
        result = session_survey(&session, false, err);
    if (result == 0)
        result = options.check ? check_trees(&session, err) : make_trees(&session, &differs, err);
    result = command_result(&session, result == 0 ? differs : result);
    session_progress(&session, NULL);
    session_close(&session);
    return result;
}
