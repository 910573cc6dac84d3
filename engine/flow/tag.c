/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/tag.h"

enum { STATUS_NOENT = 2, STATUS_NOTDIR = 20 }; /* NFS3ERR_..., RFC 1813 s2.6 */

/* The latest change of |object| before this operation becomes its dependency if it is the latest of
 * all; then this operation is the latest change, if it is one. */
static void depend(struct objects *o, struct record_operation *op, uint32_t object, bool modifies)
{
    struct object *x = &o->objects[object];

    if (!object)
        return;
    if (x->modified_by > op->depends_on && x->modified_by != op->id)
        op->depends_on = x->modified_by;
    if (modifies)
        x->modified_by = op->id;
}

/* The object behind a handle of a call, if there is one. */
static int find(struct objects *o, const struct record_operation *op, uint32_t server,
                struct bytes handle, uint32_t *id, struct err *err)
{
    if (!handle.data)
        return 0;
    *id = object_id(o, server, handle, op->call.frame, op->call.time, err);
    return *id ? 0 : -ERR_SYSTEM;
}

int tag_call(struct objects *o, struct record_operation *op, const struct scan *s, uint32_t server,
             uint32_t *parent, uint32_t *parent2, struct err *err)
{
    const struct bytes none = { 0 };
    uint32_t object = 0, named;

    *parent = *parent2 = 0;
    op->offset = s->offset;
    op->count = s->count;
    op->call.flags |= (s->roles & ROLE_RANGE_START ? SIGHTING_OFFSET : 0) |
                      (s->roles & ROLE_RANGE_LENGTH ? SIGHTING_COUNT : 0);
    if (find(o, op, server, s->parent, parent, err) < 0 ||
        find(o, op, server, s->parent2, parent2, err) < 0 ||
        find(o, op, server, s->object, &object, err) < 0)
        return -ERR_SYSTEM;
    op->object = object ? object : *parent;
    op->object2 = *parent2;
    depend(o, op, (uint32_t)op->object, s->object_role & ROLE_MODIFIES);
    depend(o, op, *parent2, s->parent2_role & ROLE_MODIFIES);
    if (*parent && s->name.data) {
        named = object_named(o, *parent, s->name);
        depend(o, op, named, s->name_role & ROLE_MODIFIES);
        op->path = object_path(o, *parent, s->name, err);
    } else if (op->object) {
        op->path = object_path(o, (uint32_t)op->object, none, err);
    } else if (s->root_path.data) {
        op->path = object_mount_path(o, s->root_path, err);
    }
    if (*parent2 && s->name2.data) {
        named = object_named(o, *parent2, s->name2);
        depend(o, op, named, s->name2_role & ROLE_MODIFIES);
        op->path2 = object_path(o, *parent2, s->name2, err);
    }
    return ((op->object || s->root_path.data) && !op->path) ||
                   (*parent2 && s->name2.data && !op->path2)
               ? -ERR_SYSTEM
               : 0;
}

static struct moment moment_of(const struct record_operation *op)
{
    return (struct moment){ op->id, op->call.time, op->reply.time };
}

static int describe(struct objects *o, uint32_t object, struct scan_attributes about,
                    const struct moment *m, struct err *err)
{
    struct scan_identity i;

    if (!about.data || o->objects[object].described)
        return 0;
    i = scan_identify(about);
    o->objects[object].described = i.type != OBJECT_UNKNOWN;
    return i.type ? object_describe(o, object, i.type, i.fsid, i.fileid, m, err) : 0;
}

/* What the reply says of |object|, in which its call named something.  A name that was found or
 * changed proves a directory, also behind the handle of what was something else: then attributes
 * are read again.  Other failures than NOTDIR let guess one where nothing is known. */
static int tell_directory(struct objects *o, uint32_t object, int64_t status,
                          const struct moment *m, struct err *err)
{
    struct object *x = &o->objects[object];

    if (!object || x->type == OBJECT_DIR || status == STATUS_NONE || status == STATUS_NOTDIR ||
        (status != 0 && x->type != OBJECT_UNKNOWN))
        return 0;
    x->described = false;
    return object_describe(o, object, OBJECT_DIR, 0, 0, m, err);
}

/* |name| stands for |object|, whose attributes are |about|: if these know of one link only, no
 * other name does. */
static int bind(struct objects *o, uint32_t parent, struct bytes name, uint32_t object,
                enum name_event event, struct scan_attributes about, const struct moment *m,
                struct err *err)
{
    const struct object *x = &o->objects[object];
    int rc = object_bind(o, parent, name, object, event, m, err);
    struct scan_identity i;

    if (rc < 0 || !about.data || !x->name || !o->names[x->name].next)
        return rc;
    i = scan_identify(about);
    return i.links == 1 && i.type != OBJECT_DIR ? object_alone(o, parent, name, object, m, err) : 0;
}

int tag_entry(struct objects *o, uint32_t parent, uint32_t server,
              const struct record_operation *op, struct bytes name, struct bytes handle,
              struct scan_attributes about, struct err *err)
{
    uint32_t object = object_id(o, server, handle, op->reply.frame, op->reply.time, err);
    struct moment m = moment_of(op);
    int rc;

    if (!object)
        return -ERR_SYSTEM;
    if ((rc = describe(o, object, about, &m, err)) < 0 || !parent)
        return rc;
    return bind(o, parent, name, object, NAME_SEEN, about, &m, err);
}

/* What the call's name stands for now. */
static int tag_name(struct objects *o, const struct waiting *w, const struct scan *s, uint32_t made,
                    const struct moment *m, struct err *err)
{
    struct bytes name = { w->body + w->name_at, w->name_len };
    bool binds = w->binds & ROLE_NAME;

    if (made && name_is_dots(name))
        return 0;
    if (made)
        return bind(o, w->parent, name, made, binds ? NAME_BOUND : NAME_SEEN, s->attributes_new, m,
                    err);
    /* of what was made there the reply does not say what it is */
    return binds ? object_absent(o, w->parent, name, m, err) : 0;
}

/* |made|: the object that the result gave. */
static int tag_names(struct objects *o, const struct waiting *w, const struct scan *s,
                     uint32_t made, const struct moment *m, struct err *err)
{
    struct bytes name = { w->body + w->name_at, w->name_len };
    struct bytes name2 = { w->body + w->name2_at, w->name2_len };
    bool removes = w->removes & ROLE_NAME, moves = removes && w->binds & ROLE_NAME2;
    int rc = 0;

    if (moves)
        return w->parent && name.len ? object_rename(o, w->parent, name, w->parent2, name2, m, err)
                                     : 0;
    if (w->parent && name.len)
        rc = removes ? object_unbind(o, w->parent, name, m, err) : tag_name(o, w, s, made, m, err);
    if (rc < 0 || !w->parent2 || !name2.len || !(w->binds & ROLE_NAME2))
        return rc;
    return object_bind(o, w->parent2, name2, (uint32_t)w->operation.object, NAME_BOUND, m, err);
}

/* A failed operation changes nothing, but may say that its name is not there: also of one that was
 * sent again, and had succeeded before. */
static int tag_failed(struct objects *o, const struct waiting *w, const struct moment *m,
                      struct err *err)
{
    struct bytes name = { w->body + w->name_at, w->name_len };

    if (w->operation.status != STATUS_NOENT || !w->parent || !name.len || w->binds & ROLE_NAME)
        return 0;
    return object_absent(o, w->parent, name, m, err);
}

int tag_reply(struct objects *o, struct waiting *w, const struct scan *s, uint32_t server,
              struct err *err)
{
    struct record_operation *op = &w->operation;
    struct bytes root = { w->body + w->root_path_at, w->root_path_len };
    struct bytes name = { w->body + w->name_at, w->name_len };
    struct moment m = moment_of(op);
    uint32_t made = 0;
    int rc = 0;

    if ((rc = tell_directory(o, w->parent, op->status, &m, err)) < 0 ||
        (rc = tell_directory(o, w->parent2, op->status, &m, err)) < 0)
        return rc;
    if (op->status != 0)
        return tag_failed(o, w, &m, err);
    if (s->new_object.data) {
        made = object_id(o, server, s->new_object, op->reply.frame, op->reply.time, err);
        if (!made)
            return -ERR_SYSTEM;
        op->new_object = made;
        if (w->binds & ROLE_NAME) { /* maybe behind the handle of what was there before */
            o->objects[made].described = false;
            o->objects[made].modified_by = op->id;
        }
        rc = describe(o, made, s->attributes_new, &m, err);
        if (rc == 0 && root.len)
            return object_mounted(o, made, root, &m, err);
    }
    if (rc == 0 && op->object)
        rc = describe(o, (uint32_t)op->object, s->attributes, &m, err);
    if (rc == 0)
        rc = tag_names(o, w, s, made, &m, err);
    if (rc == 0 && made && name_is_dots(name)) { /* now it is known where they lead */
        op->path = object_path(o, made, (struct bytes){ 0 }, err);
        rc = op->path ? 0 : -ERR_SYSTEM;
    }
    return rc;
}
