/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/activity/activity_parts.h
 *
 * Shared by the files of this room: activity.c reads operations, spans.c has time, latencies and
 * operations under way, paths.c the paths, lists.c what is shown of all groups.
 */
#ifndef NFSDIGEST_ACTIVITY_ACTIVITY_PARTS_H
#define NFSDIGEST_ACTIVITY_ACTIVITY_PARTS_H

#include "activity/activity.h"
#include "activity/tally.h"
#include "store/quantiles.h"

/* --- spans.c */

/* Makes the spans that have all calls, retransmissions and problems.  None if nothing has a
 * time. */
int spans_make(sqlite3 *db, struct activity *to, struct err *err);
/* The span of a time within them. */
uint32_t spans_at(const struct activity *to, int64_t ns);
/* Adds an operation to |busy|.  |whole| has a zero for each span and one more; spans_end adds it.
 */
void spans_busy(struct activity *to, int64_t *whole, int64_t call, int64_t reply);
void spans_end(struct activity *to, const int64_t *whole);

/* Replies to come, as a heap: the first one is the earliest. */
struct under_way {
    int64_t *replies;
    uint32_t count, cap;
    bool full; /* it had ACTIVITY_UNDER_WAY_MAX */
};

/* Adds an operation, after all with an earlier call.  Returns how many are under way with it. */
int64_t under_way_add(struct under_way *u, int64_t call, int64_t reply, struct err *err);

/* --- paths.c */

enum { PATHS_CACHE = 4096, PATHS_NO_RANK = 255 };

/* The first ACTIVITY_PATHS paths of the trace.  Places are ids less 1; a path's place is that of
 * the first path with the same text. */
struct paths {
    sqlite3_stmt *find;    /* parent and text by id */
    struct table table;    /* texts */
    uint32_t count;        /* places */
    uint32_t *same;        /* the path's place */
    uint32_t *parent;      /* place, or TABLE_NONE */
    uint64_t *own, *total; /* operations on the path, and with all below */
    uint8_t *rank;         /* among those that are listed, or PATHS_NO_RANK */
    struct paths_known {
        int64_t id;
        uint8_t rank;
    } *cache;                 /* of further ids */
    struct top busiest, tree; /* values are |own| and |total|, ids are places */
    uint64_t groups, beyond;  /* paths with operations; operations on further paths */
};

int paths_read(struct paths *paths, sqlite3 *db, struct err *err);
/* Returns the rank of a path's id, or PATHS_NO_RANK, or a negative code. */
int paths_rank(struct paths *paths, int64_t id, struct err *err);
/* Makes the tree of |to|. */
int paths_tree(const struct paths *paths, sqlite3 *db, struct activity *to, struct err *err);
void paths_free(struct paths *paths);

/* --- activity.c */

enum { CACHE = 4096 };

struct cached {
    int64_t id; /* 0: none */
    int64_t place;
};

struct reading {
    sqlite3 *db;
    struct activity *to;
    struct tally by[ACTIVITY_BY_MAX]; /* paths by their rank */
    struct couples client_procedures, user_procedures, path_procedures, path_clients;
    struct paths paths;
    struct cached flows[CACHE], credentials[CACHE]; /* the clients and users of ids, mod CACHE */
    sqlite3_stmt *credential;
    struct under_way under_way;
    struct top slowest;
    int64_t *whole; /* spans_busy */
    uint64_t (*path_times)[ACTIVITY_SPANS];
    struct quantiles *first, *second; /* dimensions: enum first_dimension, second_dimension */
};

enum first_dimension { Q_SPAN, Q_PROCEDURE, Q_CLIENT, Q_PATH };
enum second_dimension { Q_USER, Q_LEVEL, Q_ALL };

/* --- lists.c: fills |to->by|, and all percentiles. */
int lists_make(struct reading *r, struct err *err);

#endif
