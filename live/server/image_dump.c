/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/image_dump.c
 *
 * The tree of a replay dump, for image.h.  Objects come before entries in a dump, and an entry may
 * come before the one of its directory: so all of them are kept.  Then roots are made, and from
 * each directory what is in it; links that no entry shows; and attributes at the end, because each
 * name that is made changes times.
 */
#include "base/grow.h"
#include "rdump/rdump_check.h"
#include "rdump/rdump_place.h"
#include "server/image_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NSEC = 1000000000, SCRATCH_MODE = 0700 };

struct placed {
    struct rdump_object record; /* its link's text is in |texts| */
    uint64_t text;
    uint32_t entries;     /* that lead to it */
    uint32_t first, last; /* entries in it: index + 1; 0: none */
    uint32_t object;      /* of the file system; 0: not made yet */
};

struct name {
    uint64_t at; /* in |texts| */
    uint32_t len, object, next;
};

struct tree {
    const struct image *image;
    struct placed *objects; /* by number - 1 */
    struct name *names;
    uint32_t object_count, object_cap, name_count, name_cap;
    struct buf texts;
    uint32_t *queue; /* numbers of objects, as they were made */
    uint32_t queued, scratch;
};

/* --- reading */

static int no_memory(const struct tree *t)
{
    return err_memory(t->image->err, "the tree of a dump");
}

static int keep_text(struct tree *t, struct bytes text, uint64_t *at)
{
    *at = t->texts.len;
    return text.len && buf_append(&t->texts, text.data, text.len) < 0 ? no_memory(t) : 0;
}

static int keep_object(struct tree *t, const struct rdump_object *o)
{
    struct placed *p;

    if (GROW(t->objects, t->object_count, t->object_cap) < 0)
        return no_memory(t);
    p = &t->objects[t->object_count++];
    *p = (struct placed){ .record = *o };
    p->record.root.len = 0;
    return keep_text(t, o->link, &p->text);
}

static int keep_entry(struct tree *t, const struct rdump_entry *e)
{
    struct placed *parent = &t->objects[e->parent - 1];
    struct name *name;

    if (t->name_count == UINT32_MAX - 1 || GROW(t->names, t->name_count, t->name_cap) < 0)
        return no_memory(t);
    name = &t->names[t->name_count++];
    *name = (struct name){ .len = e->name.len, .object = e->object };
    t->objects[e->object - 1].entries++;
    if (parent->last)
        t->names[parent->last - 1].next = t->name_count;
    else
        parent->first = t->name_count;
    parent->last = t->name_count;
    return keep_text(t, e->name, &name->at);
}

/* A record without findings refers only to objects that are there. */
static int keep(struct tree *t, enum rdump_kind kind, const void *record)
{
    if (kind == RDUMP_OBJECT)
        return keep_object(t, record);
    return kind == RDUMP_ENTRY ? keep_entry(t, record) : 0;
}

static int found(const struct tree *t, const struct rdump_summary *s)
{
    const char *text = (const char *)s->text.data;
    int len = (int)strcspn(text, "\n");

    return err_set(t->image->err, ERR_INPUT,
                   "%s: %.*s; \"nfsdigest rdump --check\" lists all of it", t->image->path, len,
                   text);
}

/* Reads up to the first operation, with which the checker looks at the whole tree. */
static int read_records(struct tree *t, struct rdump_reader *reader, struct rdump_checker *checker,
                        struct rdump_summary *summary)
{
    struct err *err = t->image->err;
    enum rdump_kind kind = RDUMP_TRACE;
    const void *record;
    int result = 1;

    while (result > 0 && kind < RDUMP_OPERATION) {
        result = rdump_next(reader, &kind, &record, err);
        if (result <= 0)
            break;
        if (rdump_checker_put(checker, kind, record, err) < 0)
            return err_prefix(err, "%s", t->image->path);
        if (buf_append(&summary->text, "", 1) < 0)
            return no_memory(t);
        summary->text.len--;
        result = summary->findings ? found(t, summary) : keep(t, kind, record) < 0 ? -err->code : 1;
    }
    return result < 0 ? result : 0;
}

static int read_tree(struct tree *t)
{
    struct rdump_summary summary = { 0 };
    struct err *err = t->image->err;
    struct rdump_checker *checker = rdump_checker_new(&summary, err);
    struct rdump_reader *reader =
        checker ? rdump_reader_new(t->image->fd, t->image->path, err) : NULL;
    int result = reader ? read_records(t, reader, checker, &summary) : -err->code;

    rdump_reader_free(reader);
    rdump_checker_free(checker);
    rdump_summary_free(&summary);
    return result;
}

/* --- making */

static struct bytes text_at(const struct tree *t, uint64_t at, uint32_t len)
{
    return (struct bytes){ t->texts.data + at, len };
}

static int make(struct tree *t, uint32_t number, uint32_t dir, struct bytes name)
{
    struct placed *p = &t->objects[number - 1];
    struct rdump_object *r = &p->record;
    struct image_object o = { .dir = dir, .name = name, .key = number, .size = r->size };

    r->link.data = t->texts.data + p->text;
    o.new_object.type = r->type ? r->type : NF3REG;
    o.new_object.rdev = (struct specdata3){ r->rdev[0], r->rdev[1] };
    if (r->type == NF3LNK)
        o.new_object.link_text = rdump_link_text(r);
    t->queue[t->queued++] = number;
    return image_done(t->image, image_make(t->image, &o, &p->object), "object %u", number);
}

static int make_root(struct tree *t, uint32_t number)
{
    char name[RDUMP_NAME_ROOM];

    rdump_root_name(number, name);
    t->image->counts->roots++;
    return make(t, number, fs_root(t->image->fs),
                (struct bytes){ (const uint8_t *)name, (uint32_t)strlen(name) });
}

static int make_names(struct tree *t, const struct placed *dir)
{
    int result = 0;

    for (uint32_t n = dir->first; n && result == 0; n = t->names[n - 1].next) {
        const struct name *name = &t->names[n - 1];
        const struct placed *p = &t->objects[name->object - 1];
        struct bytes text = text_at(t, name->at, name->len);

        if (!p->object)
            result = make(t, name->object, dir->object, text);
        else
            result = image_done(t->image,
                                fs_link(t->image->fs, &image_root, p->object, dir->object, text),
                                "object %u", name->object);
    }
    return result;
}

static int make_scratch(struct tree *t)
{
    struct image_object o = {
        .dir = fs_root(t->image->fs),
        .name = { (const uint8_t *)RDUMP_SCRATCH, strlen(RDUMP_SCRATCH) },
        .new_object = { .type = NF3DIR, .attributes = { .set_mode = true, .mode = SCRATCH_MODE } }
    };

    if (image_done(t->image, image_make(t->image, &o, &t->scratch), RDUMP_SCRATCH) < 0)
        return -t->image->err->code;
    t->image->counts->objects--; /* it is not the dump's */
    return 0;
}

static int make_further_links(struct tree *t, const struct placed *p)
{
    uint32_t count = rdump_further_links(&p->record, p->entries);
    char name[RDUMP_NAME_ROOM];
    int result = count && !t->scratch ? make_scratch(t) : 0;

    for (uint32_t k = 1; k <= count && result == 0; k++) {
        rdump_link_name(p->record.number, k, name);
        result =
            image_done(t->image,
                       fs_link(t->image->fs, &image_root, p->object, t->scratch,
                               (struct bytes){ (const uint8_t *)name, (uint32_t)strlen(name) }),
                       "object %u", p->record.number);
        t->image->counts->further++;
    }
    return result;
}

static struct nfstime3 time_of(int64_t ns)
{
    int64_t seconds = ns / NSEC;

    if (ns < 0)
        return (struct nfstime3){ 0 };
    if (seconds > UINT32_MAX)
        return (struct nfstime3){ UINT32_MAX, 0 };
    return (struct nfstime3){ (uint32_t)seconds, (uint32_t)(ns % NSEC) };
}

static int set_attributes(const struct tree *t, const struct placed *p)
{
    const struct rdump_object *r = &p->record;
    struct fattr3 to;

    fs_attributes(t->image->fs, p->object, &to);
    to.mode = r->mode;
    to.uid = r->uid;
    to.gid = r->gid;
    to.atime = time_of(r->atime);
    to.mtime = time_of(r->mtime);
    to.ctime = time_of(r->ctime);
    return image_done(t->image, fs_set_all(t->image->fs, p->object, &to), "object %u", r->number);
}

static int make_tree(struct tree *t)
{
    int result = 0;

    t->queue = calloc(t->object_count + (size_t)1, sizeof(*t->queue));
    if (!t->queue)
        return no_memory(t);
    for (uint32_t n = 1; n <= t->object_count && result == 0; n++)
        if (!t->objects[n - 1].entries)
            result = make_root(t, n);
    for (uint32_t at = 0; at < t->queued && result == 0; at++)
        result = make_names(t, &t->objects[t->queue[at] - 1]);
    if (result == 0 && t->queued != t->object_count)
        return err_set(t->image->err, ERR_INPUT, "%s: objects that no root leads to",
                       t->image->path);
    for (uint32_t n = 0; n < t->object_count && result == 0; n++)
        result = make_further_links(t, &t->objects[n]);
    for (uint32_t n = 0; n < t->object_count && result == 0; n++)
        result = set_attributes(t, &t->objects[n]);
    return result;
}

int image_dump(struct image *image)
{
    struct tree t = { .image = image };
    int result = read_tree(&t);

    if (result == 0)
        result = make_tree(&t);
    free(t.objects);
    free(t.names);
    free(t.queue);
    buf_free(&t.texts);
    return result;
}
