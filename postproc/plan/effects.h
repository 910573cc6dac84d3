/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/effects.h
 *
 * The operations of a trace database as effects (model/effect/effect.h).
 *
 * Each operation comes twice.  It is "called" in the order of call times.  (Ids are not in this
 * order, because messages after a hole are recorded late.)  It is "done" in the order of replies.
 * Other operations may come between the two: operations that overlap have no known order.  All
 * pointers in an effect live until it is done.
 *
 * Memory: the operations between their call and their reply, at most EFFECTS_WAITING of them and
 * EFFECTS_WAITING_BYTES of their bodies.  If there are more, the earliest ones are done early.
 */
#ifndef NFSDIGEST_PLAN_EFFECTS_H
#define NFSDIGEST_PLAN_EFFECTS_H

#include "effect/effect.h"

#include <sqlite3.h>

enum {
    EFFECTS_WAITING = 65536,
    EFFECTS_WAITING_BYTES = 64 << 20,
};

/* Selects the operations to read.  Those of MOUNT are always read. */
struct effect_filter {
    const char *client; /* address, or NULL */
    int64_t uid, gid;   /* of AUTH_SYS, or negative */
    const char *under;  /* below this path, written as in the database, or NULL */
    int64_t to;         /* called before this time, ns since the epoch; or INT64_MAX */
};

/* Callbacks that receive the operations.  Each returns 0, or a negative code, which ends the
 * reading. */
struct effect_visitor {
    /* Called for a new client or server; may be NULL.  It comes from the thread that called
     * effects_read, some time before the first operation with that host.  The other callbacks come
     * from one other thread at a time. */
    int (*host)(void *ctx, uint32_t number, const char *address, struct err *err);
    int (*called)(void *ctx, struct effect *effect, struct err *err);
    int (*done)(void *ctx, struct effect *effect, struct err *err);
    void *ctx;
    const struct effect_filter *filter; /* NULL: everything */
    bool lint; /* set what only lint needs (effect.h), and |blocks|: this costs time */
};

/* Reads the operations of a trace database.  Returns 0, what a callback returned, -ERR_INPUT or
 * -ERR_SYSTEM. */
int effects_read(sqlite3 *db, const struct effect_visitor *visitor, struct err *err);

/* Counts the operations of NFSv3, and those without a call, that |filter| selects and that were
 * called at |from| or later. */
int effects_count(sqlite3 *db, const struct effect_filter *filter, int64_t from, uint64_t *count,
                  struct err *err);

#endif
