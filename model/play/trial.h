/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/trial.h
 *
 * One operation on trial in a rehearsal: what it meets, what it would change, and what of its
 * recorded result does not fit that.
 */
#ifndef NFSDIGEST_PLAY_TRIAL_H
#define NFSDIGEST_PLAY_TRIAL_H

#include "play/rehearse.h"

enum { TRIAL_IMAGES = 5, TRIAL_ABOVE = 4096 };

/* An object as it will be when the operation is done. */
struct image {
    uint32_t node; /* NODE_NONE: the one to be made */
    bool changed, mode_changed;
    uint8_t type;
    uint16_t knows;
    uint16_t own; /* 1 << enum expect group: the server's own choice, not to be expected */
    uint32_t mode, uid, gid, nlink, rdev[2];
    uint64_t size;
};

struct trial {
    struct rehearsal *r;
    struct spooled *op;
    struct effect *e;
    uint32_t object, object2; /* nodes; NODE_NONE: gone, or never there */
    uint32_t entry, entry2;   /* what the names stand for */
    uint32_t found, target;   /* nodes of these */
    bool makes, moves, idle;  /* a new object; a RENAME; of one object to itself */
    bool met_itself;          /* the name is "." or ".." */
    struct image images[TRIAL_IMAGES];
    uint32_t image_count;
    uint64_t size_before;
    const struct image *resized;
    const struct trial *after; /* not yet carried out, but its images count; or NULL */
    bool lenient;              /* modes and owners do not count */
    struct err *err;
};

/* What it meets; images of these. */
void trial_meet(struct trial *t, struct rehearsal *r, struct spooled *op, struct err *err);
/* Whether status and objects are those that a server would give now. */
bool trial_fits(const struct trial *t);
/* The object whose owner its success, in a sticky directory, says to be another one than he is; or
 * NODE_NONE. */
uint32_t trial_stuck(const struct trial *t);
/* A removed directory has entries left. */
bool trial_needs_empty(const struct trial *t);
/* What it changes, for an operation that fits and succeeded. */
void trial_predict(struct trial *t);
/* Where a listing goes on; NULL: it begins, or its cookie was not given. */
const struct cookie_place *trial_continues(const struct trial *t);
/* It goes on with a cookie that nobody gave. */
bool trial_is_lost(const struct trial *t);
/* Bits of expect.h of attributes, EXPECT_READ and EXPECT_TEXT that the result shows, and of them
 * those that differ from what it would be now. */
uint32_t trial_shown(const struct trial *t);
uint32_t trial_differs(const struct trial *t);
/* Of the latter those that did not differ before: what is not known of an object, and will never
 * be, says nothing about when an operation came. */
uint32_t trial_misfits(const struct trial *t);
/* Whether the attributes that |op| shows would fit if |first|, which fits and was predicted, were
 * carried out before; both find the names that are there now. */
bool trial_fits_after(const struct trial *first, struct spooled *op);
/* The image of what the attributes of the result are about, or NULL. */
struct image *trial_image(const struct trial *t, enum whose whose);

/* trial_apply.c: carries it out, or not if |unplayable|, and shows it to the rehearsal's owner;
 * |mask|: what of it must be shown again. */
int trial_apply(struct trial *t, uint32_t mask, uint8_t unplayable);

#endif
