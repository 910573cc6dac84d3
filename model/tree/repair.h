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

/* Why an operation is inferred. */
enum repair_reason {
    REPAIR_GONE = 1,       /* a name that existed is reported as absent */
    REPAIR_MADE_AGAIN,     /* an object was made under a name that was in use */
    REPAIR_OTHER,          /* a name is found to stand for another object */
    REPAIR_APPEARED,       /* a name that was absent is found */
    REPAIR_REMOVED_ABSENT, /* removed or renamed though it was absent */
    REPAIR_EXISTS,         /* a name that was absent is reported to exist */
    REPAIR_NOT_EMPTY,      /* a directory was removed that had names left */
    REPAIR_STALE,          /* the handle of something that had names is stale */
    REPAIR_CHANGED,        /* attributes differ from their last known values */
    REPAIR_CUT,            /* a RENAME removed a name, and the new name was not captured */
    REPAIR_REASON_MAX
};

/* Why an operation cannot be replayed. */
enum unplayable {
    PLAYABLE = 0,
    UNPLAYABLE_NO_CALL = 1, /* its call was not captured */
    UNPLAYABLE_NO_REPLY,    /* its reply was not captured: its outcome is unknown */
    UNPLAYABLE_PROTECTED,   /* its bodies are not readable: RPCSEC_GSS privacy */
    UNPLAYABLE_PARTIAL,     /* bytes of its arguments, or the status, were not captured */
    UNPLAYABLE_MALFORMED,   /* its bodies violate RFC 1813 */
    UNPLAYABLE_REFUSED,     /* refused by RPC: it was never carried out */
    UNPLAYABLE_STALE,       /* a stale or bad handle of something that should be there */
    UNPLAYABLE_SERVER,      /* failed for a reason of that server: I/O, space, quota, delay */
    UNPLAYABLE_ORDER,       /* its result fits no possible order (rehearse.h) */
    UNPLAYABLE_COOKIE,      /* a listing continues with a cookie that no earlier reply gave */
    UNPLAYABLE_MAX
};

/* Return the name as in tables and texts: "name gone", "no reply", ... */
const char *repair_reason_name(enum repair_reason reason);
const char *unplayable_name(enum unplayable reason);

/* Objects are numbered as in the database.  Below 0: objects without a handle; 0: not known. */
struct inference {
    int64_t precedes;  /* the operation that proves it, and that it is inserted before */
    int64_t witness;   /* an earlier operation that showed the opposite, or 0 */
    int64_t explained; /* an operation without a reply that may be this one, or 0 */
    int64_t object, parent, parent2;
    char *name, *name2;        /* hierarchy.h: text_bytes; or NULL */
    uint8_t reason, procedure; /* of NFSv3 */
};

struct repair {
    struct inference *inferences; /* from 1 */
    uint32_t count, cap;
};

void repair_free(struct repair *repair);

/* Adds an inference and copies its names.  Returns its index, or 0 without memory. */
uint32_t repair_add(struct repair *repair, const struct inference *inference, struct bytes name,
                    struct bytes name2);

/* Returns why the operation by itself cannot be replayed, or PLAYABLE.  A stale handle is right if
 * its object is gone, and only the rehearsal knows that (rehearse.h). */
enum unplayable unplayable_of(const struct effect *effect);

#endif
