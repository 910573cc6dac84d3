/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/repair.h
 *
 * Operations that must have happened although they were not captured, and operations that cannot be
 * replayed (FEUT).
 *
 * An inference is an operation that is inserted before another one, whose result proves it.
 *
 * Memory: 96 bytes and its names for each inference.
 */
#ifndef NFSDIGEST_TREE_REPAIR_H
#define NFSDIGEST_TREE_REPAIR_H

#include "effect/effect.h"

/* What proves it. */
enum repair_reason {
    REPAIR_GONE = 1,       /* a name that was there is said to be absent */
    REPAIR_MADE_AGAIN,     /* made under a name that stood for something else */
    REPAIR_OTHER,          /* a name is found to stand for another object */
    REPAIR_APPEARED,       /* a name that was absent is found */
    REPAIR_REMOVED_ABSENT, /* removed or renamed though it was absent */
    REPAIR_EXISTS,         /* said to exist though it was absent */
    REPAIR_NOT_EMPTY,      /* a directory was removed that had names left */
    REPAIR_STALE,          /* the handle of something that had names is stale */
    REPAIR_CHANGED,        /* attributes are other than they were left */
    REPAIR_CUT,            /* a RENAME took a name away, and where to was not captured */
    REPAIR_REASON_MAX
};

/* Why an operation cannot be replayed. */
enum unplayable {
    PLAYABLE = 0,
    UNPLAYABLE_NO_CALL = 1, /* its call was not captured */
    UNPLAYABLE_NO_REPLY,    /* nor its reply: nobody knows what it did */
    UNPLAYABLE_PROTECTED,   /* its bodies are not readable: RPCSEC_GSS privacy */
    UNPLAYABLE_PARTIAL,     /* bytes of its arguments, or the status, were not captured */
    UNPLAYABLE_MALFORMED,   /* its bodies violate RFC 1813 */
    UNPLAYABLE_REFUSED,     /* refused by RPC: it was never carried out */
    UNPLAYABLE_STALE,       /* a stale or bad handle of something that should be there */
    UNPLAYABLE_SERVER,      /* failed for what only that server knew: I/O, space, quota, delay */
    UNPLAYABLE_ORDER,       /* its result fits no order in which it may have come (rehearse.h) */
    UNPLAYABLE_COOKIE,      /* a listing goes on with a cookie that no operation before it gave */
    UNPLAYABLE_MAX
};

/* "name gone", "no reply", ...: as tables and texts have them. */
const char *repair_reason_name(enum repair_reason reason);
const char *unplayable_name(enum unplayable reason);

/* Objects have their numbers in the database.  Below 0: objects without a handle; 0: not known. */
struct inference {
    int64_t precedes;  /* operation before which it belongs, and whose result proves it */
    int64_t witness;   /* earlier operation that showed the contrary, or 0 */
    int64_t explained; /* one without a reply that may be it, or 0 */
    int64_t object, parent, parent2;
    char *name, *name2;        /* hierarchy.h: text_bytes; or NULL */
    uint8_t reason, procedure; /* of NFSv3 */
};

struct repair {
    struct inference *inferences; /* from 1 */
    uint32_t count, cap;
};

void repair_free(struct repair *repair);

/* Adds one; names are copied. Returns its index, or 0. */
uint32_t repair_add(struct repair *repair, const struct inference *inference, struct bytes name,
                    struct bytes name2);

/* Judges an operation by itself.  A stale handle is right when it stands for nothing, which only
 * the rehearsal knows (rehearse.h). */
enum unplayable unplayable_of(const struct effect *effect);

#endif
