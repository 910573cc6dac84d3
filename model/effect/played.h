/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/effect/played.h
 *
 * The objects of an operation when it was played on the model of the tree (rehearse.h).  The
 * rehearsal numbers objects from 1, and never uses a number twice; 0: none, or not known.
 */
#ifndef NFSDIGEST_EFFECT_PLAYED_H
#define NFSDIGEST_EFFECT_PLAYED_H

#include "effect/effect.h"

struct played_object {
    uint32_t object;
    uint8_t type; /* enum object_type */
    bool gone;    /* this operation took its last name */
};

struct played {
    const struct effect *effect; /* procedure, roles, names, range, |asked|, |status| */
    bool succeeded;
    /* Handles of the call.  |gone|: the object was already gone before this operation ("stale"). */
    struct played_object object,
        object2;                 /* |object2|: RENAME's second directory, LINK's directory */
    struct played_object found;  /* the name's object before the operation */
    struct played_object target; /* the same of the second name */
    struct played_object made;   /* the new object, but not a file that a CREATE found */
    bool idle;                   /* RENAME with two names of one object: nothing happens */
    bool resized; /* the size of the object, or of the file that CREATE found, changed */
    uint64_t size_before, size_after; /* valid with |resized| */
    const uint32_t *above;            /* RENAME of a directory: object2, its parent, and so on up */
    uint32_t above_count;
    uint32_t after; /* for a listing that continues: the distance back to the operation that it
                     * continues; or 0 */
    const struct played_object *entries; /* for a listing with handles: their objects */
    uint32_t entry_count;
};

#endif
