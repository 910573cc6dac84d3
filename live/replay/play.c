/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/play.c
 *
 * See play.h.  One dump, whose servers may be several targets.
 */
#include "replay/play.h"
#include "base/values.h"
#include "fill/fill.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EACH_LEAST = 128 /* calls under way on a connection */ };

/* --- the tree */

struct finder {
    struct play *play;
    const struct session_target *target;
};

static int on_found(void *ctx, const struct rdump_object *o, struct bytes handle,
                    const struct fattr3 *a, struct err *err)
{
    const struct finder *f = ctx;
    struct play *p = f->play;
    struct object *object;

    if (o->type == NF3DIR && o->knows & RDUMP_KNOWS_NLINK) {
        p->link_counts++;
        p->link_counts_differ += o->nlink != a->nlink;
    }
    object = objects_add(p->dump.objects, o->number, err);
    if (!object)
        return -err->code;
    object->type = (uint8_t)a->type;
    object->size = a->size;
    object->ctime = a->ctime;
    object->has_ctime = true;
    object->maker = OBJECTS_NOBODY;
    return objects_set_handle(p->dump.objects, f->target->target.server, object, handle, err);
}

static int on_progress(void *ctx, const struct populate_counts *c, struct err *err)
{
    const struct finder *f = ctx;
    char there[VALUE_TEXT_MAX], all[VALUE_TEXT_MAX], text[128];

    (void)err;
    snprintf(text, sizeof(text), "finding the tree: %s of %s objects", count_text(c->there, there),
             count_text(c->objects, all));
    session_progress(f->play->session, text);
    return 0;
}

static int find_tree(struct play *p, struct session_target *t, struct err *err)
{
    const struct replay_options *o = p->session->options;
    struct finder finder = { p, t };
    struct populate_setup setup = { .loop = p->session->loop,
                                    .target = &t->target,
                                    .plan = &t->plan,
                                    .mode = POPULATE_FIND,
                                    .contents = o->contents,
                                    .scratch = { t->place.scratch, t->place.scratch_len },
                                    .connections = (uint32_t)o->connections,
                                    .found = on_found,
                                    .progress = on_progress,
                                    .ctx = &finder };
    struct populate_counts counts;
    char missing[VALUE_TEXT_MAX], all[VALUE_TEXT_MAX];
    int result = populate(&setup, &counts, err);

    session_progress(p->session, NULL);
    if (result < 0)
        return err_prefix(err, "%s", t->text);
    if (counts.interrupted)
        return err_set(err, ERR_SYSTEM, "interrupted");
    if (counts.there + counts.refused < counts.objects)
        return err_set(err, ERR_INPUT,
                       "%s: %s of the tree's %s objects are missing: \"nfsreplay populate\" makes "
                       "them",
                       t->text, count_text(counts.objects - counts.there - counts.refused, missing),
                       count_text(counts.objects, all));
    return 0;
}

static int check_marker(struct play *p, const struct session_target *t, struct err *err)
{
    const struct marker *m = &t->place.marker;
    struct contents contents;

    if (m->state == MARKER_NONE)
        return 0; /* of ftnfsd --image, whose contents are those of live/fill */
    if (!session_is_ours(p->session, t))
        return err_set(err, ERR_INPUT, "%s has the tree of another dump", t->text);
    if (m->state == MARKER_MAKING)
        return err_set(err, ERR_INPUT,
                       "%s: the tree was not finished: \"nfsreplay populate\" goes on with it",
                       t->text);
    if (m->state == MARKER_PLAYED && !p->session->options->force)
        return err_set(err, ERR_INPUT,
                       "%s was played on before, so its tree is no longer that of the dump: "
                       "\"nfsreplay clean\" removes it; --force plays nevertheless",
                       t->text);
    if (contents_parse(m->contents, &contents, err) < 0)
        return err_prefix(err, "%s: its marker", t->text);
    p->fills &= contents.kind == CONTENTS_FILL;
    return 0;
}

/* --- a handle of something that is gone */

static const char stale_name[] = "stale";

static int refused(int result, const char *what, struct err *err)
{
    char text[32];

    if (result <= 0)
        return result;
    return err_set(err, ERR_INPUT, "%s: %s", what, pipeline_status((uint32_t)result, text));
}

static int make_stale(struct play *p, struct session_target *t, struct err *err)
{
    struct diropargs3 at = { .name = { (const uint8_t *)stale_name, sizeof(stale_name) - 1 } };
    struct diropargs3 scratch = { { t->target.root, t->target.root_len },
                                  { (const uint8_t *)RDUMP_SCRATCH, sizeof(RDUMP_SCRATCH) - 1 } };
    bool was_there = t->place.scratch_len;
    struct CREATE3args create = { .how = { .mode = UNCHECKED } };
    struct LOOKUP3args look_up;
    struct REMOVE3args args;
    struct LOOKUP3res found;
    struct CREATE3res made;
    struct REMOVE3res removed;
    int result = marker_scratch(t->pipeline, &t->target, &t->place, err);

    if (result < 0)
        return result;
    at.dir = (struct bytes){ t->place.scratch, t->place.scratch_len };
    create.where = look_up.what = args.object = at;
    result = pipeline_ask(t->pipeline, NFS3_CREATE, &create, &made, err);
    if (result == 0)
        result = pipeline_ask(t->pipeline, NFS3_LOOKUP, &look_up, &found, err);
    if (result == 0) {
        memcpy(p->stale, found.object.data, found.object.len);
        p->dump.stale = (struct bytes){ p->stale, found.object.len };
        result = pipeline_ask(t->pipeline, NFS3_REMOVE, &args, &removed, err);
    }
    if (result == 0 && !was_there) {
        args.object = scratch;
        result = pipeline_ask(t->pipeline, NFS3_RMDIR, &args, &removed, err);
        t->place.scratch_len = 0;
    }
    return refused(result, "making and removing a file in " RDUMP_SCRATCH, err);
}

static int note_played(struct play *p, struct session_target *t, struct err *err)
{
    if (t->place.marker.state == MARKER_NONE || (!p->survey->changes && !p->survey->is_pipe))
        return 0;
    t->place.marker.state = MARKER_PLAYED;
    return marker_write(t->pipeline, &t->place, err);
}

/* --- the player */

static int open_target(struct play *p, struct session_target *t, struct err *err)
{
    const struct survey *s = p->survey;
    int result = check_marker(p, t, err);

    if (result == 0 && !p->session->options->force &&
        (s->read_most > t->target.rtmax || s->write_most > t->target.wtmax))
        return err_set(err, ERR_INPUT,
                       "%s moves at most %u bytes in a READ and %u in a WRITE, and the trace up to "
                       "%u and %u: their answers would differ; --force goes on",
                       t->text, t->target.rtmax, t->target.wtmax, s->read_most, s->write_most);
    if (result == 0)
        result = find_tree(p, t, err);
    if (result == 0 && make_stale(p, t, err) < 0)
        result = err_prefix(err, "%s", t->text);
    p->targets[t->target.server] = &t->target;
    return result;
}

static int begin(struct play *p, struct err *err)
{
    struct session *s = p->session;
    const struct replay_options *o = s->options;
    struct feed_setup feed = { .script = &s->script,
                               .stop_after = o->stop_after,
                               .partial = o->partial };
    struct verdict_setup verdict = { .script = &s->script,
                                     .objects = p->dump.objects,
                                     .fill = p->fills,
                                     .links = p->link_counts && !p->link_counts_differ,
                                     .ignore = o->ignore,
                                     .late_stale = true };

    p->links = verdict.links;
    p->dump.script = &s->script;
    p->dump.operations = p->survey->operations;
    if (o->stop_after && o->stop_after < p->dump.operations)
        p->dump.operations = o->stop_after;
    p->dump.target = p->targets;
    p->dump.verdicts = verdicts_new(&verdict, err);
    p->tally = tally_new(err);
    if (!p->dump.verdicts || !p->tally)
        return -err->code;
    fill_at(0, 0); /* before there are threads */
    p->dump.feed = feed_new(&feed, err);
    return p->dump.feed ? 0 : -err->code;
}

int play_new(struct play *p, struct session *session, const struct survey *survey, struct err *err)
{
    int result = 0;

    *p = (struct play){ .session = session, .survey = survey, .fills = true };
    p->targets = calloc((size_t)session->script.host_count + 1, sizeof(struct target *));
    p->dump.objects = objects_open(err);
    if (!p->targets)
        return err_memory(err, "targets");
    if (!p->dump.objects)
        return -err->code;
    for (uint32_t i = 0; i < session->target_count && result == 0; i++)
        result = open_target(p, &session->targets[i], err);
    for (uint32_t i = 0; i < session->target_count && result == 0; i++)
        result = note_played(p, &session->targets[i], err);
    return result == 0 ? begin(p, err) : result;
}

/* With a number of connections, they share the calls that may be under way. */
static uint32_t outstanding_each(const struct replay_options *o)
{
    uint64_t each = o->connections ? (o->outstanding + o->connections - 1) / o->connections : 0;

    return each > EACH_LEAST ? (uint32_t)each : EACH_LEAST;
}

static int on_play_progress(void *ctx, const struct player_progress *progress, struct err *err)
{
    const struct play *p = ctx;
    char done[2 * VALUE_TEXT_MAX], total[VALUE_TEXT_MAX], differ[VALUE_TEXT_MAX],
        late[VALUE_TEXT_MAX], text[240];
    uint64_t all = progress->total;

    (void)err;
    if (progress->note && !p->session->options->quiet) {
        session_progress(p->session, NULL);
        fprintf(stderr, "nfsreplay: %s\n", progress->note);
    }
    if (all) /* a dump that changed meanwhile may have more */
        snprintf(done, sizeof(done), "%.0f %% of %s",
                 progress->done < all ? 100.0 * (double)progress->done / (double)all : 100.0,
                 count_text(all, total));
    else
        count_text(progress->done, done);
    snprintf(text, sizeof(text), "%s operations, %s differ, %" PRIu64 " outstanding, %s late", done,
             count_text(progress->differ, differ), progress->outstanding,
             duration_text(progress->late, late));
    session_progress(p->session, text);
    return 0;
}

int play_run(struct play *p, struct err *err)
{
    const struct replay_options *o = p->session->options;
    const struct player_setup setup = { .loop = p->session->loop,
                                        .dumps = &p->dump,
                                        .dump_count = 1,
                                        .pace = o->pace,
                                        .scale = o->scale,
                                        .rate = o->rate,
                                        .order = o->order,
                                        .pick = o->pick,
                                        .seed = o->seed,
                                        .connections = (uint32_t)o->connections,
                                        .outstanding = (uint32_t)o->outstanding,
                                        .outstanding_each = outstanding_each(o),
                                        .warm_up = o->warm_up,
                                        .warm_up_operations = o->warm_up_operations,
                                        .duration = o->duration,
                                        .spin = sysconf(_SC_NPROCESSORS_ONLN) > 1,
                                        .timeout = o->timeout,
                                        .give_up = o->give_up,
                                        .tally = p->tally,
                                        .progress = on_play_progress,
                                        .ctx = p };
    int result;

    p->player = player_new(&setup, err);
    if (!p->player)
        return -err->code;
    result = player_run(p->player, err);
    session_progress(p->session, NULL);
    p->interrupted = session_interrupted(p->session);
    if (result == 0) {
        struct feed_stats stats = feed_stats(p->dump.feed);

        p->shortened = o->stop_after && stats.given == o->stop_after &&
                       (p->survey->is_pipe || p->survey->operations > o->stop_after);
        p->damaged = stats.damaged;
        p->damage = stats.damage;
    }
    return result;
}

void play_note(const struct play *p, char *to, size_t size)
{
    const char *early = p->interrupted          ? "interrupted by a signal"
                        : p->tally->ended_early ? p->tally->ended_early
                                                : "";
    char first[64] = "";

    if (p->shortened)
        snprintf(first, sizeof(first), "only the first %" PRIu64 " operations of the dump",
                 p->session->options->stop_after);
    snprintf(to, size, "%s%s%s%s%s", first, first[0] && early[0] ? "; " : "", early,
             p->tally->unread && (first[0] || early[0]) ? "; " : "",
             p->tally->unread ? "the rest of the dump was not read" : "");
}

void play_free(struct play *p)
{
    player_free(p->player);
    feed_free(p->dump.feed);
    verdicts_free(p->dump.verdicts);
    objects_close(p->dump.objects);
    tally_free(p->tally);
    free(p->targets);
}
