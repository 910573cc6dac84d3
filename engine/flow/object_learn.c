/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/object_learn.c
 *
 * Learns the objects, names and paths of an earlier process from its records.
 */
#include "flow/object_parts.h"

static int learn_object(struct objects *o, const struct record_object *r, struct err *err)
{
    uint32_t server = host_id(o, &r->server), id = (uint32_t)r->id;

    if (!server)
        return err_memory(err, "objects and names");
    if (!r->id || r->id > o->object_count) /* else more is known of it now */
        id = object_add(o, server, r->handle, object_hash(server, r->handle), err);
    if (!id)
        return -err->code;
    if (id != r->id)
        return err_set(err, ERR_INPUT, "objects are not numbered in a row");
    if (object_set_fsid(o, id, server, r->fsid, err) < 0)
        return -err->code;
    object_at(o, id)->type = (r->type <= OBJECT_FIFO ? r->type : OBJECT_UNKNOWN) & 15;
    object_at(o, id)->fileid = r->fileid;
    object_at(o, id)->described = r->fileid != 0;
    return 0;
}

static int learn_path(struct objects *o, const struct record_path *r, struct err *err)
{
    uint32_t object = (uint32_t)r->object;
    uint32_t id = path_add(o, r->parent, object, r->name, err);

    if (!id)
        return -ERR_SYSTEM;
    return id == r->id ? 0 : err_set(err, ERR_INPUT, "paths are not numbered in a row");
}

static int learn_name(struct objects *o, const struct record_name *r, struct err *err)
{
    uint32_t id, object = (uint32_t)r->object, parent = (uint32_t)r->parent;

    if (object > o->object_count || parent > o->object_count)
        return err_set(err, ERR_INPUT, "a name refers to an object that is not there");
    if (!object && (!parent || r->event != NAME_REMOVED))
        return err_set(err, ERR_INPUT, "a name refers to no object");
    id = name_get(o, parent ? parent : OF_SERVER | object_volume(o, object_at(o, object))->server,
                  r->name, err);
    if (!id)
        return -ERR_SYSTEM;
    name_at(o, id)->changed = r->time;
    if (r->event == NAME_REMOVED || r->event == NAME_GONE || r->event == NAME_MOVED ||
        name_at(o, id)->object != object)
        name_detach(o, id);
    if (r->event != NAME_REMOVED && r->event != NAME_GONE && !name_at(o, id)->object)
        return name_attach(o, id, object, !parent || r->event == NAME_MOVED, err);
    return 0;
}

int objects_learn(struct objects *o, const struct record *record, struct err *err)
{
    switch (record->kind) {
    case RECORD_OBJECT:
        return learn_object(o, &record->object, err);
    case RECORD_PATH:
        return learn_path(o, &record->path, err);
    case RECORD_NAME:
        return learn_name(o, &record->name, err);
    default:
        return 0;
    }
}
