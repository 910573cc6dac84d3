/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/play_tree.c
 *
 * Finding the trees of a dump.  See play_tree.h.
 */
#include "replay/play_tree.h"
#include "base/values.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the tree */

struct finder {
    struct play_tree *tree;
    const struct session_target *target;
};

static int on_found(void *ctx, const struct rdump_object *o, struct bytes handle,
                    const struct fattr3 *a, struct err *err)
{
    const struct finder *f = ctx;
    struct play_tree *p = f->tree;
    struct object *object;

    if (o->type == NF3DIR && o->knows & RDUMP_KNOWS_NLINK) {
        p->link_counts++;
        p->link_counts_differ += o->nlink != a->nlink;
    }
    object = objects_add(p->objects, o->number, err);
    if (!object)
        return -err->code;
    object->type = (uint8_t)a->type;
    object->size = a->size;
    object->ctime = a->ctime;
    object->has_ctime = true;
    object->maker = OBJECTS_NOBODY;
    return objects_set_handle(p->objects, f->target->target.server, object, handle, err);
}

static int on_progress(void *ctx, const struct populate_counts *c, struct err *err)
{
    const struct finder *f = ctx;
    char there[VALUE_TEXT_MAX], all[VALUE_TEXT_MAX], text[128];

    (void)err;
    snprintf(text, sizeof(text), "finding the tree: %s of %s objects", count_text(c->there, there),
             count_text(c->objects, all));
    session_progress(f->tree->session, text);
    return 0;
}

static int find_tree(struct play_tree *p, struct session_target *t, struct err *err)
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
    int result;

    if (!t->target.root_len)
        return err_set(err, ERR_INPUT, "%s: there is no tree: \"nfsreplay populate\" makes it",
                       t->text);
    result = populate(&setup, &counts, err);

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

static int check_marker(struct play_tree *p, const struct session_target *t, struct err *err)
{
    const struct marker *m = &t->place.marker;
    struct contents contents;

    if (m->state == MARKER_NONE)
        return 0; /* of ftnfsd --image, whose contents are those of live/fill */
    if (!session_is_ours(t))
        return err_set(err, ERR_INPUT,
                       "%s has the tree of another dump, or of another server of this one",
                       t->text);
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

static int make_stale(struct play_tree *p, struct session_target *t, struct err *err)
{
    struct diropargs3 at = { .name = { (const uint8_t *)stale_name, sizeof(stale_name) - 1 } };
    struct diropargs3 scratch = { { t->target.root, t->target.root_len },
                                  { (const uint8_t *)RDUMP_SCRATCH, sizeof(RDUMP_SCRATCH) - 1 } };
    bool was_there = t->place.scratch_len;
    uint32_t server = t->target.server;
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
        memcpy(p->stale_handles[server], found.object.data, found.object.len);
        p->stale[server] = (struct bytes){ p->stale_handles[server], found.object.len };
        result = pipeline_ask(t->pipeline, NFS3_REMOVE, &args, &removed, err);
    }
    if (result == 0 && !was_there) {
        args.object = scratch;
        result = pipeline_ask(t->pipeline, NFS3_RMDIR, &args, &removed, err);
        t->place.scratch_len = 0;
    }
    return refused(result, "making and removing a file in " RDUMP_SCRATCH, err);
}

static int note_played(struct session_target *t, struct err *err)
{
    const struct survey *survey = &t->dump->survey;

    if (t->place.marker.state == MARKER_NONE || (!survey->changes && !survey->is_pipe))
        return 0;
    t->place.marker.state = MARKER_PLAYED;
    return marker_write(t->pipeline, &t->place, err) < 0 ? err_prefix(err, "%s", t->text) : 0;
}

/* --- all targets */

static int open_target(struct play_tree *p, struct session_target *t, struct err *err)
{
    const struct survey *s = &p->dump->survey;
    int result = check_marker(p, t, err);

    if (result == 0 && !p->session->options->force &&
        (s->read_most > t->target.rtmax || s->write_most > t->target.wtmax))
        return err_set(err, ERR_INPUT,
                       "%s moves at most %u bytes in a READ and %u in a WRITE, and the trace up to "
                       "%u and %u: their answers would differ; --force goes on",
                       t->text, t->target.rtmax, t->target.wtmax, s->read_most, s->write_most);
    if (result == 0)
        result = find_tree(p, t, err);
    if (result == 0 && !p->session->follows && make_stale(p, t, err) < 0)
        result = err_prefix(err, "%s", t->text);
    p->targets[t->target.server] = &t->target;
    return result;
}

int play_tree_find(struct play_tree *p, struct session *session, struct session_dump *dump,
                   struct err *err)
{
    size_t hosts = (size_t)dump->script.host_count + 1;
    int result = 0;

    *p = (struct play_tree){ .session = session, .dump = dump, .fills = true };
    p->targets = calloc(hosts, sizeof(struct target *));
    p->stale = calloc(hosts, sizeof(*p->stale));
    p->stale_handles = calloc(hosts, sizeof(*p->stale_handles));
    if (!p->targets || !p->stale || !p->stale_handles)
        return err_memory(err, "targets");
    p->objects = objects_open(err);
    if (!p->objects)
        return -err->code;
    for (uint32_t i = 0; i < dump->target_count && result == 0; i++)
        result = open_target(p, &dump->targets[i], err);
    p->links = p->link_counts && !p->link_counts_differ;
    return result;
}

int play_tree_note(struct play_tree *p, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < p->dump->target_count && result == 0; i++)
        result = note_played(&p->dump->targets[i], err);
    return result;
}

void play_tree_free(struct play_tree *p)
{
    objects_close(p->objects);
    free(p->targets);
    free(p->stale);
    free(p->stale_handles);
}
