/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/rehearse.h
 *
 * Plays all operations on a model of the tree, as a server would carry them out.  This finds an
 * order in which their results are right, and the operations that fit no order, before anybody
 * replays them.
 *
 * Operations come in the order of their calls.  An operation that changes nothing is played as soon
 * as its result fits.  A change is played as late as possible: when its reply came, or when an
 * operation whose reply came does not fit without it.  It must be late, because operations that
 * were called in the meantime may have been carried out before it.  If the time of an operation is
 * over and it does not fit:
 *   - Attributes that do not fit are removed from what a replay must show again, if a change of
 *     them overlapped with the operation.  Otherwise a SETATTR that explains them is inserted
 *     before it.
 *   - An operation whose status or object does not fit is marked UNPLAYABLE_ORDER and not played.
 *
 * Memory: hierarchy.h, play_node.h, cookies.h, and 4 bytes for each object of the database; at most
 * REHEARSAL_WAITING operations that wait.
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
