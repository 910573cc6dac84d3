/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/object_root.c
 *
 * MOUNT's paths: names of objects that no directory has.  When a directory is renamed, those that
 * lead through it change with it.
 */
#include "flow/object_parts.h"

int object_mounted(struct objects *o, uint32_t object, struct bytes path, const struct moment *m,
                   struct err *err)
{
    uint32_t id = name_get(o, OF_SERVER | o->objects[object].server, path, err);
    int rc = 0;

    if (!id)
        return -ERR_SYSTEM;
    if (o->names[id].object == object)
        return 0;
    if (o->names[id].object)
        rc = name_end(o, id, NAME_GONE, m, err);
    if (rc == 0 && !object_mount_path(o, path, err))
        rc = -ERR_SYSTEM;
    if (rc < 0)
        return rc;
    name_attach(o, id, object, true);
    return name_put(o, NAME_SEEN, id, object, m, err);
}

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

int root_move_begin(struct objects *o, struct root_move *move, uint32_t parent, struct bytes name,
                    struct err *err)
{
    *move = (struct root_move){ .object = object_named(o, parent, name),
                                .parent = parent,
                                .name = name };
    move->needed = o->root_count && (!move->object || o->objects[move->object].type == OBJECT_DIR ||
                                     o->objects[move->object].type == OBJECT_UNKNOWN);
    if (move->needed && !(move->old = object_path(o, parent, name, err)))
        return -ERR_SYSTEM;
    return 0;
}

/* The MOUNT path |name| becomes |above| and what followed |old| in it; it ends if |above| is not
 * known. */
static int replace(struct objects *o, uint32_t name, struct bytes rest, const struct buf *above,
                   const struct moment *m, struct err *err)
{
    uint32_t object = o->names[name].object;
    struct buf text = { 0 };
    int rc = name_end(o, name, NAME_GONE, m, err);

    if (rc == 0 && above->len) {
        if (buf_append(&text, above->data, above->len) < 0 ||
            buf_append(&text, rest.data, rest.len) < 0)
            rc = err_memory(err, "objects and names");
        else
            rc = object_mounted(o, object, (struct bytes){ text.data, (uint32_t)text.len }, m, err);
    }
    buf_free(&text);
    return rc;
}

/* The same of all MOUNT paths of |server| to which |old| leads. */
static int replace_all(struct objects *o, uint32_t server, struct bytes old,
                       const struct buf *above, const struct moment *m, struct err *err)
{
    uint32_t found[ROOTS_MAX], count = 0;
    struct bytes rest;
    int rc = 0;

    for (uint32_t i = 0; i < o->root_count; i++)
        if (o->names[o->roots[i]].parent == (OF_SERVER | server) &&
            leads_to(old, name_text(&o->names[o->roots[i]]), &rest))
            found[count++] = o->roots[i];
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        if (o->names[found[i]].object && leads_to(old, name_text(&o->names[found[i]]), &rest))
            rc = replace(o, found[i], rest, above, m, err);
    return rc;
}

/* Where |root|, a MOUNT path of the moved directory itself, leads now: to |to|, but when it was
 * called otherwise and kept its parent, only its last component is another one. */
static int renamed_root(const struct root_move *move, struct bytes root, uint32_t parent2,
                        struct bytes name2, const struct buf *to, struct buf *own, struct err *err)
{
    uint32_t start = root.len;
    int rc;

    while (start && root.data[start - 1] != '/')
        start--;
    own->len = 0;
    if (move->parent == parent2 && name2.len && start && root.len - start == move->name.len &&
        !memcmp(root.data + start, move->name.data, move->name.len)) {
        rc = buf_append(own, root.data, start);
        if (rc == 0)
            rc = buf_append(own, name2.data, name2.len);
    } else {
        rc = buf_append(own, to->data, to->len);
    }
    return rc < 0 ? err_memory(err, "objects and names") : 0;
}

/* What MOUNT called the moved directory, where that is not the path through its names. */
static int replace_own(struct objects *o, const struct root_move *move, uint32_t parent2,
                       struct bytes name2, const struct buf *to, const struct moment *m,
                       struct err *err)
{
    uint32_t found[ROOTS_MAX], count = 0, server = o->objects[move->parent].server;
    struct buf own = { 0 };
    int rc = 0;

    for (uint32_t id = move->object ? o->objects[move->object].root : 0; id && count < ROOTS_MAX;
         id = o->names[id].next)
        if (o->names[id].len != to->len || memcmp(o->names[id].text, to->data, to->len))
            found[count++] = id;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        struct bytes text = name_text(&o->names[found[i]]);
        if (o->names[found[i]].object != move->object)
            continue;
        rc = renamed_root(move, text, parent2, name2, to, &own, err);
        if (rc == 0)
            rc = replace_all(o, server, text, &own, m, err);
    }
    buf_free(&own);
    return rc;
}

int root_move_end(struct objects *o, const struct root_move *move, uint32_t parent2,
                  struct bytes name2, const struct moment *m, struct err *err)
{
    uint32_t server = o->objects[move->parent].server, path;
    struct buf old = { 0 }, to = { 0 };
    int rc = 0, known;

    if (!move->needed)
        return 0;
    known = path_text(o, move->old, &old, err);
    if (known >= 0 && name2.len) {
        path = object_path(o, parent2, name2, err);
        rc = path ? path_text(o, path, &to, err) : -ERR_SYSTEM;
        if (rc == 0)
            to.len = 0;
    }
    if (known > 0 && rc >= 0)
        rc = replace_all(o, server, (struct bytes){ old.data, (uint32_t)old.len }, &to, m, err);
    if (known >= 0 && rc >= 0)
        rc = replace_own(o, move, parent2, name2, &to, m, err);
    buf_free(&old);
    buf_free(&to);
    return known < 0 ? known : rc < 0 ? rc : 0;
}
