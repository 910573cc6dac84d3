/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/objects.h
 *
 * What the player knows of the target's objects: by the dump's number, and by handle.
 *
 * Memory: at most 200 bytes for each object that lives, its places in both tables included.
 */
#ifndef NFSDIGEST_PLAYER_OBJECTS_H
#define NFSDIGEST_PLAYER_OBJECTS_H

#include "base/bytes.h"
#include "base/err.h"
#include "wire/nfs3_structs.h"

#include <stdbool.h>

struct objects;

enum { OBJECTS_NOBODY = -1, OBJECT_HANDLE_MAX = 64 /* RFC 1813 s2.4 */ };

struct object {
    uint32_t number;    /* of the dump */
    uint8_t handle_len; /* 0: not known: |maker| says why */
    uint8_t handle[OBJECT_HANDLE_MAX];
    uint8_t type; /* ftype3; 0: not known */
    bool has_ctime;
    struct nfstime3 ctime; /* the latest that a reply showed */
    uint64_t size;         /* of a file, as far as this player knows it */
    /* Bytes that nobody filled: they may be zeros as well (contents.h). */
    uint64_t hole_from, hole_to;
    int64_t maker; /* the operation that should have made it, or OBJECTS_NOBODY: of the tree */
};

struct objects *objects_new(struct err *err);
void objects_free(struct objects *objects);

/* The object of this number, or NULL.  Valid until the next objects_add or objects_forget. */
struct object *objects_find(struct objects *objects, uint32_t number);
/* The number of the object with this handle on |server| (host of the dump); 0: none. */
uint32_t objects_number(const struct objects *objects, uint32_t server, struct bytes handle);
/* Adds an object, or finds it.  NULL: no memory. */
struct object *objects_add(struct objects *objects, uint32_t number, struct err *err);
/* Sets its handle.  A handle that another object had becomes this one's: servers may give the
 * handle of a removed file again.  -ERR_INPUT: longer than 64 bytes. */
int objects_set_handle(struct objects *objects, uint32_t server, struct object *object,
                       struct bytes handle, struct err *err);
void objects_forget(struct objects *objects, uint32_t number);
uint64_t objects_count(const struct objects *objects);
uint64_t objects_memory(const struct objects *objects);

#endif
