/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/object_parts.h
 *
 * Shared by the files of the objects only (object.c, object_name.c, object_root.c, object_path.c,
 * object_learn.c, host.c).
 */
#ifndef NFSDIGEST_FLOW_OBJECT_PARTS_H
#define NFSDIGEST_FLOW_OBJECT_PARTS_H

#include "flow/object.h"

enum { PATH_DEPTH_MAX = 256 };

uint64_t object_hash(uint32_t server, struct bytes handle);
/* A new one; 0: |err| is filled. */
uint32_t object_add(struct objects *o, uint32_t server, struct bytes handle, uint64_t hash,
                    struct err *err);

static inline bool name_is_root(const struct name *name)
{
    return name->parent & OF_SERVER;
}

/* |parent| as in struct name.  Ids; 0: there is none, or (name_get) |err| is filled. */
uint32_t name_find(const struct objects *o, uint32_t parent, struct bytes name);
uint32_t name_get(struct objects *o, uint32_t parent, struct bytes name, struct err *err);

static inline struct bytes name_text(const struct name *name)
{
    return (struct bytes){ name->text, name->len };
}

/* Puts a name, which stands for nothing, into the list of |object|, or takes it out.  |first|: the
 * path of |object| goes through it from now on. */
void name_attach(struct objects *o, uint32_t name, uint32_t object, bool first);
void name_detach(struct objects *o, uint32_t name);

/* Puts the record of what happened to a name, with the object that it stands for. */
int name_put(struct objects *o, enum name_event event, uint32_t name, const struct moment *m,
             struct err *err);

/* It does not stand for its object any more (NAME_REMOVED, NAME_GONE). */
int name_end(struct objects *o, uint32_t name, enum name_event event, const struct moment *m,
             struct err *err);

/* All names of |object| from |first| on end, but for |keep|. */
int names_end(struct objects *o, uint32_t first, uint32_t keep, const struct moment *m,
              struct err *err);

/* A directory that moves: to be told before and after that. */
struct root_move {
    uint32_t object; /* 0: its handle was never seen */
    struct place from;
    uint32_t old; /* path id */
    bool needed;
};

/* What stands at |from| is about to move. */
int root_move_begin(struct objects *o, struct root_move *move, struct place from, struct err *err);
/* It moved to |to| (its name empty: nobody knows where): MOUNT roots at and below it have other
 * paths now. */
int root_move_end(struct objects *o, const struct root_move *move, const struct place *to,
                  const struct moment *m, struct err *err);

uint32_t path_add(struct objects *o, uint32_t parent, uint32_t object, struct bytes name,
                  struct err *err);

/* The text of a path into |out|: 1, 0 if it does not begin at a MOUNT path, or negative. */
int path_text(const struct objects *o, uint32_t path, struct buf *out, struct err *err);

#endif
