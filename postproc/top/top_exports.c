/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/top/top_exports.c
 *
 * Which export an operation belongs to, by the rules of store/exports.h, as far as the records up
 * to now show it: a MOUNT that comes later changes nothing.  For top.c.  The contract is in
 * top_parts.h.
 */
#include "base/digest.h"
#include "base/escape.h"
#include "base/grow.h"
#include "top/top_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { NO_MOUNT = 0, SEVERAL = UINT32_MAX }; /* instead of the number of a MOUNT path */

struct top_export_object {
    uint64_t fsid;
    uint32_t server; /* number */
    uint32_t mount;  /* number of the MOUNT path that has it for its root, from 1 */
    bool has_fsid;
};

/* A file system with a MOUNT path. */
struct top_export_filesystem {
    uint64_t fsid;
    uint32_t server, mount; /* |mount|: SEVERAL if there is more than one */
};

static uint64_t hash_of(const struct address *a)
{
    return XXH3_64bits_withSeed(a->bytes, address_len(a), a->version);
}

/* Returns the number of a server, or TABLE_NONE without memory. */
static uint32_t server_number(struct top_exports *e, const struct address *server)
{
    uint64_t hash = hash_of(server);
    uint32_t at;

    for (uint32_t i = table_first(&e->by_server, hash, &at); i != TABLE_NONE;
         i = table_next(&e->by_server, hash, &at))
        if (address_equal(&e->servers[i], server))
            return i;
    if (GROW(e->servers, e->server_count, e->server_cap) < 0 ||
        table_add(&e->by_server, hash, e->server_count) < 0)
        return TABLE_NONE;
    e->servers[e->server_count] = *server;
    return e->server_count++;
}

static const struct top_export_object *object_of(const struct top_exports *e, uint64_t id)
{
    return id && id <= e->object_count ? &e->objects[id - 1] : NULL;
}

static struct top_export_filesystem *filesystem_of(const struct top_exports *e, uint32_t server,
                                                   uint64_t fsid, uint64_t *hash)
{
    uint64_t key[2] = { server, fsid };
    uint32_t at;

    *hash = XXH3_64bits(key, sizeof(key));
    for (uint32_t i = table_first(&e->by_filesystem, *hash, &at); i != TABLE_NONE;
         i = table_next(&e->by_filesystem, *hash, &at))
        if (e->filesystems[i].server == server && e->filesystems[i].fsid == fsid)
            return &e->filesystems[i];
    return NULL;
}

/* The root of a MOUNT path is on this file system. */
static int add_root(struct top_exports *e, const struct top_export_object *o, struct err *err)
{
    struct top_export_filesystem *f;
    uint64_t hash;

    if (!o->mount || !o->has_fsid)
        return 0;
    f = filesystem_of(e, o->server, o->fsid, &hash);
    if (f) {
        f->mount = f->mount == o->mount ? f->mount : SEVERAL;
        return 0;
    }
    if (GROW(e->filesystems, e->filesystem_count, e->filesystem_cap) < 0 ||
        table_add(&e->by_filesystem, hash, e->filesystem_count) < 0)
        return err_memory(err, "exports");
    e->filesystems[e->filesystem_count++] =
        (struct top_export_filesystem){ o->fsid, o->server, o->mount };
    return 0;
}

int top_exports_object(struct top_exports *e, const struct record_object *object, struct err *err)
{
    struct top_export_object *o;

    if (!object->id || object->id > (uint64_t)e->object_count + 1)
        return err_set(err, ERR_INPUT, "an object has the id %llu", (unsigned long long)object->id);
    if (object->id > e->object_count) {
        uint32_t server = server_number(e, &object->server);

        if (server == TABLE_NONE || GROW(e->objects, e->object_count, e->object_cap) < 0)
            return err_memory(err, "exports");
        e->objects[e->object_count++] = (struct top_export_object){ .server = server };
    }
    o = &e->objects[object->id - 1];
    if (!object->fileid || o->has_fsid)
        return 0;
    o->fsid = object->fsid; /* of a root that was mounted before, too */
    o->has_fsid = true;
    return add_root(e, o, err);
}

/* Returns the number of a MOUNT path from 1, or NO_MOUNT without memory. */
static uint32_t mount_number(struct top_exports *e, struct bytes name)
{
    uint64_t hash = XXH3_64bits(name.data, name.len);
    const uint8_t *text;
    uint32_t at;

    for (uint32_t i = table_first(&e->by_mount, hash, &at); i != TABLE_NONE;
         i = table_next(&e->by_mount, hash, &at))
        if (e->mounts[i].len == name.len && memcmp(e->mounts[i].data, name.data, name.len) == 0)
            return i + 1;
    text = arena_copy(&e->arena, name.data, name.len);
    if (!text || GROW(e->mounts, e->mount_count, e->mount_cap) < 0 ||
        table_add(&e->by_mount, hash, e->mount_count) < 0)
        return NO_MOUNT;
    e->mounts[e->mount_count++] = (struct bytes){ text, name.len };
    return e->mount_count;
}

int top_exports_name(struct top_exports *e, const struct record_name *name, struct err *err)
{
    struct top_export_object *o;

    if (name->parent || !name->object || name->object > e->object_count)
        return 0;
    o = &e->objects[name->object - 1];
    if (o->mount)
        return 0; /* by another path, too: the first one counts */
    o->mount = mount_number(e, name->name);
    return o->mount ? add_root(e, o, err) : err_memory(err, "exports");
}

/* The export of an object of which no path from a MOUNT path is known. */
static bool by_object(const struct top_exports *e, uint64_t id, struct top_export *to)
{
    const struct top_export_object *o = object_of(e, id);
    const struct top_export_filesystem *f;
    uint32_t mount;
    uint64_t hash;

    if (!o)
        return false;
    mount = o->mount;
    if (!mount && o->has_fsid) {
        f = filesystem_of(e, o->server, o->fsid, &hash);
        mount = f && f->mount != SEVERAL ? f->mount : NO_MOUNT;
    }
    *to = (struct top_export){ .server = e->servers[o->server], .is_mount = mount != NO_MOUNT };
    if (mount)
        to->mount = e->mounts[mount - 1];
    else
        to->fsid = o->fsid;
    return mount || o->has_fsid;
}

static bool find(const struct top *top, const struct record_operation *op, struct top_export *to)
{
    const struct top_exports *e = &top->exports;
    const struct top_path *path = names_get_path(&top->names, op->path);
    const struct top_path *root = path ? names_get_path(&top->names, path->root) : NULL;
    const struct top_flow *flow = names_get_flow(&top->names, op->flow);
    uint64_t id = op->object ? op->object : op->new_object;
    const struct top_export_object *object = object_of(e, id);

    if (root && !root->object && (object || flow)) {
        *to = (struct top_export){ .server = object ? e->servers[object->server] : flow->server,
                                   .is_mount = true,
                                   .mount = { root->name, root->len } };
        return true;
    }
    return (root && root->object && by_object(e, root->object, to)) || by_object(e, id, to);
}

bool top_export_of(const struct top *top, const struct record_operation *op, struct top_export *to)
{
    uint64_t parts[2];

    if (!find(top, op, to))
        return false;
    parts[0] = hash_of(&to->server);
    parts[1] = to->is_mount ? XXH3_64bits(to->mount.data, to->mount.len) : to->fsid;
    to->key = XXH3_64bits_withSeed(parts, sizeof(parts), to->is_mount);
    return true;
}

const char *top_export_text(struct top_exports *e, const struct top_export *of, struct err *err)
{
    char server[ADDRESS_TEXT_MAX], begin[ADDRESS_TEXT_MAX + 32];
    bool is_ipv6 = of->server.version == 6;

    address_text(&of->server, server);
    e->text.len = 0;
    if (of->is_mount)
        snprintf(begin, sizeof(begin), "%s%s%s:", is_ipv6 ? "[" : "", server, is_ipv6 ? "]" : "");
    else
        snprintf(begin, sizeof(begin), "%s fsid 0x%llx", server, (unsigned long long)of->fsid);
    if (buf_append(&e->text, begin, strlen(begin)) < 0 ||
        (of->is_mount && escape_name(of->mount, true, &e->text) < 0) ||
        buf_append(&e->text, "", 1) < 0) {
        err_memory(err, "exports");
        return NULL;
    }
    return (const char *)e->text.data;
}

void top_exports_free(struct top_exports *e)
{
    free(e->objects);
    free(e->servers);
    free(e->mounts);
    free(e->filesystems);
    table_free(&e->by_server);
    table_free(&e->by_mount);
    table_free(&e->by_filesystem);
    arena_free(&e->arena);
    buf_free(&e->text);
    *e = (struct top_exports){ .objects = NULL };
}
