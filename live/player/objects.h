/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/objects.h
 *
 * What the player knows of the target's objects: by the dump's number, and by handle.
 *
 * Memory: at most 200 bytes for each object of the most that ever lived at the same time, its
 * places in both tables included; twice the tables while they grow.
 */
#ifndef NFSDIGEST_PLAYER_OBJECTS_H
#define NFSDIGEST_PLAYER_OBJECTS_H

#include "base/bytes.h"
#include "base/err.h"
#include "wire/nfs3_structs.h"

#include <stdbool.h>

struct objects;

enum { OBJECTS_NOBODY = -1, OBJECT_HANDLE_MAX = 64 /* RFC 1813 s2.4 */ };

/* What a call needs of it, if its handle has no more than 45 bytes, is in one line of the cache. */
struct object {
    uint32_t number;       /* of the dump */
    uint32_t server;       /* of its handle: objects_set_handle sets it */
    struct nfstime3 ctime; /* that the last GETATTR for a guard showed */
    bool has_ctime;
    uint8_t type;       /* ftype3; 0: not known */
    uint8_t handle_len; /* 0: not known: |maker| says why */
    uint8_t handle[OBJECT_HANDLE_MAX];
    uint64_t size; /* of a file, as far as this player knows it */
    /* Bytes that nobody filled: they may be zeros as well (contents.h). */
    uint64_t hole_from, hole_to;
    int64_t maker; /* the operation that should have made it, or OBJECTS_NOBODY: of the tree */
} __attribute__((aligned(64)));

struct objects *objects_open(struct err *err);
void objects_close(struct objects *objects);

/* The object of this number, or NULL.  Valid until objects_forget takes it. */
struct object *objects_find(struct objects *objects, uint32_t number);
/* Fetch what objects_find will read, and then the object itself, into the cache: some hundred ns
 * ahead each. */
void objects_expect(const struct objects *objects, uint32_t number);
void objects_expect_soon(const struct objects *objects, uint32_t number);
/* The number of the object with this handle on |server| (host of the dump); 0: none. */
uint32_t objects_number(const struct objects *objects, uint32_t server, struct bytes handle);
/* The same in three steps, for callers that look for many: the hash, which fetches what the next
 * step reads; that fetches the object; and the number.  In between, nothing may be changed. */
struct objects_look {
    uint32_t hash, slot; /* |slot|: the first object with such a handle, if any */
};
void objects_expect_handle(const struct objects *objects, uint32_t server, struct bytes handle,
                           struct objects_look *look);
void objects_expect_look(const struct objects *objects, struct objects_look *look);
uint32_t objects_looked(const struct objects *objects, const struct objects_look *look,
                        uint32_t server, struct bytes handle);
/* Adds an object, of the tree and without a handle, or finds it.  NULL: no memory. */
struct object *objects_add(struct objects *objects, uint32_t number, struct err *err);
/* Sets its handle.  objects_number finds this object by it from now on, also if another object has
 * the same: servers may give the handle of a removed file again.  -ERR_INPUT: 0 bytes, or more than
 * 64. */
int objects_set_handle(struct objects *objects, uint32_t server, struct object *object,
                       struct bytes handle, struct err *err);
/* Forgets an object, if it is there. */
void objects_forget(struct objects *objects, uint32_t number);
uint64_t objects_count(const struct objects *objects);
uint64_t objects_memory(const struct objects *objects);

#endif
