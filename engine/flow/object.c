/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/object.h"
#include "base/digest.h"

#include <stdlib.h>

enum { PATH_DEPTH_MAX = 256 };

static int no_memory(struct err *err)
{
    return err_set(err, ERR_SYSTEM, "out of memory for objects and names");
}

/* Makes room for one more element of |size| bytes behind |count|. */
static int grow(void *array, uint32_t count, uint32_t *cap, size_t size)
{
    uint32_t wide = *cap ? *cap + *cap / 2 : 256;
    void *grown;

    if (count + 1 < *cap)
        return 0;
    grown = realloc(*(void **)array, wide * size);
    if (!grown)
        return -ERR_SYSTEM;
    *(void **)array = grown;
    *cap = wide;
    return 0;
}

int objects_init(struct objects *o, const struct sink *sink, struct err *err)
{
    memset(o, 0, sizeof(*o));
    o->sink = *sink;
    o->age = 1;
    /* element 0 is none */
    if (grow(&o->objects, 0, &o->object_cap, sizeof(*o->objects)) < 0 ||
        grow(&o->names, 0, &o->name_cap, sizeof(*o->names)) < 0 ||
        grow(&o->paths, 0, &o->path_cap, sizeof(*o->paths)) < 0 ||
        grow(&o->hosts, 0, &o->host_cap, sizeof(*o->hosts)) < 0)
        return no_memory(err);
    return 0;
}

void objects_free(struct objects *o)
{
    free(o->objects);
    free(o->names);
    free(o->paths);
    free(o->hosts);
    table_free(&o->by_handle);
    table_free(&o->by_name);
    table_free(&o->by_path);
    table_free(&o->by_host);
    arena_free(&o->arena);
    memset(o, 0, sizeof(*o));
}

uint32_t host_find(const struct objects *o, const struct address *address)
{
    uint64_t hash = XXH3_64bits(address->bytes, address_len(address));
    uint32_t at, id;

    for (id = table_first(&o->by_host, hash, &at); id != TABLE_NONE;
         id = table_next(&o->by_host, hash, &at))
        if (address_equal(&o->hosts[id], address))
            return id;
    return 0;
}

uint32_t host_id(struct objects *o, const struct address *address)
{
    uint32_t id = host_find(o, address);

    if (id)
        return id;
    if (grow(&o->hosts, o->host_count, &o->host_cap, sizeof(*o->hosts)) < 0 ||
        table_add(&o->by_host, XXH3_64bits(address->bytes, address_len(address)),
                  o->host_count + 1) < 0)
        return 0;
    id = ++o->host_count;
    o->hosts[id] = *address;
    return id;
}

static int put_object(struct objects *o, uint32_t id, uint64_t frame, int64_t time, struct err *err)
{
    const struct object *x = &o->objects[id];
    struct record r = { .kind = RECORD_OBJECT,
                        .object = { .id = id,
                                    .server = o->hosts[x->server],
                                    .handle = { object_handle(x), x->handle_len },
                                    .type = x->type,
                                    .fsid = x->fsid,
                                    .fileid = x->fileid,
                                    .frame = frame,
                                    .time = time } };

    return o->sink.put(o->sink.ctx, &r, err);
}

static uint32_t object_add(struct objects *o, uint32_t server, struct bytes handle, uint64_t hash,
                           struct err *err)
{
    struct object x = { .server = server, .handle_len = handle.len };
    uint32_t id = o->object_count + 1;

    if (handle.len <= HANDLE_NEAR)
        memcpy(x.handle.near, handle.data, handle.len);
    else
        x.handle.far = arena_copy(&o->arena, handle.data, handle.len);
    if ((handle.len > HANDLE_NEAR && !x.handle.far) ||
        grow(&o->objects, o->object_count, &o->object_cap, sizeof(x)) < 0 ||
        table_add(&o->by_handle, hash, id) < 0) {
        no_memory(err);
        return 0;
    }
    o->object_count = id;
    o->objects[id] = x;
    return id;
}

static uint32_t object_find(const struct objects *o, uint32_t server, struct bytes handle,
                            uint64_t hash)
{
    uint32_t at, id;

    for (id = table_first(&o->by_handle, hash, &at); id != TABLE_NONE;
         id = table_next(&o->by_handle, hash, &at)) {
        const struct object *x = &o->objects[id];
        if (x->server == server && x->handle_len == handle.len &&
            !memcmp(object_handle(x), handle.data, handle.len))
            return id;
    }
    return 0;
}

uint32_t object_id(struct objects *o, uint32_t server, struct bytes handle, uint64_t frame,
                   int64_t time, struct err *err)
{
    uint64_t hash = XXH3_64bits_withSeed(handle.data, handle.len, server);
    uint32_t id = object_find(o, server, handle, hash);

    if (id)
        return id;
    id = object_add(o, server, handle, hash, err);
    return id && put_object(o, id, frame, time, err) == 0 ? id : 0;
}

int object_describe(struct objects *o, uint32_t object, uint8_t type, uint64_t fsid,
                    uint64_t fileid, struct err *err)
{
    struct object *x = &o->objects[object];

    if (x->type == type && (!fileid || (x->fileid == fileid && x->fsid == fsid)))
        return 0;
    x->type = type;
    if (fileid) {
        x->fsid = fsid;
        x->fileid = fileid;
    }
    return put_object(o, object, 0, 0, err);
}

static uint64_t name_hash(uint32_t parent, struct bytes name)
{
    return XXH3_64bits_withSeed(name.data, name.len, parent);
}

static uint32_t name_find(const struct objects *o, uint32_t parent, struct bytes name)
{
    uint64_t hash = name_hash(parent, name);
    uint32_t at, id;

    for (id = table_first(&o->by_name, hash, &at); id != TABLE_NONE;
         id = table_next(&o->by_name, hash, &at)) {
        const struct name *n = &o->names[id];
        if (n->parent == parent && n->len == name.len && !memcmp(n->text, name.data, name.len))
            return id;
    }
    return 0;
}

static uint32_t name_add(struct objects *o, uint32_t parent, struct bytes name, struct err *err)
{
    struct name n = { .len = name.len, .parent = parent };
    uint32_t id = o->name_count + 1;

    n.text = arena_copy(&o->arena, name.data, name.len);
    if (!n.text || grow(&o->names, o->name_count, &o->name_cap, sizeof(n)) < 0 ||
        table_add(&o->by_name, name_hash(parent, name), id) < 0) {
        no_memory(err);
        return 0;
    }
    o->name_count = id;
    o->names[id] = n;
    return id;
}

static int put_name(struct objects *o, enum name_event event, uint32_t parent, struct bytes name,
                    uint32_t object, uint64_t operation, int64_t time, struct err *err)
{
    struct record r = { .kind = RECORD_NAME,
                        .name = { .event = (uint8_t)event,
                                  .parent = parent,
                                  .name = name,
                                  .object = object,
                                  .operation = operation,
                                  .time = time } };

    return o->sink.put(o->sink.ctx, &r, err);
}

static bool is_dots(struct bytes name)
{
    return name.len > 0 && name.len <= 2 && name.data[0] == '.' && name.data[name.len - 1] == '.';
}

uint32_t object_named(const struct objects *o, uint32_t parent, struct bytes name)
{
    uint32_t id = name_find(o, parent, name);

    return id ? o->names[id].object : 0;
}

/* Hangs |object| under the name |id|. */
static void hang(struct objects *o, uint32_t object, uint32_t id)
{
    struct object *x = &o->objects[object];

    if (x->name == id)
        return;
    x->name = id;
    x->path_age = 0;
    o->objects[o->names[id].parent].is_parent = true;
    if (x->is_parent)
        o->age++; /* what is below it has another path now */
}

int object_bind(struct objects *o, uint32_t parent, struct bytes name, uint32_t object,
                enum name_event event, uint64_t operation, int64_t time, struct err *err)
{
    uint32_t id, old;
    const struct object *x = &o->objects[object];

    if (is_dots(name) || !name.len || parent == object)
        return 0;
    id = name_find(o, parent, name);
    if (!id && !(id = name_add(o, parent, name, err)))
        return -ERR_SYSTEM;
    old = o->names[id].object;
    /* the same again is news only when the name by which the object was reached is gone */
    if (old == object && event == NAME_SEEN && x->name && o->names[x->name].object == object)
        return 0;
    o->names[id].object = object;
    /* a hard link does not take an object away from a name that still stands for it */
    if (!x->name || event == NAME_MOVED || o->names[x->name].object != object)
        hang(o, object, id);
    return put_name(o, event, parent, (struct bytes){ o->names[id].text, name.len }, object,
                    operation, time, err);
}

int object_unbind(struct objects *o, uint32_t parent, struct bytes name, uint64_t operation,
                  int64_t time, struct err *err)
{
    uint32_t id, object;

    if (is_dots(name) || !name.len)
        return 0;
    id = name_find(o, parent, name);
    if (!id && !(id = name_add(o, parent, name, err)))
        return -ERR_SYSTEM;
    object = o->names[id].object;
    o->names[id].object = 0; /* the object keeps its last path for those who still use it */
    return put_name(o, NAME_REMOVED, parent, (struct bytes){ o->names[id].text, name.len }, object,
                    operation, time, err);
}

static uint64_t path_hash(uint32_t parent, uint32_t object, struct bytes name)
{
    return XXH3_64bits_withSeed(name.data, name.len, ((uint64_t)object << 32 | parent) + 1);
}

static uint32_t path_find(const struct objects *o, uint32_t parent, uint32_t object,
                          struct bytes name, uint64_t hash)
{
    uint32_t at, id;

    for (id = table_first(&o->by_path, hash, &at); id != TABLE_NONE;
         id = table_next(&o->by_path, hash, &at)) {
        const struct path *p = &o->paths[id];
        if (p->parent == parent && p->object == object && p->len == name.len &&
            !memcmp(p->text, name.data, name.len))
            return id;
    }
    return 0;
}

static uint32_t path_add(struct objects *o, uint32_t parent, uint32_t object, struct bytes name,
                         uint64_t hash, struct err *err)
{
    struct path p = { .len = name.len, .parent = parent, .object = object };
    uint32_t id = o->path_count + 1;

    p.text = arena_copy(&o->arena, name.data, name.len);
    if (!p.text || grow(&o->paths, o->path_count, &o->path_cap, sizeof(p)) < 0 ||
        table_add(&o->by_path, hash, id) < 0) {
        no_memory(err);
        return 0;
    }
    o->path_count = id;
    o->paths[id] = p;
    return id;
}

static uint32_t path_id(struct objects *o, uint32_t parent, uint32_t object, struct bytes name,
                        struct err *err)
{
    static const uint8_t none;
    struct record r = { .kind = RECORD_PATH };
    uint64_t hash;
    uint32_t id;

    if (!name.data)
        name.data = &none;
    hash = path_hash(parent, object, name);
    id = path_find(o, parent, object, name, hash);
    if (id)
        return id;
    id = path_add(o, parent, object, name, hash, err);
    r.path.id = id;
    r.path.parent = parent;
    r.path.object = object;
    r.path.name = name;
    return id && o->sink.put(o->sink.ctx, &r, err) == 0 ? id : 0;
}

int object_mounted(struct objects *o, uint32_t object, struct bytes path, uint64_t operation,
                   int64_t time, struct err *err)
{
    uint32_t id = path_id(o, 0, 0, path, err);
    struct object *x = &o->objects[object];

    if (!id)
        return -ERR_SYSTEM;
    if (x->mount_path == id)
        return 0;
    x->mount_path = id;
    x->path_age = 0;
    if (x->is_parent)
        o->age++;
    return put_name(o, NAME_SEEN, 0, path, object, operation, time, err);
}

uint32_t object_path(struct objects *o, uint32_t object, struct bytes name, struct err *err)
{
    uint32_t way[PATH_DEPTH_MAX], depth = 0, path = 0, at = object;

    /* up to an object whose path is known, then down again */
    for (;;) {
        const struct object *x = &o->objects[at];
        if (x->path_age == o->age)
            path = x->path;
        else if (x->mount_path)
            path = x->mount_path;
        else if (!x->name || depth == PATH_DEPTH_MAX)
            path = path_id(o, 0, at, (struct bytes){ 0 }, err);
        else {
            way[depth++] = at;
            at = o->names[x->name].parent;
            continue;
        }
        break;
    }
    while (path) {
        o->objects[at].path = path;
        o->objects[at].path_age = o->age;
        if (!depth)
            break;
        at = way[--depth];
        const struct name *n = &o->names[o->objects[at].name];
        path = path_id(o, path, 0, (struct bytes){ n->text, n->len }, err);
    }
    return path && name.len ? path_id(o, path, 0, name, err) : path;
}

static int learn_name(struct objects *o, const struct record_name *r, struct err *err)
{
    uint32_t id, object = (uint32_t)r->object, parent = (uint32_t)r->parent;

    if (object > o->object_count || parent > o->object_count)
        return err_set(err, ERR_INPUT, "a name refers to an object that is not there");
    if (!parent) {
        id = path_find(o, 0, 0, r->name, path_hash(0, 0, r->name));
        if (!object || !id)
            return err_set(err, ERR_INPUT, "a MOUNT root has no path");
        o->objects[object].mount_path = id;
        return 0;
    }
    id = name_find(o, parent, r->name);
    if (!id && !(id = name_add(o, parent, r->name, err)))
        return -ERR_SYSTEM;
    if (r->event == NAME_REMOVED) {
        o->names[id].object = 0;
        return 0;
    }
    if (!object)
        return err_set(err, ERR_INPUT, "a name stands for no object");
    o->names[id].object = object;
    if (!o->objects[object].name || r->event == NAME_MOVED ||
        o->names[o->objects[object].name].object != object)
        hang(o, object, id);
    return 0;
}

int objects_learn(struct objects *o, const struct record *record, struct err *err)
{
    const struct record_object *x = &record->object;
    const struct record_path *p = &record->path;
    uint32_t id, server;

    switch (record->kind) {
    case RECORD_OBJECT:
        server = host_id(o, &x->server);
        if (!server)
            return no_memory(err);
        id = object_add(o, server, x->handle,
                        XXH3_64bits_withSeed(x->handle.data, x->handle.len, server), err);
        if (!id)
            return -ERR_SYSTEM;
        if (id != x->id)
            return err_set(err, ERR_INPUT, "objects are not numbered in a row");
        o->objects[id].type = x->type;
        o->objects[id].fsid = x->fsid;
        o->objects[id].fileid = x->fileid;
        o->objects[id].described = x->fileid != 0;
        return 0;
    case RECORD_PATH:
        id = path_add(o, p->parent, (uint32_t)p->object, p->name,
                      path_hash(p->parent, (uint32_t)p->object, p->name), err);
        if (!id)
            return -ERR_SYSTEM;
        return id == p->id ? 0 : err_set(err, ERR_INPUT, "paths are not numbered in a row");
    case RECORD_NAME:
        return learn_name(o, &record->name, err);
    default:
        return 0;
    }
}
