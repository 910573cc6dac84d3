/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/object_root.c
 *
 * MOUNT paths: names of objects that are not in a directory.  When a directory is renamed, the
 * MOUNT paths that lead through it change.
 */
#include "flow/object_parts.h"

int object_mounted(struct objects *o, uint32_t object, struct bytes path, const struct moment *m,
                   struct err *err)
{
    uint32_t id =
        name_get(o, OF_SERVER | object_volume(o, object_at(o, object))->server, path, err);
    int rc = 0;

    if (!id)
        return -ERR_SYSTEM;
    if (name_at(o, id)->object == object)
        return 0;
    if (name_at(o, id)->object)
        rc = name_end(o, id, NAME_GONE, m, err);
    if (rc == 0 && !object_mount_path(o, path, err))
        rc = -ERR_SYSTEM;
    if (rc < 0)
        return rc;
    rc = name_attach(o, id, object, true, err);
    return rc < 0 ? rc : name_put(o, NAME_SEEN, id, m, err);
}

/* --- the first MOUNT path of an object */

static uint32_t hash_of(uint32_t object)
{
    return object * UINT32_C(0x9e3779b1);
}

static struct index_place *find_root(const struct objects *o, uint32_t object)
{
    uint32_t at, hash = hash_of(object);
    struct index_place *place = index_first(&o->by_root, hash, &at);

    while (place && name_at(o, place->slot)->object != object)
        place = index_next(&o->by_root, hash, &at);
    return place;
}

uint32_t object_root(const struct objects *o, uint32_t object)
{
    const struct index_place *place = object_at(o, object)->has_root ? find_root(o, object) : NULL;

    return place ? place->slot : 0;
}

void names_begin(struct objects *o, const struct name *name, uint32_t object, uint32_t first)
{
    struct object *x = object_at(o, object);
    struct index_place *place;

    if (!name_is_root(name)) {
        x->name = first;
        return;
    }
    place = x->has_root ? find_root(o, object) : NULL;
    if (place && first)
        place->slot = first;
    else if (place)
        index_take_out(&o->by_root, hash_of(object), place->slot);
    else if (first)
        index_put(&o->by_root, hash_of(object), first); /* name_add has made room */
    x->has_root = first != 0;
}

/* --- moves */

/* Whether the path |above| is |path| or leads to it; *|rest|: what is left of that. */
static bool leads_to(struct bytes above, struct bytes path, struct bytes *rest)
{
    while (above.len && above.data[above.len - 1] == '/')
        above.len--;
    if (path.len < above.len || memcmp(path.data, above.data, above.len) ||
        (path.len > above.len && path.data[above.len] != '/'))
        return false;
    *rest = (struct bytes){ path.data + above.len, path.len - above.len };
    return above.len > 0;
}

int root_move_begin(struct objects *o, struct root_move *move, struct place from, struct err *err)
{
    *move = (struct root_move){ .object = object_named(o, from.parent, from.name), .from = from };
    move->needed =
        o->root_count && (!move->object || object_at(o, move->object)->type == OBJECT_DIR ||
                          object_at(o, move->object)->type == OBJECT_UNKNOWN);
    if (move->needed && !(move->old = object_path(o, from.parent, from.name, err)))
        return -ERR_SYSTEM;
    return 0;
}

/* What MOUNT paths become. */
struct rerooting {
    struct bytes old;        /* what they begin with */
    const struct buf *above; /* becomes this; empty: nobody knows what */
    const struct moment *m;
};

/* The MOUNT path |name| becomes r->above and what followed r->old in it, |rest|. */
static int replace(struct objects *o, uint32_t name, struct bytes rest, const struct rerooting *r,
                   struct err *err)
{
    uint32_t object = name_at(o, name)->object;
    struct buf text = { 0 };
    int rc = name_end(o, name, NAME_GONE, r->m, err);

    if (rc == 0 && r->above->len) {
        if (buf_append(&text, r->above->data, r->above->len) < 0 ||
            buf_append(&text, rest.data, rest.len) < 0)
            rc = err_memory(err, "objects and names");
        else
            rc = object_mounted(o, object, (struct bytes){ text.data, (uint32_t)text.len }, r->m,
                                err);
    }
    buf_free(&text);
    return rc;
}

/* The same of all MOUNT paths of |server| to which r->old leads. */
static int replace_all(struct objects *o, uint32_t server, const struct rerooting *r,
                       struct err *err)
{
    uint32_t found[ROOTS_MAX], count = 0;
    struct bytes rest;
    int rc = 0;

    for (uint32_t i = 0; i < o->root_count; i++)
        if (name_at(o, o->roots[i])->parent == (OF_SERVER | server) &&
            leads_to(r->old, name_text(o, name_at(o, o->roots[i])), &rest))
            found[count++] = o->roots[i];
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        if (name_at(o, found[i])->object &&
            leads_to(r->old, name_text(o, name_at(o, found[i])), &rest))
            rc = replace(o, found[i], rest, r, err);
    return rc;
}

/* Where |root|, a MOUNT path of the moved directory itself, leads now, into |own|: to |path|, but
 * when it was called otherwise and kept its parent, only its last component is another one.
 * Negative: no memory. */
static int renamed_root(const struct root_move *move, struct bytes root, const struct place *to,
                        const struct buf *path, struct buf *own)
{
    const struct place *from = &move->from;
    uint32_t start = root.len;

    while (start && root.data[start - 1] != '/')
        start--;
    own->len = 0;
    if (from->parent != to->parent || !to->name.len || !start ||
        root.len - start != from->name.len ||
        memcmp(root.data + start, from->name.data, from->name.len) != 0)
        return buf_append(own, path->data, path->len);
    return buf_append(own, root.data, start) < 0 ? -ERR_SYSTEM
                                                 : buf_append(own, to->name.data, to->name.len);
}

/* What MOUNT called the moved directory, where that is not the path through its names, |r|'s. */
static int replace_own(struct objects *o, const struct root_move *move, const struct place *to,
                       const struct rerooting *r, struct err *err)
{
    uint32_t found[ROOTS_MAX], count = 0,
                               server = object_volume(o, object_at(o, move->from.parent))->server;
    const struct buf *path = r->above;
    struct buf own = { 0 };
    int rc = 0;

    for (uint32_t id = move->object ? object_root(o, move->object) : 0; id && count < ROOTS_MAX;
         id = name_next(o, id))
        if (name_at(o, id)->len != path->len ||
            memcmp(name_text(o, name_at(o, id)).data, path->data, path->len))
            found[count++] = id;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const struct rerooting mine = { name_text(o, name_at(o, found[i])), &own, r->m };
        if (name_at(o, found[i])->object != move->object)
            continue;
        rc = renamed_root(move, mine.old, to, path, &own) < 0 ? err_memory(err, "objects and names")
                                                              : replace_all(o, server, &mine, err);
    }
    buf_free(&own);
    return rc;
}

int root_move_end(struct objects *o, const struct root_move *move, const struct place *to,
                  const struct moment *m, struct err *err)
{
    uint32_t server = object_volume(o, object_at(o, move->from.parent))->server, id;
    struct buf old = { 0 }, path = { 0 };
    struct rerooting r = { .above = &path, .m = m };
    int rc = 0, known;

    if (!move->needed)
        return 0;
    known = path_text(o, move->old, &old, err);
    r.old = (struct bytes){ old.data, (uint32_t)old.len };
    if (known >= 0 && to->name.len) {
        id = object_path(o, to->parent, to->name, err);
        rc = id ? path_text(o, id, &path, err) : -ERR_SYSTEM;
        if (rc == 0)
            path.len = 0;
    }
    if (known > 0 && rc >= 0)
        rc = replace_all(o, server, &r, err);
    if (known >= 0 && rc >= 0)
        rc = replace_own(o, move, to, &r, err);
    buf_free(&old);
    buf_free(&path);
    return known < 0 ? known : rc < 0 ? rc : 0;
}
