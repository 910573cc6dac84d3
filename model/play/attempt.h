/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/attempt.h
 *
 * An attempt to play one operation in a rehearsal: what it finds, what it would change, and which
 * parts of its recorded result do not fit.
 */
#ifndef NFSDIGEST_PLAY_ATTEMPT_H
#define NFSDIGEST_PLAY_ATTEMPT_H

#include "play/rehearse.h"

enum { ATTEMPT_IMAGES = 5, ATTEMPT_ABOVE = 4096 };

/* An object as it will be when the operation is done. */
struct image {
    uint32_t node; /* NODE_NONE: the one to be made */
    bool changed, rights_changed;
    uint8_t type;
    uint16_t knows;
    uint8_t own; /* 1 << enum expect group: the server's own choice, not to be expected */
    uint32_t mode, uid, gid, nlink, rdev[2];
    uint64_t size;
};

struct attempt {
    struct rehearsal *r;
    struct spooled *op;
    struct effect *e;
    uint32_t object, object2;            /* nodes; NODE_NONE: gone, or never there */
    uint32_t entry, entry2;              /* what the names stand for */
    uint32_t found, target;              /* nodes of these */
    bool makes, moves, idle;             /* a new object; a RENAME; of one object to itself */
    bool met_itself;                     /* the name is "." or ".." */
    struct image images[ATTEMPT_IMAGES]; /* of the four nodes above, and of what it makes */
    uint32_t image_count;
    struct image *made; /* NULL until it is predicted that something is made */
    uint64_t size_before;
    const struct image *resized;
    const struct attempt *after; /* not yet carried out, but its images count; or NULL */
    bool lenient;                /* modes and owners do not count */
    struct err *err;
};

/* What it meets; images of these. */
void attempt_meet(struct attempt *t, struct rehearsal *r, struct spooled *op, struct err *err);
/* Whether status and objects are those that a server would give now. */
bool attempt_fits(const struct attempt *t);
/* The object whose owner its success, in a sticky directory, says to be another one than he is; or
 * NODE_NONE. */
uint32_t attempt_stuck(const struct attempt *t);
/* A removed directory has entries left. */
bool attempt_needs_empty(const struct attempt *t);
/* Who calls, if modes and owners count for him; or NULL: he may do everything. */
const struct caller *attempt_caller(const struct attempt *t);
/* attempt_predict.c: what it changes, for an operation that fits and succeeded. */
void attempt_predict(struct attempt *t);
/* Where a listing goes on; NULL: it begins, or its cookie was not given. */
const struct cookie_place *attempt_continues(const struct attempt *t);
/* It goes on with a cookie that nobody gave. */
bool attempt_is_lost(const struct attempt *t);
/* attempt_result.c: bits of expect.h of attributes, EXPECT_READ and EXPECT_TEXT that the result
 * shows, and of them those that differ from what it would be now. */
uint32_t attempt_shown(const struct attempt *t);
uint32_t attempt_differs(const struct attempt *t);
/* Of the latter those that did not differ before: what is not known of an object, and will never
 * be, says nothing about when an operation came. */
uint32_t attempt_misfits(const struct attempt *t);
/* Whether the attributes that |op| shows would fit if |first|, which fits and was predicted, were
 * carried out before; both find the names that are there now. */
bool attempt_fits_after(const struct attempt *first, struct spooled *op);
/* The image of what the attributes of the result are about, or NULL. */
const struct image *attempt_image(const struct attempt *t, enum whose whose);
struct image *attempt_image_of(struct attempt *t, enum whose whose);

/* attempt_apply.c: carries it out, or not if |unplayable|, and shows it to the rehearsal's owner;
 * |mask|: what of it must be shown again. */
int attempt_apply(struct attempt *t, uint32_t mask, uint8_t unplayable);

#endif
