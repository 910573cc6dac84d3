/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/rehearse.h
 *
 * A rehearsal: operations are played one after the other on a model of the tree, as a server would
 * carry them out, so that they come into an order in which their results are right, and what cannot
 * be so is known before anybody replays them.
 *
 * Operations are taken in the order of their calls.  One that changes nothing is played as soon as
 * its result fits.  Changes are played as late as they can: when their replies came, or when an
 * operation whose reply came does not fit without them, for others that were called meanwhile may
 * have been carried out before.  When the time of one is up that does not fit,
 *   - attributes that do not fit are left out of what a replay must show again, if a change of
 *     them was under way; else a SETATTR is put before it that explains them;
 *   - an operation whose status or object does not fit is marked UNPLAYABLE_ORDER and not played.
 *
 * Memory: hierarchy.h, play_node.h, cookies.h, and 4 bytes for each object of the database;
 * operations that wait, at most REHEARSAL_WAITING.
 */
#ifndef NFSDIGEST_PLAY_REHEARSE_H
#define NFSDIGEST_PLAY_REHEARSE_H

#include "play/caller.h"
#include "play/cookies.h"
#include "play/play_node.h"
#include "effect/expect.h"
#include "tree/hierarchy.h"
#include "effect/played.h"
#include "tree/repair.h"
#include "play/spool.h"

enum {
    REHEARSAL_WAITING = 1024,
    REHEARSAL_OVERRULED = 8, /* a server that so often did what modes forbid has other rules */
};

/* Why something of an operation's result is left out of what a replay must show again. */
enum unsure {
    UNSURE_RACING, /* what changes it was under way at the same time */
    UNSURE_UNSEEN, /* what changed it was not captured, and cannot be made up for */
    UNSURE_MAX
};

/* An operation in its place. */
struct rehearsed {
    const struct spooled *op;    /* handles in its arguments are numbers of objects now */
    const struct played *played; /* NULL: unplayable */
    uint8_t unplayable;
    uint32_t made; /* number of the object that it makes, or 0 */
    uint32_t node; /* made, moved or removed, or its handle's; or NODE_NONE */
    uint32_t mask; /* expect.h */
    uint64_t digest;
    struct bytes links, results, names; /* rdump.h; the last two when they were asked for */
    uint32_t cookie_from, cookie_entries;
    const uint32_t *cookies;
    uint32_t cookie_count;
    const uint32_t *objects; /* all that it uses: handles, and what its result is compared with */
    uint32_t object_count;
};

struct rehearsal {
    struct hierarchy *h;
    struct play_nodes nodes;
    int (*rehearsed)(void *ctx, const struct rehearsed *rehearsed, struct err *err);
    void *ctx;
    struct callers callers;
    bool refuses;          /* the server refuses what callers may not do with names */
    bool with_results;     /* |results| and |names| are wanted */
    const bool *available; /* credentials that there are, by number */
    uint32_t available_count;
    uint32_t root_credential; /* one of uid 0, that there is, too */
    struct cookies cookies;   /* of all listings that go on */
    uint64_t placed;          /* operations so far */
    uint32_t objects;         /* numbers given so far */
    uint32_t *numbers;        /* by object of the database: the last number that it had */
    uint32_t *nameless;       /* by number of a nameless object: its node */
    uint32_t *named;          /* by number of a nameless object: what it turned out to be, or 0 */
    uint32_t number_cap, nameless_cap;
    struct spooled *waiting, **waiting_end;
    uint32_t waiting_count;
    const struct repair *repair;
    uint32_t *order; /* indexes of its inferences, in the order of |precedes| */
    uint64_t unsure[UNSURE_MAX], compared, inferred[REPAIR_REASON_MAX], superfluous;
    uint64_t out_of_order;
    uint32_t overruled; /* operations that would fit but for modes and owners */
    /* scratch */
    struct buf digest, links, names, kept, uses, arguments;
    struct played_object *behind;
    uint32_t *above;
    uint32_t behind_cap;
};

/* |h| was rewound, and stays the caller's, as |repair| does.  |named|: by number of a nameless
 * object (h->nameless + 1 of them), what it turned out to be in the first pass; becomes the
 * rehearsal's.  Of |r| only |rehearsed|, |ctx| and |cookies|, which are its, are set; before the
 * first operation, what stands from |callers| to |root_credential|. */
int rehearsal_init(struct rehearsal *r, struct hierarchy *h, const struct repair *repair,
                   uint32_t *named, struct err *err);
void rehearsal_free(struct rehearsal *r);

/* The number of a node. */
uint32_t rehearsal_number(const struct rehearsal *r, uint32_t node);

/* The next operation, which becomes the rehearsal's. */
int rehearse(struct rehearsal *r, struct spooled *op, struct err *err);
int rehearsal_end(struct rehearsal *r, struct err *err);

#endif
