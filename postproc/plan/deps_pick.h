/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/deps_pick.h
 *
 * The operations of a plan that the user chose, with everything that is shown of them.
 *
 * An inferred operation is in a range of operations if the operation that it precedes is.
 *
 * Memory: 16 bytes for each of the last DEPEND_HORIZON operations, and for inferred ones until the
 * operation that they precede is known.
 */
#ifndef NFSDIGEST_PLAN_DEPS_PICK_H
#define NFSDIGEST_PLAN_DEPS_PICK_H

#include "plan/plan.h"
#include "plan/plan_paths.h"

struct deps_choice {     /* all must hold */
    int64_t first, last; /* operations; |first| 0: all */
    int64_t object;      /* of the database; 0: all */
    char *path;          /* this one and below; NULL: all */
    enum granularity granularity;
};

/* An operation on which another one depends. */
struct deps_on {
    uint64_t place;
    int64_t operation;     /* 0: inferred */
    const char *procedure; /* NULL: not captured */
};

struct deps_item {
    uint64_t place;
    int64_t operation;            /* 0: inferred */
    uint8_t inferred, unplayable; /* enum repair_reason, enum unplayable */
    int64_t time;                 /* ns since the epoch */
    int64_t call_source, call_frame, reply_source, reply_frame; /* 0: none */
    const char *procedure;                                      /* NULL: not captured */
    char *path, *path2, *status;                                /* or NULL */
    uint32_t count;                                             /* of |on|, the latest first */
    struct deps_on on[];
};

struct deps_pick {
    const struct deps_choice *choice;
    /* Gets an item and then owns it. */
    int (*picked)(void *ctx, struct deps_item *item, struct err *err);
    void *ctx;
    uint64_t count; /* picked so far */
    /* used by the functions below: */
    sqlite3 *db;
    sqlite3_stmt *test, *look, *frame;
    struct deps_past *past;
    struct deps_item **pending;
    uint32_t pending_count, pending_cap;
};

/* The caller sets |choice|, |picked| and |ctx| of |pick|, and the rest to zeros. */
int deps_pick_begin(struct deps_pick *pick, sqlite3 *db, struct err *err);
void deps_pick_end(struct deps_pick *pick);

/* Looks at the next operation. */
int deps_pick_next(struct deps_pick *pick, const struct plan_step *step, struct err *err);

/* Finds the source and frame of an operation's call, or of its reply if the call was not captured.
 * They are zeros for an inferred operation. */
int deps_frame(struct deps_pick *pick, int64_t operation, int64_t *source, int64_t *frame,
               struct err *err);

void deps_item_free(struct deps_item *item);

#endif
