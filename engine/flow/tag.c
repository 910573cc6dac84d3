/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/tag.c
 *
 * Finds the objects, names and paths of an operation in the fields that scan.c kept.  For pair.c
 * and pair_reply.c.  The contract is in tag.h.
 */
#include "flow/tag.h"
#include "wire/nfs3_numbers.h"

/* The latest change of |object| before this operation becomes its dependency if it is the latest of
 * all; then this operation is the latest change, if it is one. */
static void depend(struct objects *o, struct record_operation *op, uint32_t object, bool modifies)
{
    struct object *x = object_at(o, object);

    if (!object)
        return;
    if (x->modified_by > op->depends_on && x->modified_by != op->id)
        op->depends_on = x->modified_by;
    if (modifies)
        x->modified_by = op->id & OPERATION_BITS;
}

/* The objects behind the handles of a call, as far as it has them. */
static int find_objects(struct objects *o, const struct record_operation *op, const struct scan *s,
                        struct tagged *t, struct err *err)
{
    const struct seen seen = { op->call.frame, op->call.time };

    if (s->parent.data && !(t->parent = object_id(o, t->server, s->parent, seen, err)))
        return -ERR_SYSTEM;
    if (s->parent2.data && !(t->parent2 = object_id(o, t->server, s->parent2, seen, err)))
        return -ERR_SYSTEM;
    if (s->object.data && !(t->object = object_id(o, t->server, s->object, seen, err)))
        return -ERR_SYSTEM;
    return 0;
}

static int set_paths(struct objects *o, struct record_operation *op, const struct scan *s,
                     const struct tagged *t, struct err *err)
{
    const struct bytes none = { 0 };

    if (t->parent && s->name.data)
        op->path = object_path(o, t->parent, s->name, err);
    else if (op->object)
        op->path = object_path(o, (uint32_t)op->object, none, err);
    else if (s->root_path.data)
        op->path = object_mount_path(o, s->root_path, err);
    if (t->parent2 && s->name2.data)
        op->path2 = object_path(o, t->parent2, s->name2, err);
    return ((op->object || s->root_path.data) && !op->path) ||
                   (t->parent2 && s->name2.data && !op->path2)
               ? -ERR_SYSTEM
               : 0;
}

int tag_call(struct objects *o, struct record_operation *op, const struct scan *s, struct tagged *t,
             struct err *err)
{
    uint32_t named;

    op->offset = s->offset;
    op->count = s->count;
    op->call.flags |= (s->roles & ROLE_RANGE_START ? SIGHTING_OFFSET : 0) |
                      (s->roles & ROLE_RANGE_LENGTH ? SIGHTING_COUNT : 0);
    if (find_objects(o, op, s, t, err) < 0)
        return -ERR_SYSTEM;
    op->object = t->object ? t->object : t->parent;
    op->object2 = t->parent2;
    depend(o, op, (uint32_t)op->object, s->object_role & ROLE_MODIFIES);
    depend(o, op, t->parent2, s->parent2_role & ROLE_MODIFIES);
    if (t->parent && s->name.data) {
        named = object_named(o, t->parent, s->name);
        depend(o, op, named, s->name_role & ROLE_MODIFIES);
    }
    if (t->parent2 && s->name2.data) {
        named = object_named(o, t->parent2, s->name2);
        depend(o, op, named, s->name2_role & ROLE_MODIFIES);
    }
    return t->no_paths ? 0 : set_paths(o, op, s, t, err);
}

static uint32_t offset_in(const uint8_t *body, struct bytes b)
{
    return b.data ? (uint32_t)(b.data - body) : 0;
}

void tag_keep(struct waiting *w, const struct scan *scan, const uint8_t *body)
{
    enum action action = (enum action)w->procedure->action;

    w->binds = (scan->name_role && action_makes_name(action) ? ROLE_NAME : 0) |
               (scan->name2_role && action_makes_name2(action) ? ROLE_NAME2 : 0);
    w->removes = scan->name_role && action_takes_name(action) ? ROLE_NAME : 0;
    w->name_at = offset_in(body, scan->name);
    w->name_len = scan->name.len;
    w->name2_at = offset_in(body, scan->name2);
    w->name2_len = scan->name2.len;
    w->root_path_at = offset_in(body, scan->root_path);
    w->root_path_len = scan->root_path.len;
}

static struct moment moment_of(const struct record_operation *op)
{
    return (struct moment){ op->id, op->call.time, op->reply.time };
}

static int describe(struct objects *o, uint32_t object, struct scan_attributes about,
                    const struct moment *m, struct err *err)
{
    struct scan_identity i;

    if (!about.data || object_at(o, object)->described)
        return 0;
    i = scan_identify(about);
    object_at(o, object)->described = i.type != OBJECT_UNKNOWN;
    return i.type ? object_describe(o, object, (struct object_identity){ i.type, i.fsid, i.fileid },
                                    m, err)
                  : 0;
}

/* What the reply says of |object|, in which its call named something.  A name that was found or
 * changed proves a directory, also behind the handle of what was something else: then attributes
 * are read again.  Other failures than NOTDIR let guess one where nothing is known. */
static int tell_directory(struct objects *o, uint32_t object, int64_t status,
                          const struct moment *m, struct err *err)
{
    struct object *x = object_at(o, object);

    if (!object || x->type == OBJECT_DIR || status == STATUS_NONE || status == NFS3ERR_NOTDIR ||
        (status != 0 && x->type != OBJECT_UNKNOWN))
        return 0;
    x->described = false;
    return object_describe(o, object, (struct object_identity){ .type = OBJECT_DIR }, m, err);
}

/* A name stands for an object with the attributes |about|.  If its link count is 1, it has no other
 * name. */
static int bind(struct objects *o, const struct binding *b, struct scan_attributes about,
                const struct moment *m, struct err *err)
{
    const struct object *x = object_at(o, b->object);
    int rc = object_bind(o, b, m, err);
    struct scan_identity i;

    if (rc < 0 || !about.data || !x->name || !name_next(o, x->name))
        return rc;
    i = scan_identify(about);
    return i.links == 1 && i.type != OBJECT_DIR ? object_alone(o, b, m, err) : 0;
}

int tag_entry(struct objects *o, const struct record_operation *op, uint32_t server,
              const struct scan_entry *entry, struct err *err)
{
    const struct seen seen = { op->reply.frame, op->reply.time };
    struct binding b = { (uint32_t)op->object, entry->name, 0, NAME_SEEN };
    struct moment m = moment_of(op);
    int rc;

    b.object = object_id(o, server, entry->handle, seen, err);
    if (!b.object)
        return -ERR_SYSTEM;
    if ((rc = describe(o, b.object, entry->about, &m, err)) < 0 || !b.parent)
        return rc;
    return bind(o, &b, entry->about, &m, err);
}

/* What the call's name stands for now: for the object that the result gave, if there is one. */
static int tag_name(struct objects *o, const struct waiting *w, const struct scan *s,
                    const struct moment *m, struct err *err)
{
    bool binds = w->binds & ROLE_NAME;
    const struct binding b = { w->parent,
                               { w->body + w->name_at, w->name_len },
                               (uint32_t)w->operation.new_object,
                               binds ? NAME_BOUND : NAME_SEEN };

    if (b.object && bytes_are_dots(b.name))
        return 0;
    if (b.object)
        return bind(o, &b, s->attributes_new, m, err);
    /* of what was made there the reply does not say what it is */
    return binds ? object_absent(o, b.parent, b.name, m, err) : 0;
}

static int tag_names(struct objects *o, const struct waiting *w, const struct scan *s,
                     const struct moment *m, struct err *err)
{
    const struct place from = { w->parent, { w->body + w->name_at, w->name_len } };
    const struct binding to = { w->parent2,
                                { w->body + w->name2_at, w->name2_len },
                                (uint32_t)w->operation.object,
                                NAME_BOUND };
    bool removes = w->removes & ROLE_NAME, moves = removes && w->binds & ROLE_NAME2;
    int rc = 0;

    if (moves)
        return from.parent && from.name.len
                   ? object_rename(o, &from, &(struct place){ to.parent, to.name }, m, err)
                   : 0;
    if (from.parent && from.name.len)
        rc = removes ? object_unbind(o, from.parent, from.name, m, err) : tag_name(o, w, s, m, err);
    if (rc < 0 || !to.parent || !to.name.len || !(w->binds & ROLE_NAME2))
        return rc;
    return object_bind(o, &to, m, err);
}

/* A failed operation changes nothing, but may say that its name is not there: also of one that was
 * sent again, and had succeeded before. */
static int tag_failed(struct objects *o, const struct waiting *w, const struct moment *m,
                      struct err *err)
{
    struct bytes name = { w->body + w->name_at, w->name_len };

    if (w->operation.status != NFS3ERR_NOENT || !w->parent || !name.len || w->binds & ROLE_NAME)
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
        made = object_id(o, server, s->new_object, (struct seen){ op->reply.frame, op->reply.time },
                         err);
        if (!made)
            return -ERR_SYSTEM;
        op->new_object = made;
        if (w->binds & ROLE_NAME) { /* maybe behind the handle of what was there before */
            object_at(o, made)->described = false;
            object_at(o, made)->modified_by = op->id & OPERATION_BITS;
        }
        rc = describe(o, made, s->attributes_new, &m, err);
        if (rc == 0 && root.len)
            return object_mounted(o, made, root, &m, err);
    }
    if (rc == 0 && op->object)
        rc = describe(o, (uint32_t)op->object, s->attributes, &m, err);
    if (rc == 0)
        rc = tag_names(o, w, s, &m, err);
    if (rc == 0 && made && bytes_are_dots(name)) { /* now it is known where they lead */
        op->path = object_path(o, made, (struct bytes){ 0 }, err);
        rc = op->path ? 0 : -ERR_SYSTEM;
    }
    return rc;
}
