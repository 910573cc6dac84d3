/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/object.h
 *
 * Finds which object a handle stands for, and where objects are in the tree.  It learns this from
 * MOUNT, and from procedures that show or change directory entries.  Ids count from 1; 0 is no
 * object.  Everything that it learns goes to the sink as RECORD_OBJECT, RECORD_NAME and
 * RECORD_PATH.
 *
 * A name stands for one object at a time.  An object has a list of its names, and its path goes
 * through the first of them.  A directory has one name besides those that MOUNT gives it: a second
 * one means that it was moved.  An object without a name has no path.
 *
 * The latest reply, by its time, decides what is known.  A reply that comes late does not bring
 * back an older state.  A reply that only shows a name teaches nothing about it if the name changed
 * after the call was sent.
 *
 * Memory: about 165 bytes for each object with one name, and 65 bytes and the text for each further
 * name; about 40 for each file system that a server ever said an object to be on.  Nothing is
 * forgotten.
 */
#ifndef NFSDIGEST_FLOW_OBJECT_H
#define NFSDIGEST_FLOW_OBJECT_H

#include "flow/seen.h"
#include "base/compact.h"
#include "base/index.h"
#include "base/pool.h"
#include "base/texts.h"
#include "flow/host.h"
#include "record/record.h"

enum {
    HANDLE_NEAR = 44, /* bytes, enough for most servers; a look-up then reads no other memory */
    HANDLE_FAR = 4,   /* bytes of the number of a longer one */
    VOLUMES_MAX = 1 << 30,
    CACHED_SMALL = 4096, /* paths that objects_init_small has at hand */
    ROOTS_MAX = 4096, /* MOUNT paths that change when a directory in them is renamed; further ones
                       * stay as MOUNT gave them */
};

/* Millions of them are kept, so members share words. */
struct object {
    uint64_t fileid;
    uint64_t modified_by : 44; /* latest operation that changes it */
    uint64_t type : 4;         /* enum object_type */
    uint64_t handle_len : 16;
    uint32_t volume : 30;   /* object_volume */
    uint32_t described : 1; /* its attributes were seen */
    uint32_t has_root : 1;  /* MOUNT paths stand for it: object_root */
    uint32_t name;          /* first of the names that stand for it now, or 0 */
    uint32_t children;      /* number of names in it that stand for something now */
    uint8_t near[]; /* |near| bytes: the handle, or its number in the texts if it is longer */
};

/* What the objects of a file system have in common. */
struct volume {
    uint64_t fsid;   /* 0: not known */
    uint32_t server; /* host id */
};

/* Of an operation's id: a million a second for half a year. */
#define OPERATION_BITS ((UINT64_C(1) << 44) - 1)

#define OF_SERVER                                                                                  \
    (UINT32_C(1) << 31) /* in place of a directory's id: MOUNT paths of this host id */

struct name {
    uint32_t text; /* name_text */
    uint32_t len;
    uint32_t parent; /* object id, or OF_SERVER and a host id */
    uint32_t object; /* the object it stands for now; 0: none, or unknown */
    int64_t changed; /* time of the reply that made it stand for this, as far as is known */
};

struct path {
    uint32_t text; /* path_name */
    uint32_t len;
    uint32_t parent;
    uint32_t object;
};

/* The path of an object, as long as |age| is the tree's. */
struct cached_path {
    uint32_t object, path, age;
};

struct objects {
    struct sink sink;
    struct same_servers same;
    uint8_t *objects; /* object_at */
    uint32_t near, stride;
    struct volume *volumes;
    struct cached_path *cached; /* by the lower bits of the object's id */
    uint32_t cached_cap, cached_mask;
    struct pool names; /* name_at */
    /* Names of the same object, from name to name.  Few objects have several names. */
    struct index next_names, previous_names;
    struct path *paths;
    struct address *hosts;
    uint32_t object_count, object_cap, path_count, path_cap, host_count, host_cap, volume_count,
        volume_cap;
    struct compact by_handle, by_name; /* by the lower half of their hashes */
    struct index by_path, by_host, by_volume;
    struct index by_root; /* objects with a MOUNT path, to the first of these */
    struct texts texts;
    uint32_t roots[ROOTS_MAX]; /* names that are MOUNT paths and stand for something */
    uint32_t root_count;
    uint32_t root_names; /* all names that are MOUNT paths */
    uint32_t age;        /* of the tree: a move of a directory makes all cached paths old */
};

static inline struct object *object_at(const struct objects *o, uint32_t id)
{
    return (struct object *)(void *)(o->objects + (size_t)id * o->stride);
}

static inline struct name *name_at(const struct objects *o, uint32_t id)
{
    return pool_at(&o->names, id);
}

/* The next name of the same object, or 0. */
static inline uint32_t name_next(const struct objects *o, uint32_t id)
{
    return index_number(&o->next_names, id);
}

static inline const struct volume *object_volume(const struct objects *o, const struct object *x)
{
    return &o->volumes[x->volume];
}

static inline struct bytes object_handle(const struct objects *o, const struct object *object)
{
    uint32_t far;

    if (object->handle_len <= o->near)
        return (struct bytes){ object->near, object->handle_len };
    memcpy(&far, object->near, sizeof(far));
    return (struct bytes){ texts_at(&o->texts, far), object->handle_len };
}

static inline struct bytes name_text(const struct objects *o, const struct name *name)
{
    return (struct bytes){ texts_at(&o->texts, name->text), name->len };
}

static inline struct bytes path_name(const struct objects *o, const struct path *path)
{
    return (struct bytes){ texts_at(&o->texts, path->text), path->len };
}

/* When something was learned: from |operation|, called at |since| and answered at |time|. */
struct moment {
    uint64_t operation;
    int64_t since, time;
};

/* |same| may be NULL.  objects_init_small: handles take no more bytes than they have, but each
 * look-up reads other memory. */
int objects_init_small(struct objects *o, const struct sink *sink, const struct same_servers *same,
                       struct err *err);
int objects_init(struct objects *o, const struct sink *sink, const struct same_servers *same,
                 struct err *err);
void objects_free(struct objects *o);

/* Returns the id of the object of a handle, and adds the object if it is new.  Returns 0 with |err|
 * filled on failure. */
uint32_t object_id(struct objects *o, uint32_t server, struct bytes handle, struct seen seen,
                   struct err *err);

/* Prefetch the memory that a call of object_id will need, in two steps, with other work between
 * them.  |hash| is the result of the first step. */
uint64_t object_expect(const struct objects *o, uint32_t server, struct bytes handle);
void object_fetch(const struct objects *o, uint64_t hash);

struct object_identity {
    uint8_t type;
    uint64_t fsid, fileid; /* 0: not known */
};

/* Sets the type and the numbers of an object.  Puts its record again if they changed. */
int object_describe(struct objects *o, uint32_t object, struct object_identity identity,
                    const struct moment *m, struct err *err);

/* Returns the object that |name| in |parent| is known to stand for, or 0. */
uint32_t object_named(const struct objects *o, uint32_t parent, struct bytes name);

/* A name in a directory. */
struct place {
    uint32_t parent;
    struct bytes name;
};

/* Says that |name| in |parent| was seen to stand for |object|, or was made. */
struct binding {
    uint32_t parent;
    struct bytes name;
    uint32_t object;
    enum name_event event; /* NAME_SEEN, NAME_BOUND; within the objects also NAME_MOVED */
};

/* Learns a binding. */
int object_bind(struct objects *o, const struct binding *binding, const struct moment *m,
                struct err *err);

/* Learns that |name| in |parent| was removed. */
int object_unbind(struct objects *o, uint32_t parent, struct bytes name, const struct moment *m,
                  struct err *err);

/* Learns that |name| in |parent| stands for nothing. */
int object_absent(struct objects *o, uint32_t parent, struct bytes name, const struct moment *m,
                  struct err *err);

/* Learns that the object of |binding| has one link.  So it has no other name. */
int object_alone(struct objects *o, const struct binding *binding, const struct moment *m,
                 struct err *err);

/* Learns that |from| was renamed to |to|.  The name of |to| is empty if it was not captured. */
int object_rename(struct objects *o, const struct place *from, const struct place *to,
                  const struct moment *m, struct err *err);

/* Learns that MOUNT gave |object| for |path|. */
int object_mounted(struct objects *o, uint32_t object, struct bytes path, const struct moment *m,
                   struct err *err);

/* Returns the id of the present path of |object|, or, if |name| is not empty, of that entry in it.
 * Follows "." and ".." as far as it is known where they lead.  Returns 0 with |err| filled on
 * failure. */
uint32_t object_path(struct objects *o, uint32_t object, struct bytes name, struct err *err);

/* Returns the id of a MOUNT path, or 0 with |err| filled. */
uint32_t object_mount_path(struct objects *o, struct bytes path, struct err *err);

/* Packs everything that is known, and unpacks it into objects that were just initialized.  The
 * bytes are those of one build (base/pack.h); objects_layout distinguishes builds.
 * objects_restore: |in| fails if the bytes cannot be right. */
struct unpack;
uint64_t objects_layout(uint64_t hash);
int objects_save(const struct objects *o, struct buf *out);
int objects_restore(struct objects *o, struct unpack *in, struct err *err);

/* Learns a record that an earlier process put into its sink.  Puts nothing into this sink. */
int objects_learn(struct objects *o, const struct record *record, struct err *err);

#endif
