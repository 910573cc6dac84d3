/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/object_path.c
 *
 * Makes each path once, and finds the present path of an object.
 */
#include "base/digest.h"
#include "base/grow.h"
#include "flow/object_parts.h"

static uint32_t path_hash(uint32_t parent, uint32_t object, struct bytes name)
{
    return (uint32_t)XXH3_64bits_withSeed(name.data, name.len,
                                          ((uint64_t)object << 32 | parent) + 1);
}

static uint32_t path_find(const struct objects *o, uint32_t parent, uint32_t object,
                          struct bytes name, uint32_t hash)
{
    const struct index_place *place;
    uint32_t at;

    for (place = index_first(&o->by_path, hash, &at); place;
         place = index_next(&o->by_path, hash, &at)) {
        const struct path *p = &o->paths[place->slot];
        if (p->parent == parent && p->object == object && p->len == name.len &&
            !memcmp(path_name(o, p).data, name.data, name.len))
            return place->slot;
    }
    return 0;
}

uint32_t path_add(struct objects *o, uint32_t parent, uint32_t object, struct bytes name,
                  struct err *err)
{
    uint32_t hash = path_hash(parent, object, name);
    struct path p = { .len = name.len, .parent = parent, .object = object };
    uint32_t id = o->path_count + 1;

    p.text = texts_add(&o->texts, name.data, name.len);
    if (!p.text || GROW(o->paths, id, o->path_cap) < 0 || index_reserve(&o->by_path, 1) < 0) {
        err_memory(err, "objects and names");
        return 0;
    }
    index_put(&o->by_path, hash, id);
    o->path_count = id;
    o->paths[id] = p;
    return id;
}

static uint32_t path_id(struct objects *o, uint32_t parent, uint32_t object, struct bytes name,
                        struct err *err)
{
    static const uint8_t none;
    struct record r = { .kind = RECORD_PATH };
    uint32_t hash;
    uint32_t id;

    if (!name.data)
        name.data = &none;
    hash = path_hash(parent, object, name);
    id = path_find(o, parent, object, name, hash);
    if (id)
        return id;
    id = path_add(o, parent, object, name, err);
    r.path.id = id;
    r.path.parent = parent;
    r.path.object = object;
    r.path.name = name;
    return id && o->sink.put(o->sink.ctx, &r, err) == 0 ? id : 0;
}

uint32_t object_mount_path(struct objects *o, struct bytes path, struct err *err)
{
    return path_id(o, 0, 0, path, err);
}

int path_keep(struct objects *o, uint32_t object, uint32_t path, struct err *err)
{
    const uint32_t places = o->cached_mask == UINT32_MAX ? o->object_count + 1 : CACHED_SMALL;

    if (places > o->cached_cap && GROW_ZERO(o->cached, places, o->cached_cap) < 0)
        return err_memory(err, "objects and names");
    o->cached[object & o->cached_mask] = (struct cached_path){ object, path, o->age };
    return 0;
}

static uint32_t find_path(struct objects *o, uint32_t object, struct err *err)
{
    uint32_t way[PATH_DEPTH_MAX], depth = 0, path = 0, at = object, root;

    /* up to an object whose path is known, then down again */
    for (;;) {
        const struct object *x = object_at(o, at);
        if ((path = path_kept(o, at)))
            break;
        if ((root = object_root(o, at)))
            path = path_id(o, 0, 0, name_text(o, name_at(o, root)), err);
        else if (!x->name || depth == PATH_DEPTH_MAX)
            path = path_id(o, 0, at, (struct bytes){ 0 }, err);
        else {
            way[depth++] = at;
            at = name_at(o, x->name)->parent;
            continue;
        }
        break;
    }
    while (path) {
        if (path_keep(o, at, path, err) < 0)
            return 0;
        if (!depth)
            break;
        at = way[--depth];
        path = path_id(o, path, 0, name_text(o, name_at(o, object_at(o, at)->name)), err);
    }
    return path;
}

uint32_t object_path(struct objects *o, uint32_t object, struct bytes name, struct err *err)
{
    const struct object *x = object_at(o, object);
    bool dots = bytes_are_dots(name);
    uint32_t path;

    if (dots && name.len == 2 && x->name)
        object = name_at(o, x->name)->parent;
    path = path_kept(o, object);
    if (!path)
        path = find_path(o, object, err);
    return path && name.len && !dots ? path_id(o, path, 0, name, err) : path;
}

int path_text(const struct objects *o, uint32_t path, struct buf *out, struct err *err)
{
    uint32_t way[PATH_DEPTH_MAX + 2], depth = 0;

    for (; path && depth < PATH_DEPTH_MAX + 2; path = o->paths[path].parent)
        way[depth++] = path;
    out->len = 0;
    if (path || !depth || o->paths[way[depth - 1]].object)
        return 0;
    while (depth--) {
        const struct path *p = &o->paths[way[depth]];
        if (out->len && out->data[out->len - 1] != '/' && buf_append(out, "/", 1) < 0)
            return err_memory(err, "objects and names");
        if (buf_append(out, path_name(o, p).data, p->len) < 0)
            return err_memory(err, "objects and names");
    }
    return 1;
}
