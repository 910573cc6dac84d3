/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/object_parts.h
 *
 * Shared by the files of the objects only (object.c, object_name.c, object_root.c, object_path.c,
 * object_learn.c, object_state.c, host.c).
 */
#ifndef NFSDIGEST_FLOW_OBJECT_PARTS_H
#define NFSDIGEST_FLOW_OBJECT_PARTS_H

#include "flow/object.h"

enum { PATH_DEPTH_MAX = 256 };

uint64_t object_hash(uint32_t server, struct bytes handle);
/* Adds an object.  Returns its id, or 0 with |err| filled. */
uint32_t object_add(struct objects *o, uint32_t server, struct bytes handle, uint64_t hash,
                    struct err *err);
/* The number of a file system, which is added if it is new; 0 with |err| filled: no memory. */
uint32_t volume_id(struct objects *o, uint32_t server, uint64_t fsid, struct err *err);
/* Says which one the object is on. */
int object_set_fsid(struct objects *o, uint32_t object, uint32_t server, uint64_t fsid,
                    struct err *err);

static inline bool name_is_root(const struct name *name)
{
    return name->parent & OF_SERVER;
}

/* The path that was found for |object|; 0: it has to be found (again). */
static inline uint32_t path_kept(const struct objects *o, uint32_t object)
{
    const uint32_t place = object & o->cached_mask;
    const struct cached_path *cached;

    if (place >= o->cached_cap)
        return 0;
    cached = &o->cached[place];
    return cached->age == o->age && cached->object == object ? cached->path : 0;
}
int path_keep(struct objects *o, uint32_t object, uint32_t path, struct err *err);

/* The first of the MOUNT paths that stand for |object|, where its path begins; or 0. */
uint32_t object_root(const struct objects *o, uint32_t object);

/* The first of the names of |object| that are like |name|: MOUNT paths, or names in directories. */
static inline uint32_t names_like(const struct objects *o, const struct name *name, uint32_t object)
{
    return name_is_root(name) ? object_root(o, object) : object_at(o, object)->name;
}

/* Sets it; |first| stands for |object|, or is 0.  The one before still does. */
void names_begin(struct objects *o, const struct name *name, uint32_t object, uint32_t first);

/* Return the id of a name; |parent| is as in struct name.  name_find returns 0 if there is no such
 * name.  name_get then adds it; it returns 0 with |err| filled on failure. */
uint32_t name_find(const struct objects *o, uint32_t parent, struct bytes name);
uint32_t name_get(struct objects *o, uint32_t parent, struct bytes name, struct err *err);

static inline uint32_t name_previous(const struct objects *o, uint32_t id)
{
    return index_number(&o->previous_names, id);
}

/* Adds a name, which must stand for nothing, to the names of |object|, or removes it from its
 * object's.  |first|: the path of |object| goes through this name from now on.  name_attach fails
 * only without memory. */
int name_attach(struct objects *o, uint32_t name, uint32_t object, bool first, struct err *err);
void name_detach(struct objects *o, uint32_t name);

/* Puts a record of a name's event.  The record names the object that the name stands for. */
int name_put(struct objects *o, enum name_event event, uint32_t name, const struct moment *m,
             struct err *err);

/* Notes that a name no longer stands for its object.  |event|: NAME_REMOVED or NAME_GONE. */
int name_end(struct objects *o, uint32_t name, enum name_event event, const struct moment *m,
             struct err *err);

/* Ends all names of |object| from |first| on, except |keep|. */
int names_end(struct objects *o, uint32_t first, uint32_t keep, const struct moment *m,
              struct err *err);

/* A directory that moves.  root_move_begin is called before the move, root_move_end after it. */
struct root_move {
    uint32_t object; /* 0: its handle was never seen */
    struct place from;
    uint32_t old; /* path id */
    bool needed;
};

/* Prepares the move of the directory at |from|. */
int root_move_begin(struct objects *o, struct root_move *move, struct place from, struct err *err);
/* Changes the paths of MOUNT roots at and below the directory, which has moved to |to|.  An empty
 * name in |to| means that its new place is unknown. */
int root_move_end(struct objects *o, const struct root_move *move, const struct place *to,
                  const struct moment *m, struct err *err);

uint32_t path_add(struct objects *o, uint32_t parent, uint32_t object, struct bytes name,
                  struct err *err);

/* Writes the text of a path into |out|.  Returns 1, or 0 if the path does not begin at a MOUNT
 * path, or a negative code. */
int path_text(const struct objects *o, uint32_t path, struct buf *out, struct err *err);

#endif
