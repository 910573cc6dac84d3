/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/object_parts.h"
#include "base/digest.h"
#include "base/grow.h"

#include <stdlib.h>

/* Servers choose these numbers. */
static uint32_t volume_hash(uint32_t server, uint64_t fsid)
{
    return (uint32_t)XXH3_64bits_withSeed(&fsid, sizeof(fsid), server);
}

uint32_t volume_id(struct objects *o, uint32_t server, uint64_t fsid, struct err *err)
{
    uint32_t hash = volume_hash(server, fsid), id = o->volume_count + 1, at;
    const struct index_place *place;

    for (place = index_first(&o->by_volume, hash, &at); place;
         place = index_next(&o->by_volume, hash, &at))
        if (o->volumes[place->slot].fsid == fsid && o->volumes[place->slot].server == server)
            return place->slot;
    if (id >= VOLUMES_MAX || GROW(o->volumes, id, o->volume_cap) < 0 ||
        index_reserve(&o->by_volume, 1) < 0) {
        err_memory(err, "objects and names");
        return 0;
    }
    index_put(&o->by_volume, hash, id);
    o->volumes[id] = (struct volume){ fsid, server };
    o->volume_count = id;
    return id;
}

int object_set_fsid(struct objects *o, uint32_t object, uint32_t server, uint64_t fsid,
                    struct err *err)
{
    uint32_t id = volume_id(o, server, fsid, err);

    if (!id)
        return -err->code;
    object_at(o, object)->volume = id & (VOLUMES_MAX - 1);
    return 0;
}

/* Makes room for the object |id|. */
static int reserve(struct objects *o, uint32_t id)
{
    uint64_t cap = o->object_cap;
    uint8_t *grown;

    if (id < o->object_cap)
        return 0;
    grown = grow_array(o->objects, o->stride, (uint64_t)id + 1, &cap, UINT32_MAX);
    if (!grown)
        return -ERR_SYSTEM;
    o->objects = grown;
    o->object_cap = (uint32_t)cap;
    return 0;
}

static int init(struct objects *o, uint32_t near, const struct sink *sink,
                const struct same_servers *same, struct err *err)
{
    memset(o, 0, sizeof(*o));
    o->near = near;
    o->stride = (uint32_t)offsetof(struct object, near) + near; /* a multiple of 8 */
    o->cached_mask = near == HANDLE_FAR ? CACHED_SMALL - 1 : UINT32_MAX;
    o->sink = *sink;
    if (same)
        o->same = *same;
    o->age = 1;
    /* element 0 is none */
    if (reserve(o, 0) < 0 || GROW(o->volumes, 0, o->volume_cap) < 0 ||
        !pool_init(&o->names, sizeof(struct name)) || GROW(o->paths, 0, o->path_cap) < 0 ||
        GROW(o->hosts, 0, o->host_cap) < 0)
        return err_memory(err, "objects and names");
    return 0;
}

int objects_init(struct objects *o, const struct sink *sink, const struct same_servers *same,
                 struct err *err)
{
    return init(o, HANDLE_NEAR, sink, same, err);
}

int objects_init_small(struct objects *o, const struct sink *sink, const struct same_servers *same,
                       struct err *err)
{
    return init(o, HANDLE_FAR, sink, same, err);
}

void objects_free(struct objects *o)
{
    free(o->objects);
    free(o->volumes);
    free(o->cached);
    pool_free(&o->names);
    index_free(&o->next_names);
    index_free(&o->previous_names);
    free(o->paths);
    free(o->hosts);
    compact_free(&o->by_handle);
    compact_free(&o->by_name);
    index_free(&o->by_path);
    index_free(&o->by_host);
    index_free(&o->by_volume);
    index_free(&o->by_root);
    texts_free(&o->texts);
    memset(o, 0, sizeof(*o));
}

static int put_object(struct objects *o, uint32_t id, struct seen seen, struct err *err)
{
    const struct object *x = object_at(o, id);
    struct record r = { .kind = RECORD_OBJECT,
                        .object = { .id = id,
                                    .server = o->hosts[object_volume(o, x)->server],
                                    .handle = object_handle(o, x),
                                    .type = x->type,
                                    .fsid = object_volume(o, x)->fsid,
                                    .fileid = x->fileid,
                                    .frame = seen.frame,
                                    .time = seen.time } };

    return o->sink.put(o->sink.ctx, &r, err);
}

uint64_t object_hash(uint32_t server, struct bytes handle)
{
    return XXH3_64bits_withSeed(handle.data, handle.len, server);
}

static uint32_t hash_of(const void *objects, uint32_t id)
{
    const struct object *x = object_at(objects, id);

    return (uint32_t)object_hash(object_volume(objects, x)->server, object_handle(objects, x));
}

uint32_t object_add(struct objects *o, uint32_t server, struct bytes handle, uint64_t hash,
                    struct err *err)
{
    const struct compact_keys keys = { hash_of, o };
    uint32_t id = o->object_count + 1, far = 1, volume;
    struct object *x;

    if (handle.len > UINT16_MAX) {
        err_set(err, ERR_INPUT, "a handle of %u bytes", handle.len);
        return 0;
    }
    volume = volume_id(o, server, 0, err);
    if (!volume)
        return 0;
    if (handle.len > o->near)
        far = texts_add(&o->texts, handle.data, handle.len);
    if (!far || reserve(o, id) < 0 || compact_reserve(&o->by_handle, 1, &keys) < 0) {
        err_memory(err, "objects and names");
        return 0;
    }
    compact_put(&o->by_handle, (uint32_t)hash, id);
    o->object_count = id;
    x = object_at(o, id);
    memset(x, 0, o->stride);
    x->volume = volume & (VOLUMES_MAX - 1);
    x->handle_len = (uint16_t)handle.len;
    if (handle.len > o->near)
        memcpy(x->near, &far, sizeof(far));
    else if (handle.len)
        memcpy(x->near, handle.data, handle.len);
    return id;
}

static uint32_t object_find(const struct objects *o, uint32_t server, struct bytes handle,
                            uint64_t hash)
{
    uint32_t at, id;

    for (id = compact_first(&o->by_handle, (uint32_t)hash, &at); id;
         id = compact_next(&o->by_handle, (uint32_t)hash, &at)) {
        const struct object *x = object_at(o, id);
        if (x->handle_len == handle.len && object_volume(o, x)->server == server &&
            !memcmp(object_handle(o, x).data, handle.data, handle.len))
            return id;
    }
    return 0;
}

uint64_t object_expect(const struct objects *o, uint32_t server, struct bytes handle)
{
    uint64_t hash = object_hash(server, handle);

    compact_prefetch(&o->by_handle, (uint32_t)hash);
    return hash;
}

void object_fetch(const struct objects *o, uint64_t hash)
{
    uint32_t at, id = compact_first(&o->by_handle, (uint32_t)hash, &at);

    if (id)
        __builtin_prefetch(object_at(o, id));
}

uint32_t object_id(struct objects *o, uint32_t server, struct bytes handle, struct seen seen,
                   struct err *err)
{
    uint64_t hash = object_hash(server, handle);
    uint32_t id = object_find(o, server, handle, hash);

    if (id)
        return id;
    id = object_add(o, server, handle, hash, err);
    return id && put_object(o, id, seen, err) == 0 ? id : 0;
}

/* Of the names of a directory the latest is right: it was moved, and nobody saw it. */
static int keep_one_name(struct objects *o, uint32_t object, const struct moment *m,
                         struct err *err)
{
    uint32_t first = object_at(o, object)->name, latest = first;

    for (uint32_t id = first; id; id = name_next(o, id))
        if (name_at(o, id)->changed > name_at(o, latest)->changed)
            latest = id;
    return names_end(o, first, latest, m, err);
}

int object_describe(struct objects *o, uint32_t object, struct object_identity identity,
                    const struct moment *m, struct err *err)
{
    struct object *x = object_at(o, object);
    const struct volume *volume = object_volume(o, x);
    int rc = 0;

    if (x->type == identity.type &&
        (!identity.fileid || (x->fileid == identity.fileid && volume->fsid == identity.fsid)))
        return 0;
    if (identity.type == OBJECT_DIR && x->type != identity.type)
        rc = keep_one_name(o, object, m, err);
    x->type = identity.type & 15;
    if (identity.fileid) {
        if (object_set_fsid(o, object, volume->server, identity.fsid, err) < 0)
            return -err->code;
        x->fileid = identity.fileid;
    }
    return rc < 0 ? rc : put_object(o, object, (struct seen){ 0, TIME_NONE }, err);
}
