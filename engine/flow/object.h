/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/object.h
 *
 * What handles stand for, and where objects hang in the tree: learned from MOUNT and from the
 * procedures that show or change directory entries.  Ids count from 1; 0 is none.
 * Everything that is learned goes to the sink as RECORD_OBJECT, RECORD_NAME and RECORD_PATH.
 *
 * Memory: grows with the objects, names and paths seen, about 250 bytes for each object with one
 * name; nothing is forgotten.
 */
#ifndef NFSDIGEST_FLOW_OBJECT_H
#define NFSDIGEST_FLOW_OBJECT_H

#include "base/arena.h"
#include "base/table.h"
#include "record/record.h"

enum { HANDLE_NEAR = 44 }; /* of most servers; a look-up then needs no further memory */

struct object {
    uint32_t server; /* host id */
    uint32_t handle_len;
    union {
        uint8_t near[HANDLE_NEAR];
        const uint8_t *far;
    } handle;
    uint64_t fsid, fileid;
    uint64_t modified_by; /* latest operation that changes it */
    uint32_t name;        /* id of the name by which it is reached, or 0 */
    uint32_t mount_path;  /* path id of a MOUNT root, or 0 */
    uint32_t path;        /* cached path id, valid for |path_age| */
    uint32_t path_age;
    uint8_t type;   /* enum object_type */
    bool is_parent; /* names below it are known */
    bool described; /* its attributes were seen */
};

static inline const uint8_t *object_handle(const struct object *object)
{
    return object->handle_len <= HANDLE_NEAR ? object->handle.near : object->handle.far;
}

struct name {
    const uint8_t *text;
    uint32_t len;
    uint32_t parent; /* object id */
    uint32_t object; /* bound to it now; 0: none, or not known */
};

struct path {
    const uint8_t *text;
    uint32_t len;
    uint32_t parent;
    uint32_t object;
};

struct objects {
    struct sink sink;
    struct object *objects;
    struct name *names;
    struct path *paths;
    struct address *hosts;
    uint32_t object_count, object_cap, name_count, name_cap, path_count, path_cap, host_count,
        host_cap;
    struct table by_handle, by_name, by_path, by_host;
    struct arena arena;
    uint32_t age; /* of the tree: a move of a directory makes all cached paths old */
};

int objects_init(struct objects *o, const struct sink *sink, struct err *err);
void objects_free(struct objects *o);

/* Id of an address that was seen before; 0: it was not. */
uint32_t host_find(const struct objects *o, const struct address *address);

/* Id of an address; 0: no memory. */
uint32_t host_id(struct objects *o, const struct address *address);

/* Id of the object behind a handle, made if need be; 0 with |err| filled. */
uint32_t object_id(struct objects *o, uint32_t server, struct bytes handle, uint64_t frame,
                   int64_t time, struct err *err);

/* Says once what an object is. */
int object_describe(struct objects *o, uint32_t object, uint8_t type, uint64_t fsid,
                    uint64_t fileid, struct err *err);

/* The object that |name| in |parent| is known to stand for, or 0. */
uint32_t object_named(const struct objects *o, uint32_t parent, struct bytes name);

/* |name| in |parent| stands for |object| from now on. "." and ".." are nobody's names. */
int object_bind(struct objects *o, uint32_t parent, struct bytes name, uint32_t object,
                enum name_event event, uint64_t operation, int64_t time, struct err *err);

/* |name| in |parent| stands for nothing any more. */
int object_unbind(struct objects *o, uint32_t parent, struct bytes name, uint64_t operation,
                  int64_t time, struct err *err);

/* |object| is what MOUNT calls |path|. */
int object_mounted(struct objects *o, uint32_t object, struct bytes path, uint64_t operation,
                   int64_t time, struct err *err);

/* Id of the path of |object| now; with |name| (len > 0) of that entry in it. 0: |err| is filled. */
uint32_t object_path(struct objects *o, uint32_t object, struct bytes name, struct err *err);

/* Takes back what an earlier process put into its sink; nothing goes to this one. */
int objects_learn(struct objects *o, const struct record *record, struct err *err);

#endif
