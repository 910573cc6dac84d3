/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/overlap.h
 *
 * Finds requests that overlap in time and use the same thing, if at least one of them changes it.
 * The order in which the server carried them out is undetermined.  Two requests are concurrent if
 * the second was called before the first was answered (Tan et al.).
 *
 * Memory: at most OVERLAP_WAITING requests without a reply so far.  If there are more, the earliest
 * ones count as done.
 */
#ifndef NFSDIGEST_ALIGN_OVERLAP_H
#define NFSDIGEST_ALIGN_OVERLAP_H

#include "effect/effect.h"

/* Other requests that change the same thing were under way. */
enum {
    OVERLAP_OBJECT = 1 << 0,      /* attributes of the object, or of the name's directory */
    OVERLAP_PARENT2 = 1 << 1,     /* of RENAME's second directory, LINK's directory */
    OVERLAP_NEW = 1 << 2,         /* of the object that was found or made */
    OVERLAP_DATA = 1 << 3,        /* its byte range */
    OVERLAP_NAME = 1 << 4,        /* its name */
    CONFLICT_ATTRIBUTES = 1 << 5, /* this request changes it, too: either may have been last */
    CONFLICT_DATA = 1 << 6,
    CONFLICT_NAME = 1 << 7,
    OVERLAP_RIGHTS = 1 << 8, /* the object's mode or owner, or its removal */
};

enum {
    OVERLAP_WAITING = 4096,
    OVERLAP_TOUCHES = 4, /* object, second directory, found or made, removed */
};

struct overlap_waiting;

struct overlap {
    struct overlap_waiting *waiting;
    uint32_t count;
    /* Takes the OVERLAP_ and CONFLICT_ bits of a finished operation.  Not called if there are none.
     */
    int (*put)(void *ctx, int64_t id, uint32_t bits, struct err *err);
    void *ctx;
};

int overlap_init(struct overlap *o, int (*put)(void *, int64_t, uint32_t, struct err *), void *ctx,
                 struct err *err);
void overlap_free(struct overlap *o);

/* Adds a call.  Calls come in order.  |gone|: the object that lost a name, or 0. */
int overlap_called(struct overlap *o, const struct effect *effect, uint32_t gone, struct err *err);
/* Finishes all waiting requests. */
int overlap_end(struct overlap *o, struct err *err);

#endif
