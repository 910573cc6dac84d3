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
    OVERLAP_OBJECT = 1 << 0,  /* attributes of the object, or of the name's directory */
    OVERLAP_PARENT2 = 1 << 1, /* of RENAME's second directory, LINK's directory */
    OVERLAP_NEW = 1 << 2,     /* of the object that was found or made */
    OVERLAP_DATA = 1 << 3,    /* its byte range */
    OVERLAP_NAME = 1 << 4,    /* its name, or mode, owner or names of what the name stands for */
    CONFLICT_ATTRIBUTES = 1 << 5, /* this request changes it, too: either may have been last */
    CONFLICT_DATA = 1 << 6,
    CONFLICT_NAME = 1 << 7,
    OVERLAP_RIGHTS = 1 << 8, /* mode or owner of the object or second directory, or its removal */
};

enum {
    OVERLAP_WAITING = 4096,
    OVERLAP_TOUCHES = 4, /* object, second directory, found or made, removed */
};

/* One of the things that a request touches. */
struct overlap_touch {
    uint32_t object;
    uint16_t bit;   /* OVERLAP_OBJECT, ... of the request that touches; 0: of what it removes */
    uint16_t flags; /* TOUCH_ bits */
    union {
        struct {
            uint64_t start, end; /* TOUCH_HAS_RANGE: bytes */
        };
        uint64_t name; /* TOUCH_HAS_NAME: hash */
    };
};

enum {
    TOUCH_CHANGES = 1 << 0,
    TOUCH_HAS_RANGE = 1 << 1,
    TOUCH_HAS_NAME = 1 << 2,
    TOUCH_TRUNCATES = 1 << 3,
    TOUCH_ATTRIBUTES_ONLY = 1 << 4,
    TOUCH_RIGHTS = 1 << 5,
    TOUCH_NAMED = 1 << 6, /* a name of the request stands for it, and its owner or mode decides */
    TOUCH_GOES = 1 << 7,  /* that name goes if the request succeeds, so its own names decide, too */
};

/* Lists what a request touches; without an answer so far, what it touches if it succeeds.  |gone|:
 * the object that lost a name, or 0.  Returns how many there are. */
uint32_t overlap_touches(const struct effect *effect, uint32_t gone,
                         struct overlap_touch to[OVERLAP_TOUCHES]);

/* For two requests under way at the same time: returns what |theirs| means for the request of
 * |mine|, as bits. */
uint32_t overlap_meet(const struct overlap_touch *mine, const struct overlap_touch *theirs);

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
