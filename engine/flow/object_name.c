/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/object_name.c
 *
 * Keeps the names of objects: learns which name stands for which object.
 */
#include "base/digest.h"
#include "base/grow.h"
#include "flow/object_parts.h"

static uint32_t name_hash(uint32_t parent, struct bytes name)
{
    return (uint32_t)XXH3_64bits_withSeed(name.data, name.len, parent);
}

static uint32_t hash_of(const void *objects, uint32_t id)
{
    const struct objects *o = objects;
    const struct name *n = name_at(o, id);

    return name_hash(n->parent, name_text(o, n));
}

uint32_t name_find(const struct objects *o, uint32_t parent, struct bytes name)
{
    const uint32_t hash = name_hash(parent, name);
    uint32_t at, id;

    for (id = compact_first(&o->by_name, hash, &at); id;
         id = compact_next(&o->by_name, hash, &at)) {
        const struct name *n = name_at(o, id);
        if (n->parent == parent && n->len == name.len &&
            !memcmp(name_text(o, n).data, name.data, name.len))
            return id;
    }
    return 0;
}

static uint32_t name_add(struct objects *o, uint32_t parent, struct bytes name, struct err *err)
{
    const struct compact_keys keys = { hash_of, o };
    struct name n = { .len = name.len, .parent = parent, .changed = INT64_MIN };
    uint32_t id;

    n.text = texts_add(&o->texts, name.data, name.len);
    if (!n.text || compact_reserve(&o->by_name, 1, &keys) < 0 ||
        (name_is_root(&n) && index_reserve(&o->by_root, o->root_names + 1 - o->by_root.used) < 0) ||
        !(id = pool_new(&o->names))) {
        err_memory(err, "objects and names");
        return 0;
    }
    o->root_names += name_is_root(&n);
    compact_put(&o->by_name, name_hash(parent, name), id);
    *name_at(o, id) = n;
    return id;
}

uint32_t name_get(struct objects *o, uint32_t parent, struct bytes name, struct err *err)
{
    uint32_t id = name_find(o, parent, name);

    return id ? id : name_add(o, parent, name, err);
}

uint32_t object_named(const struct objects *o, uint32_t parent, struct bytes name)
{
    uint32_t id = name_find(o, parent, name);

    return id ? name_at(o, id)->object : 0;
}

/* The path of |object| is another one, and so are those of all that is below it. */
static void path_changed(struct objects *o, uint32_t object)
{
    uint32_t at = object & o->cached_mask;

    if (at < o->cached_cap && o->cached[at].object == object)
        o->cached[at].age = 0;
    if (object_at(o, object)->children)
        o->age++;
}

static void root_note(struct objects *o, uint32_t name)
{
    if (o->root_count < ROOTS_MAX)
        o->roots[o->root_count++] = name;
}

static void root_forget(struct objects *o, uint32_t name)
{
    for (uint32_t i = 0; i < o->root_count; i++)
        if (o->roots[i] == name) {
            o->roots[i] = o->roots[--o->root_count];
            return;
        }
}

/* |next| comes behind |id|; either may be 0. */
static void set_next(struct objects *o, uint32_t id, uint32_t next)
{
    if (id)
        index_set_number(&o->next_names, id, next);
    if (next)
        index_set_number(&o->previous_names, next, id);
}

int name_attach(struct objects *o, uint32_t name, uint32_t object, bool first, struct err *err)
{
    struct name *n = name_at(o, name);
    uint32_t head = names_like(o, n, object);

    if (head && (index_reserve(&o->next_names, 1) < 0 || index_reserve(&o->previous_names, 1) < 0))
        return err_memory(err, "objects and names");
    n->object = object;
    if (name_is_root(n))
        root_note(o, name);
    else
        object_at(o, n->parent)->children++;
    if (head && !first) { /* behind the first, before the others: it is the most certain of them */
        set_next(o, name, name_next(o, head));
        set_next(o, head, name);
    } else {
        set_next(o, name, head);
        names_begin(o, n, object, name);
        path_changed(o, object);
    }
    return 0;
}

void name_detach(struct objects *o, uint32_t name)
{
    struct name *n = name_at(o, name);
    uint32_t object = n->object, next, previous;

    if (!object)
        return;
    if (name_is_root(n))
        root_forget(o, name);
    else
        object_at(o, n->parent)->children--;
    next = name_next(o, name);
    previous = name_previous(o, name);
    set_next(o, name, 0);
    set_next(o, 0, name);
    set_next(o, previous, next);
    if (!previous) {
        names_begin(o, n, object, next);
        path_changed(o, object);
    }
    n->object = 0;
}

int name_put(struct objects *o, enum name_event event, uint32_t name, const struct moment *m,
             struct err *err)
{
    struct name *n = name_at(o, name);
    struct record r = { .kind = RECORD_NAME,
                        .name = { .event = (uint8_t)event,
                                  .parent = name_is_root(n) ? 0 : n->parent,
                                  .name = name_text(o, n),
                                  .object = n->object,
                                  .operation = m->operation,
                                  .time = m->time } };

    n->changed = m->time;
    return o->sink.put(o->sink.ctx, &r, err);
}

int name_end(struct objects *o, uint32_t name, enum name_event event, const struct moment *m,
             struct err *err)
{
    int rc = name_put(o, event, name, m, err);

    name_detach(o, name);
    return rc;
}

int names_end(struct objects *o, uint32_t first, uint32_t keep, const struct moment *m,
              struct err *err)
{
    uint32_t next;
    int rc = 0;

    for (uint32_t id = first; rc == 0 && id; id = next) {
        next = name_next(o, id);
        if (id != keep)
            rc = name_end(o, id, NAME_GONE, m, err);
    }
    return rc;
}

/* The same, but a directory that has no other name is gone, and so are the paths that MOUNT gave
 * it. */
static int end_for_good(struct objects *o, uint32_t name, enum name_event event,
                        const struct moment *m, struct err *err)
{
    uint32_t object = name_at(o, name)->object;
    int rc = name_end(o, name, event, m, err);

    if (rc == 0 && object && !object_at(o, object)->name &&
        object_at(o, object)->type == OBJECT_DIR)
        rc = names_end(o, object_root(o, object), 0, m, err);
    return rc;
}

/* Call this before |object| is put into |parent|.  If |parent| is below |object|, a directory
 * between them was moved, and the capture does not show it.  The one that was seen there longest
 * ago is taken. */
static int break_circle(struct objects *o, uint32_t parent, uint32_t object, const struct moment *m,
                        struct err *err)
{
    uint32_t at = parent, oldest = 0;

    if (!object_at(o, object)->children)
        return 0;
    for (uint32_t depth = 0; at != object && depth < PATH_DEPTH_MAX; depth++) {
        uint32_t name = object_at(o, at)->name;
        if (!name)
            return 0;
        if (!oldest || name_at(o, name)->changed < name_at(o, oldest)->changed)
            oldest = name;
        at = name_at(o, name)->parent;
    }
    return at == object && oldest ? name_end(o, oldest, NAME_GONE, m, err) : 0;
}

/* |name| stands for b->object now, and for nothing else. */
static int stand_for(struct objects *o, uint32_t name, const struct binding *b,
                     const struct moment *m, struct err *err)
{
    uint32_t old = name_at(o, name)->object, object = b->object;
    enum name_event event = b->event;
    int rc = 0;

    if (old && old != object)
        rc = end_for_good(o, name, event == NAME_MOVED ? NAME_REMOVED : NAME_GONE, m, err);
    if (old == object && event == NAME_MOVED) /* seen before: the path goes through it now */
        name_detach(o, name);
    if (rc == 0 && !name_at(o, name)->object)
        rc = break_circle(o, name_at(o, name)->parent, object, m, err);
    if (rc == 0 && !name_at(o, name)->object)
        rc = name_attach(o, name, object, event == NAME_MOVED, err);
    return rc < 0 ? rc : name_put(o, event, name, m, err);
}

/* A directory is seen under a second name: it was moved, and the capture does not show it. */
static int move_unseen(struct objects *o, uint32_t name, const struct binding *b,
                       const struct moment *m, struct err *err)
{
    const struct place to = { name_at(o, name)->parent, name_text(o, name_at(o, name)) };
    uint32_t others = object_at(o, b->object)->name;
    struct root_move move;
    int rc = root_move_begin(
        o, &move, (struct place){ name_at(o, others)->parent, name_text(o, name_at(o, others)) },
        err);

    if (rc == 0)
        rc = names_end(o, others, name, m, err);
    if (rc == 0)
        rc = stand_for(o, name, b, m, err);
    if (rc == 0)
        rc = root_move_end(o, &move, &to, m, err);
    return rc;
}

/* Whether a later reply has shown the object of |name|.  A reply that only shows a name can be from
 * any moment since its call. */
static bool is_old(const struct objects *o, uint32_t name, enum name_event event,
                   const struct moment *m)
{
    int64_t time = event == NAME_SEEN ? m->since : m->time;

    return time != TIME_NONE && name_at(o, name)->changed > time;
}

int object_bind(struct objects *o, const struct binding *b, const struct moment *m, struct err *err)
{
    const struct object *x = object_at(o, b->object);
    uint32_t id;
    int rc = 0;

    if (bytes_are_dots(b->name) || !b->name.len || b->parent == b->object)
        return 0;
    if (!(id = name_get(o, b->parent, b->name, err)))
        return -ERR_SYSTEM;
    if (b->event == NAME_SEEN && name_at(o, id)->object == b->object)
        return 0;
    if (is_old(o, id, b->event, m))
        return 0;
    if ((x->type == OBJECT_DIR || x->children) && x->name && x->name != id) {
        if (is_old(o, x->name, b->event, m))
            return 0;
        if (b->event == NAME_SEEN)
            return move_unseen(o, id, b, m, err);
        rc = names_end(o, x->name, 0, m, err); /* a new one with the handle of an old one */
        if (rc == 0)
            rc = names_end(o, object_root(o, b->object), 0, m, err);
    }
    return rc < 0 ? rc : stand_for(o, id, b, m, err);
}

int object_unbind(struct objects *o, uint32_t parent, struct bytes name, const struct moment *m,
                  struct err *err)
{
    uint32_t id;

    if (bytes_are_dots(name) || !name.len)
        return 0;
    if (!(id = name_get(o, parent, name, err)))
        return -ERR_SYSTEM;
    return is_old(o, id, NAME_REMOVED, m) ? 0 : end_for_good(o, id, NAME_REMOVED, m, err);
}

int object_absent(struct objects *o, uint32_t parent, struct bytes name, const struct moment *m,
                  struct err *err)
{
    uint32_t id = name_find(o, parent, name);

    if (!id || !name_at(o, id)->object || is_old(o, id, NAME_SEEN, m))
        return 0;
    return end_for_good(o, id, NAME_GONE, m, err);
}

int object_alone(struct objects *o, const struct binding *b, const struct moment *m,
                 struct err *err)
{
    uint32_t keep = name_find(o, b->parent, b->name), next;
    int rc = 0;

    if (!keep || name_at(o, keep)->object != b->object)
        return 0;
    for (uint32_t id = object_at(o, b->object)->name; rc == 0 && id; id = next) {
        next = name_next(o, id);
        if (id != keep && !is_old(o, id, NAME_SEEN, m))
            rc = name_end(o, id, NAME_GONE, m, err);
    }
    return rc;
}

int object_rename(struct objects *o, const struct place *source, const struct place *destination,
                  const struct moment *m, struct err *err)
{
    struct place there = *destination;
    uint32_t from, to = 0, moved, target;
    struct root_move move;
    int rc;

    if (bytes_are_dots(source->name) || !source->name.len || bytes_are_dots(there.name))
        return 0;
    if (!there.parent)
        there.name.len = 0;
    if (!(from = name_get(o, source->parent, source->name, err)) ||
        (there.name.len && !(to = name_get(o, there.parent, there.name, err))))
        return -ERR_SYSTEM;
    if (is_old(o, from, NAME_REMOVED, m)) /* and what it was is not known any more */
        return 0;
    if (to && is_old(o, to, NAME_MOVED, m))
        to = there.name.len = 0;
    moved = name_at(o, from)->object;
    target = to ? name_at(o, to)->object : 0;
    /* what was seen there while the call was under way is what it moved */
    if (target && (target == moved || !moved) && m->since != TIME_NONE &&
        name_at(o, to)->changed > m->since)
        moved = target;
    else if (from == to || (moved && moved == target))
        return 0;              /* both names are of one object: nothing happens, RFC 1813 s3.3.14 */
    if (moved == there.parent) /* no server moves a directory into itself */
        to = there.name.len = 0;
    if ((rc = root_move_begin(o, &move, *source, err)) < 0 ||
        (rc = name_end(o, from, NAME_REMOVED, m, err)) < 0)
        return rc;
    if (to && moved)
        rc = stand_for(o, to, &(struct binding){ .object = moved, .event = NAME_MOVED }, m, err);
    else if (to) /* whatever stood there does no more */
        rc = end_for_good(o, to, NAME_REMOVED, m, err);
    return rc < 0 ? rc : root_move_end(o, &move, &there, m, err);
}
