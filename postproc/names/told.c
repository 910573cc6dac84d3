/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/told.c
 *
 * Completes a stream of records, for names.c.  The contract is in told.h.
 */
#include "names/told.h"
#include "base/grow.h"

#include <stdlib.h>

int told_init(struct told *t, const struct objects *objects, const struct flows *flows,
              struct err *err)
{
    t->objects = objects;
    t->flows = flows;
    if (GROW(t->credentials, 0, t->credential_cap) < 0)
        return err_memory(err, "credentials");
    return 0;
}

void told_free(struct told *t)
{
    free(t->credentials);
    free(t->object.at);
    free(t->path.at);
    free(t->flow.at);
    free(t->credential.at);
    free(t->way);
    arena_free(&t->arena);
    *t = (struct told){ 0 };
}

/* Notes that |id| is put.  Returns 1 if it was not before, or 0, or a negative code. */
static int is_new(struct told_ids *ids, uint64_t id, struct err *err)
{
    if (id >= ids->cap && GROW_ZERO(ids->at, id + 1, ids->cap) < 0)
        return err_memory(err, "ids of records");
    if (ids->at[id])
        return 0;
    ids->at[id] = ++ids->count;
    return 1;
}

/* The id in the stream of one that was put; 0 is none. */
static uint32_t told_id(const struct told_ids *ids, uint64_t id)
{
    return id < ids->cap ? ids->at[id] : 0;
}

static int tell_object(struct told *t, uint64_t id, struct err *err)
{
    struct record r = { .kind = RECORD_OBJECT };
    const struct object *x;
    int rc;

    if (!id || (rc = is_new(&t->object, id, err)) == 0)
        return 0;
    if (rc < 0)
        return rc;
    x = object_at(t->objects, (uint32_t)id);
    r.object =
        (struct record_object){ .id = told_id(&t->object, id),
                                .server = t->objects->hosts[object_volume(t->objects, x)->server],
                                .handle = object_handle(t->objects, x),
                                .type = x->type,
                                .fsid = object_volume(t->objects, x)->fsid,
                                .fileid = x->fileid,
                                .time = TIME_NONE };
    return t->out.put(t->out.ctx, &r, err);
}

static int tell_one_path(struct told *t, uint32_t id, struct err *err)
{
    const struct path *path = &t->objects->paths[id];
    struct record r = { .kind = RECORD_PATH };
    int rc = tell_object(t, path->object, err);

    if (rc == 0)
        rc = is_new(&t->path, id, err) < 0 ? -err->code : 0;
    if (rc < 0)
        return rc;
    r.path = (struct record_path){ told_id(&t->path, id), told_id(&t->path, path->parent),
                                   told_id(&t->object, path->object), path_name(t->objects, path) };
    return t->out.put(t->out.ctx, &r, err);
}

/* Those above it come first.  Each path is put once, so that a deep tree takes no longer than a
 * flat one. */
static int tell_path(struct told *t, uint32_t id, struct err *err)
{
    int rc = 0;

    for (t->way_count = 0; id && !told_id(&t->path, id); id = t->objects->paths[id].parent) {
        if (GROW(t->way, t->way_count, t->way_cap) < 0)
            return err_memory(err, "paths");
        t->way[t->way_count++] = id;
    }
    while (rc == 0 && t->way_count)
        rc = tell_one_path(t, t->way[--t->way_count], err);
    return rc;
}

static int tell_one_flow(struct told *t, uint32_t id, struct err *err)
{
    struct record r = { .kind = RECORD_FLOW };
    int rc;

    if (!id || (rc = is_new(&t->flow, id, err)) == 0)
        return 0;
    if (rc < 0)
        return rc;
    r.flow = t->flows->all[id];
    r.flow.id = told_id(&t->flow, id);
    return t->out.put(t->out.ctx, &r, err);
}

/* In a whole stream ids stay what they are: those of earlier ones come first. */
static int tell_flow(struct told *t, uint32_t id, struct err *err)
{
    int rc = 0;

    while (rc == 0 && t->whole && t->flow.count + 1 < id)
        rc = tell_one_flow(t, t->flow.count + 1, err);
    return rc < 0 ? rc : tell_one_flow(t, id, err);
}

static int tell_one_credential(struct told *t, uint32_t id, struct err *err)
{
    struct record r = { .kind = RECORD_CREDENTIAL };
    int rc;

    if (!id || id > t->credential_count || (rc = is_new(&t->credential, id, err)) == 0)
        return 0;
    if (rc < 0)
        return rc;
    r.credential = t->credentials[id];
    r.credential.id = told_id(&t->credential, id);
    return t->out.put(t->out.ctx, &r, err);
}

static int tell_credential(struct told *t, uint32_t id, struct err *err)
{
    int rc = 0;

    while (rc == 0 && t->whole && t->credential.count + 1 < id)
        rc = tell_one_credential(t, t->credential.count + 1, err);
    return rc < 0 ? rc : tell_one_credential(t, id, err);
}

int told_keep(struct told *t, const struct record_credential *credential, struct err *err)
{
    struct record_credential copy = *credential;
    uint32_t id = credential->id;

    copy.gids.data = arena_copy(&t->arena, copy.gids.data, copy.gids.len);
    copy.machine.data = arena_copy(&t->arena, copy.machine.data, copy.machine.len);
    copy.body.data = arena_copy(&t->arena, copy.body.data, copy.body.len);
    if (!copy.gids.data || !copy.machine.data || !copy.body.data ||
        GROW_ZERO(t->credentials, (uint64_t)id + 1, t->credential_cap) < 0)
        return err_memory(err, "credentials");
    t->credentials[id] = copy;
    if (id > t->credential_count)
        t->credential_count = id;
    return 0;
}

static int tell_operation(struct told *t, struct record_operation *op, struct err *err)
{
    int rc = tell_flow(t, op->flow, err);

    if (rc == 0)
        rc = tell_credential(t, op->credential, err);
    if (rc == 0)
        rc = tell_object(t, op->object, err);
    if (rc == 0)
        rc = tell_object(t, op->object2, err);
    if (rc == 0)
        rc = tell_object(t, op->new_object, err);
    if (rc == 0)
        rc = tell_path(t, op->path, err);
    if (rc == 0)
        rc = tell_path(t, op->path2, err);
    op->flow = told_id(&t->flow, op->flow);
    op->credential = told_id(&t->credential, op->credential);
    op->object = told_id(&t->object, op->object);
    op->object2 = told_id(&t->object, op->object2);
    op->new_object = told_id(&t->object, op->new_object);
    op->path = told_id(&t->path, op->path);
    op->path2 = told_id(&t->path, op->path2);
    return rc;
}

static int tell_name(struct told *t, struct record_name *name, struct err *err)
{
    int rc = tell_object(t, name->parent, err);

    if (rc == 0)
        rc = tell_object(t, name->object, err);
    name->parent = told_id(&t->object, name->parent);
    name->object = told_id(&t->object, name->object);
    return rc;
}

/* What refers to a connection. */
static int tell_its_flow(struct told *t, uint32_t *flow, struct err *err)
{
    int rc = tell_flow(t, *flow, err);

    *flow = told_id(&t->flow, *flow);
    return rc;
}

int told_put(void *told, const struct record *record, struct err *err)
{
    struct told *t = told;
    struct record r = *record;
    int rc = 0;

    switch (r.kind) {
    case RECORD_CREDENTIAL: /* new ones are put when they are used */
        return told_keep(t, &r.credential, err);
    case RECORD_PATH:
        return tell_path(t, r.path.id, err);
    case RECORD_OBJECT:
        rc = is_new(&t->object, r.object.id, err) < 0 ? -err->code : 0;
        r.object.id = rc < 0 ? 0 : told_id(&t->object, r.object.id);
        break;
    case RECORD_NAME:
        rc = tell_name(t, &r.name, err);
        break;
    case RECORD_OPERATION:
        rc = tell_operation(t, &r.operation, err);
        break;
    case RECORD_REPEAT:
        rc = tell_its_flow(t, &r.repeat.flow, err);
        break;
    case RECORD_PROBLEM:
        rc = tell_its_flow(t, &r.problem.flow, err);
        break;
    case RECORD_CONNECTION_EVENT:
        rc = tell_its_flow(t, &r.connection_event.flow, err);
        break;
    default:
        break;
    }
    return rc < 0 ? rc : t->out.put(t->out.ctx, &r, err);
}
