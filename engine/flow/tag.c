/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/tag.h"

enum { STATUS_NOTDIR = 20 }; /* NFS3ERR_NOTDIR, RFC 1813 s2.6 */

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
        depend(o, op, named, s->name_role & (ROLE_REMOVES | ROLE_BINDS));
        op->path = object_path(o, *parent, s->name, err);
    } else if (op->object) {
        op->path = object_path(o, (uint32_t)op->object, none, err);
    }
    if (*parent2 && s->name2.data) {
        named = object_named(o, *parent2, s->name2);
        depend(o, op, named, s->name2_role & ROLE_BINDS);
        op->path2 = object_path(o, *parent2, s->name2, err);
    }
    return (op->object && !op->path) || (*parent2 && s->name2.data && !op->path2) ? -ERR_SYSTEM : 0;
}

static int describe(struct objects *o, uint32_t object, struct scan_attributes about,
                    struct err *err)
{
    struct scan_identity i;

    if (!about.data || o->objects[object].described)
        return 0;
    i = scan_identify(about);
    o->objects[object].described = i.type != OBJECT_UNKNOWN;
    return i.type ? object_describe(o, object, i.type, i.fsid, i.fileid, err) : 0;
}

/* What the reply says of |object|, in which its call named something.  A name that was found or
 * changed proves a directory, also behind the handle of what was something else: then attributes
 * are read again.  Other failures than NOTDIR let guess one where nothing is known. */
static int tell_directory(struct objects *o, uint32_t object, int64_t status, struct err *err)
{
    struct object *x = &o->objects[object];

    if (!object || x->type == OBJECT_DIR || status == STATUS_NONE || status == STATUS_NOTDIR ||
        (status != 0 && x->type != OBJECT_UNKNOWN))
        return 0;
    x->described = false;
    return object_describe(o, object, OBJECT_DIR, 0, 0, err);
}

int tag_entry(struct objects *o, uint32_t parent, uint32_t server,
              const struct record_operation *op, struct bytes name, struct bytes handle,
              struct scan_attributes about, struct err *err)
{
    uint32_t object = object_id(o, server, handle, op->reply.frame, op->reply.time, err);
    int rc;

    if (!object)
        return -ERR_SYSTEM;
    if ((rc = describe(o, object, about, err)) < 0 || !parent)
        return rc;
    return object_bind(o, parent, name, object, NAME_SEEN, op->id, op->reply.time, err);
}

int tag_reply(struct objects *o, struct waiting *w, const struct scan *s, uint32_t server,
              struct err *err)
{
    struct record_operation *op = &w->operation;
    struct bytes name = { w->body + w->name_at, w->name_len };
    struct bytes name2 = { w->body + w->name2_at, w->name2_len };
    struct bytes root = { w->body + w->root_path_at, w->root_path_len };
    uint32_t moved = 0, made = 0;
    int64_t time = op->reply.time;
    int rc = 0;

    if ((rc = tell_directory(o, w->parent, op->status, err)) < 0 ||
        (rc = tell_directory(o, w->parent2, op->status, err)) < 0 || op->status != 0)
        return rc;
    if (s->new_object.data) {
        made = object_id(o, server, s->new_object, op->reply.frame, time, err);
        if (!made)
            return -ERR_SYSTEM;
        op->new_object = made;
        if (w->binds & ROLE_NAME) /* maybe behind the handle of what was there before */
            o->objects[made].described = false;
        rc = describe(o, made, s->attributes_new, err);
        if (rc == 0 && w->root_path_len)
            return object_mounted(o, made, root, op->id, time, err);
    }
    if (rc == 0 && op->object)
        rc = describe(o, (uint32_t)op->object, s->attributes, err);
    if (rc == 0 && w->parent && w->parent2 && w->removes & ROLE_NAME && w->binds & ROLE_NAME2) {
        moved = object_named(o, w->parent, name);
        /* both names are of one object: nothing happens, RFC 1813 s3.3.14 */
        if (moved && moved == object_named(o, w->parent2, name2))
            return 0;
    }
    if (rc == 0 && w->parent && name.len) {
        if (w->removes & ROLE_NAME) {
            moved = object_named(o, w->parent, name);
            rc = object_unbind(o, w->parent, name, op->id, time, err);
        } else if (made) {
            rc = object_bind(o, w->parent, name, made,
                             w->binds & ROLE_NAME ? NAME_BOUND : NAME_SEEN, op->id, time, err);
        }
        if (w->binds & ROLE_NAME && made)
            o->objects[made].modified_by = op->id;
    }
    if (rc < 0 || !w->parent2 || !name2.len || !(w->binds & ROLE_NAME2))
        return rc;
    if (w->removes & ROLE_NAME) { /* RENAME */
        uint32_t target = object_named(o, w->parent2, name2);
        if (target && target != moved)
            rc = object_unbind(o, w->parent2, name2, op->id, time, err);
        if (rc == 0 && moved)
            rc = object_bind(o, w->parent2, name2, moved, NAME_MOVED, op->id, time, err);
        return rc;
    }
    return object_bind(o, w->parent2, name2, (uint32_t)op->object, NAME_BOUND, op->id, time, err);
}
