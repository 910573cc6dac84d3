/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/attempt.h
 *
 * An attempt to play one operation in a rehearsal.  It finds the operation's objects, predicts the
 * changes, and finds the parts of the recorded result that do not fit.
 */
#ifndef NFSDIGEST_PLAY_ATTEMPT_H
#define NFSDIGEST_PLAY_ATTEMPT_H

#include "play/rehearse.h"

enum { ATTEMPT_IMAGES = 5, ATTEMPT_ABOVE = 4096 };

/* An object as it will be when the operation is done. */
struct image {
    uint32_t node; /* NODE_NONE: the object that will be made */
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
    uint32_t object, object2; /* nodes; NODE_NONE: gone, or it never existed */
    uint32_t entry, entry2;   /* entries of the names */
    uint32_t found, target;   /* nodes of these entries */
    bool makes, moves, idle; /* makes an object; is a RENAME; is a RENAME of one object to itself */
    bool met_itself;         /* the name is "." or ".." */
    struct image images[ATTEMPT_IMAGES]; /* of the four nodes above and the new object */
    uint32_t image_count;
    struct image *made; /* NULL until attempt_predict finds that an object is made */
    uint64_t size_before;
    const struct image *resized;
    const struct attempt *after; /* assumed to come before, though not carried out; or NULL */
    bool lenient;                /* modes and owners do not count */
    struct err *err;
};

/* Begins an attempt: finds the operation's nodes and entries, and makes their images. */
void attempt_meet(struct attempt *t, struct rehearsal *r, struct spooled *op, struct err *err);
/* Returns true if a server would now give the same status and objects. */
bool attempt_fits(const struct attempt *t);
/* Returns the object that the caller could remove from a sticky directory, although its known owner
 * forbids this.  So the known owner is wrong.  NODE_NONE: there is no such object. */
uint32_t attempt_stuck(const struct attempt *t);
/* Returns true if the operation removes a directory that still has entries. */
bool attempt_needs_empty(const struct attempt *t);
/* Returns the caller, or NULL if modes and owners do not restrict it. */
const struct caller *attempt_caller(const struct attempt *t);
/* attempt_predict.c: predicts the changes of an operation that fits and succeeded. */
void attempt_predict(struct attempt *t);
/* Returns the place where a listing continues.  NULL: it begins there, or no reply gave its cookie.
 */
const struct cookie_place *attempt_continues(const struct attempt *t);
/* Returns true if it continues a listing with a cookie that no reply gave. */
bool attempt_is_lost(const struct attempt *t);
/* attempt_result.c: attempt_shown returns the bits of expect.h (attributes, EXPECT_READ and
 * EXPECT_TEXT) for values that the result shows.  attempt_differs returns the bits of those that
 * would differ now. */
uint32_t attempt_shown(const struct attempt *t);
uint32_t attempt_differs(const struct attempt *t);
/* Returns the bits of attempt_differs without those that no SETATTR can set right (play_node.h).
 * These say nothing about the order of operations. */
uint32_t attempt_misfits(const struct attempt *t);
/* Returns true if the attributes that |op| shows would fit after |first|, which fits and was
 * predicted.  Both are tried with the names that exist now. */
bool attempt_fits_after(const struct attempt *first, struct spooled *op);
/* Return the image of the object that these attributes of the result belong to, or NULL. */
const struct image *attempt_image(const struct attempt *t, enum whose whose);
struct image *attempt_image_of(struct attempt *t, enum whose whose);

/* attempt_apply.c: carries the operation out unless |unplayable|, and passes it to the rehearsal's
 * owner.  |mask|: the values that a replay must show again. */
int attempt_apply(struct attempt *t, uint32_t mask, uint8_t unplayable);

#endif
