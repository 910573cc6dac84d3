/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/rehearse.h
 *
 * Plays all operations on a model of the tree, as a server would carry them out.  This finds an
 * order in which their results are right, and the operations that fit no order, before a replay.
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
    REHEARSAL_OVERRULED = 8, /* a server that did so often what modes forbid has other rules */
};

/* Why a replay need not show a value of an operation's result again. */
enum unsure {
    UNSURE_RACING, /* an operation that changes it was under way at the same time */
    UNSURE_UNSEEN, /* its change was not captured, and cannot be made up for */
    UNSURE_MAX
};

/* An operation in its place in the order. */
struct rehearsed {
    const struct spooled *op;    /* handles in its arguments have become numbers of objects */
    const struct played *played; /* NULL: unplayable */
    uint8_t unplayable;
    uint32_t made; /* number of the object that it makes, or 0 */
    uint32_t node; /* the node that it makes, moves or removes, or its handle's; or NODE_NONE */
    uint32_t mask; /* expect.h */
    uint64_t digest;
    struct bytes links, results, names; /* rdump.h; the last two with |with_results| */
    uint32_t cookie_from, cookie_entries;
    const uint32_t *cookies;
    uint32_t cookie_count;
    const uint32_t *objects; /* the objects that it uses: by handle, and to compare its result */
    uint32_t object_count;
};

struct rehearsal {
    struct hierarchy *h;
    struct play_nodes nodes;
    int (*rehearsed)(void *ctx, const struct rehearsed *rehearsed, struct err *err);
    void *ctx;
    struct callers callers;
    bool refuses;          /* the server refuses changes of names that modes and owners forbid */
    bool with_results;     /* |results| and |names| are wanted */
    const bool *available; /* credentials that exist, by number */
    uint32_t available_count;
    uint32_t root_credential; /* a credential with uid 0, which also exists */
    struct cookies cookies;   /* of all listings that continue */
    uint64_t placed;          /* operations so far */
    uint32_t objects;         /* numbers given so far */
    uint32_t *numbers;        /* by object of the database: its latest number */
    uint32_t *nameless;       /* by number of a nameless object: its node */
    uint32_t *named;          /* by number of a nameless object: its object in the database, or 0 */
    uint32_t number_cap, nameless_cap;
    struct spooled *waiting, **waiting_end;
    uint32_t waiting_count;
    const struct repair *repair;
    uint32_t *order; /* indexes of its inferences, in the order of |precedes| */
    uint64_t unsure[UNSURE_MAX], compared, inferred[REPAIR_REASON_MAX], superfluous;
    uint64_t out_of_order;
    uint32_t overruled; /* operations that only modes and owners kept from fitting */
    /* scratch */
    struct buf digest, links, names, kept, uses, arguments;
    struct played_object *behind;
    uint32_t *above;
    uint32_t behind_cap;
};

/* Begins a rehearsal.  |h| was rewound.  The caller still owns |h| and |repair|.  |named|: for each
 * nameless object (h->nameless + 1 of them) its object from the first pass; the rehearsal owns it
 * from now on.  Before, the caller sets only |rehearsed|, |ctx| and |cookies| of |r|; the rehearsal
 * owns the cookies.  Before the first operation, the caller also sets |callers| to
 * |root_credential|. */
int rehearsal_init(struct rehearsal *r, struct hierarchy *h, const struct repair *repair,
                   uint32_t *named, struct err *err);
void rehearsal_free(struct rehearsal *r);

/* Returns the number of a node's object. */
uint32_t rehearsal_number(const struct rehearsal *r, uint32_t node);

/* Takes the next operation, which the rehearsal owns from now on. */
int rehearse(struct rehearsal *r, struct spooled *op, struct err *err);
int rehearsal_end(struct rehearsal *r, struct err *err);

#endif
