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
    /* Handles of the call.  |gone|: the object was no more before this operation ("stale"). */
    struct played_object object,
        object2;                      /* |object2|: RENAME's second directory, LINK's directory */
    struct played_object found;       /* what the name stood for before */
    struct played_object target;      /* the same of the second name */
    struct played_object made;        /* the new object; not what a CREATE found */
    bool idle;                        /* RENAME from and to one object: nothing happens */
    bool resized;                     /* the object, or the file that CREATE found; */
    uint64_t size_before, size_after; /* valid with |resized| */
    const uint32_t *above; /* RENAME of a directory: object2, what it is in, and so on up */
    uint32_t above_count;
    uint32_t after; /* a listing goes on where the operation so many before it stopped; or 0 */
    const struct played_object *entries; /* of a listing with handles: what stood behind them */
    uint32_t entry_count;
};

#endif
