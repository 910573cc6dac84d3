/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packs objects, names and paths for a later process.  The contract is in object.h. */
#include "flow/object_parts.h"
#include "base/pack.h"

#define OBJECT_PLAIN(step)                                                                         \
    step(server) step(fsid) step(fileid) step(modified_by) step(name) step(path) step(type)        \
        step(described)
#define NAME_PLAIN(step) step(parent) step(object) step(next) step(previous) step(changed)
#define PATH_PLAIN(step) step(parent) step(object)

/* What is packed of an object.  All else follows from that and from the names.  |path|: path_kept;
 * one that is deeper than PATH_DEPTH_MAX would not be found again. */
struct object_plain {
    uint64_t fsid, fileid, modified_by;
    uint32_t server, name, path;
    uint8_t type;
    bool described;
};

/* Likewise of a name. */
struct name_plain {
    uint32_t parent, object, next, previous;
    int64_t changed;
};

uint64_t objects_layout(uint64_t hash)
{
#define OBJECT_FIELD(field)                                                                        \
    hash = pack_layout(hash, #field, sizeof(((struct object_plain *)0)->field));
    OBJECT_PLAIN(OBJECT_FIELD)
#define NAME_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct name_plain *)0)->field));
    NAME_PLAIN(NAME_FIELD)
#define PATH_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct path *)0)->field));
    PATH_PLAIN(PATH_FIELD)
    return pack_layout(hash, "host", sizeof(struct address));
}

int objects_save(const struct objects *o, struct buf *out)
{
    const uint32_t names = o->names.count - 1;
    int bad = pack_value(out, o->age);

    bad |= pack_value(out, o->host_count) | pack_value(out, o->object_count);
    bad |= pack_value(out, names) | pack_value(out, o->path_count);
    bad |= pack_value(out, o->root_count);
    bad |= buf_append(out, o->roots, o->root_count * sizeof(o->roots[0]));
    for (uint32_t i = 1; !bad && i <= o->host_count; i++)
        bad |= pack_value(out, o->hosts[i]);
    for (uint32_t i = 1; !bad && i <= o->object_count; i++) {
        const struct object *own = object_at(o, i);
        const struct object_plain x = { .fsid = object_volume(o, own)->fsid,
                                        .fileid = own->fileid,
                                        .modified_by = own->modified_by,
                                        .server = object_volume(o, own)->server,
                                        .name = own->name,
                                        .path = path_kept(o, i),
                                        .type = own->type,
                                        .described = own->described };
#define SAVE_PLAIN(field) bad |= pack_value(out, x.field);
        OBJECT_PLAIN(SAVE_PLAIN)
        bad |= pack_bytes(out, object_handle(o, own).data, own->handle_len);
    }
#define SAVE(field) bad |= pack_value(out, x->field);
    for (uint32_t i = 1; !bad && i <= names; i++) {
        const struct name *own = name_at(o, i);
        const struct name_plain x = { .parent = own->parent,
                                      .object = own->object,
                                      .next = name_next(o, i),
                                      .previous = name_previous(o, i),
                                      .changed = own->changed };
        NAME_PLAIN(SAVE_PLAIN)
        bad |= pack_bytes(out, name_text(o, own).data, own->len);
    }
    for (uint32_t i = 1; !bad && i <= o->path_count; i++) {
        const struct path *x = &o->paths[i];
        PATH_PLAIN(SAVE)
        bad |= pack_bytes(out, path_name(o, x).data, x->len);
    }
    return bad ? -ERR_SYSTEM : 0;
}

struct counts {
    uint32_t hosts, objects, names, paths, roots;
};

#define RESTORE(field) unpack_value(in, x.field);

static int restore_objects(struct objects *o, struct unpack *in, const struct counts *n,
                           struct err *err)
{
    for (uint32_t id = 1; !in->failed && id <= n->objects; id++) {
        struct object_plain x = { 0 };
        struct object *own;
        struct bytes handle;

        OBJECT_PLAIN(RESTORE)
        handle = unpack_bytes(in);
        if (in->failed || !x.server || x.server > n->hosts || x.name > n->names ||
            x.path > n->paths || x.type > OBJECT_FIFO || x.modified_by > OPERATION_BITS) {
            in->failed = true;
            break;
        }
        if (!object_add(o, x.server, handle, object_hash(x.server, handle), err))
            return -err->code;
        if (object_set_fsid(o, id, x.server, x.fsid, err) < 0)
            return -err->code;
        if (x.path && path_keep(o, id, x.path, err) < 0)
            return -err->code;
        own = object_at(o, id);
        own->fileid = x.fileid;
        own->modified_by = x.modified_by & OPERATION_BITS;
        own->name = x.name;
        own->type = x.type & 15;
        own->described = x.described;
    }
    return 0;
}

static bool is_parent(uint32_t parent, const struct counts *n)
{
    uint32_t host = parent & ~OF_SERVER;

    return parent & OF_SERVER ? host && host <= n->hosts : parent && parent <= n->objects;
}

static int restore_names(struct objects *o, struct unpack *in, const struct counts *n,
                         struct err *err)
{
    for (uint32_t id = 1; !in->failed && id <= n->names; id++) {
        struct name_plain x = { 0 };
        struct bytes text;
        uint32_t got;

        NAME_PLAIN(RESTORE)
        text = unpack_bytes(in);
        if (in->failed || !is_parent(x.parent, n) || x.object > n->objects || x.next > n->names ||
            x.previous > n->names) {
            in->failed = true;
            break;
        }
        if (!(got = name_get(o, x.parent, text, err)))
            return -ERR_SYSTEM;
        if (got != id) { /* the same name twice */
            in->failed = true;
            break;
        }
        if ((x.next && index_reserve(&o->next_names, 1) < 0) ||
            (x.previous && index_reserve(&o->previous_names, 1) < 0))
            return err_memory(err, "objects and names");
        index_set_number(&o->next_names, id, x.next);
        index_set_number(&o->previous_names, id, x.previous);
        name_at(o, id)->object = x.object;
        name_at(o, id)->changed = x.changed;
    }
    return 0;
}

static int restore_paths(struct objects *o, struct unpack *in, const struct counts *n,
                         struct err *err)
{
    for (uint32_t id = 1; !in->failed && id <= n->paths; id++) {
        struct path x = { 0 };
        struct bytes text;

        PATH_PLAIN(RESTORE)
        text = unpack_bytes(in);
        if (in->failed || x.parent >= id || x.object > n->objects)
            in->failed = true;
        else if (!path_add(o, x.parent, x.object, text, err))
            return -ERR_SYSTEM;
    }
    return 0;
}

static bool is_same_list(const struct name *a, const struct name *b)
{
    return a->object == b->object && name_is_root(a) == name_is_root(b);
}

/* Whether the neighbours of a name in its list, or the list's head, say that it is there. */
static bool is_in_place(struct objects *o, uint32_t id)
{
    const struct name *n = name_at(o, id);
    const uint32_t next = name_next(o, id), previous = name_previous(o, id);
    bool good = !next || (name_previous(o, next) == id && is_same_list(n, name_at(o, next)));

    if (!n->object)
        return !next && !previous;
    return good && (previous ? name_next(o, previous) == id : names_like(o, n, n->object) == id);
}

/* Counts the names of a list.  As each is the next one of |previous| alone, the list ends. */
static bool count_list(const struct objects *o, uint32_t object, uint32_t first, bool of_roots,
                       uint32_t *count)
{
    const struct name *n = name_at(o, first);

    if (first && (n->object != object || name_is_root(n) != of_roots || name_previous(o, first)))
        return false;
    for (uint32_t id = first; id; id = name_next(o, id))
        ++*count;
    return true;
}

static bool count_roots(const struct objects *o)
{
    for (uint32_t i = 0; i < o->root_count; i++) {
        const struct name *n = name_at(o, o->roots[i]);

        if (!n->object || !name_is_root(n))
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (o->roots[j] == o->roots[i])
                return false;
    }
    return true;
}

/* Notes where the lists of MOUNT paths begin.  Returns false if one has two beginnings. */
static bool begin_roots(struct objects *o)
{
    for (uint32_t id = 1; id < o->names.count; id++) {
        const struct name *n = name_at(o, id);

        if (!n->object || name_previous(o, id) || !name_is_root(n))
            continue;
        if (object_at(o, n->object)->has_root)
            return false;
        names_begin(o, n, n->object, id);
    }
    return true;
}

/* Counts the names in each directory.  Returns false if the lists of names are not whole: nobody
 * who walks them later looks for an end that does not come. */
static bool count_names(struct objects *o)
{
    uint32_t names = 0, listed = 0;

    for (uint32_t id = 1; id < o->names.count; id++) {
        const struct name *n = name_at(o, id);

        if (!is_in_place(o, id))
            return false;
        names += n->object != 0;
        if (n->object && !name_is_root(n))
            object_at(o, n->parent)->children++;
    }
    for (uint32_t id = 1; id <= o->object_count; id++)
        if (!count_list(o, id, object_at(o, id)->name, false, &listed) ||
            !count_list(o, id, object_root(o, id), true, &listed))
            return false;
    return names == listed && count_roots(o);
}

int objects_restore(struct objects *o, struct unpack *in, struct err *err)
{
    struct address host = { 0 };
    struct counts n;
    int rc = 0;

    unpack_value(in, o->age);
    unpack_value(in, n.hosts);
    unpack_value(in, n.objects);
    unpack_value(in, n.names);
    unpack_value(in, n.paths);
    unpack_value(in, n.roots);
    in->failed |= n.roots > ROOTS_MAX;
    for (uint32_t i = 0; !in->failed && i < n.roots; i++) {
        unpack_value(in, o->roots[i]);
        in->failed |= !o->roots[i] || o->roots[i] > n.names;
    }
    o->root_count = in->failed ? 0 : n.roots;
    for (uint32_t i = 1; !in->failed && i <= n.hosts; i++) {
        uint32_t id = i;

        unpack_value(in, host);
        in->failed |= host.version != 4 && host.version != 6;
        if (!in->failed && !(id = host_id(o, &host)))
            return err_memory(err, "hosts");
        in->failed |= id != i;
    }
    rc = restore_objects(o, in, &n, err);
    if (rc == 0)
        rc = restore_names(o, in, &n, err);
    if (rc == 0 && !in->failed)
        in->failed = !begin_roots(o) || !count_names(o);
    return rc < 0 ? rc : restore_paths(o, in, &n, err);
}
