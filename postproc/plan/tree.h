/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/tree.h
 *
 * Reads a trace database into its tree: the hierarchy at a moment, the inferred operations, and how
 * much was known at each point of the trace.  Use plan.h to make one.
 *
 *     tree_read, tree_end, then tree_walk as often as needed, tree_free
 *
 * Memory: hierarchy.h and repair.h; tree_walk needs 4 more bytes for each entry.
 */
#ifndef NFSDIGEST_PLAN_TREE_H
#define NFSDIGEST_PLAN_TREE_H

#include "plan/effects.h"
#include "tree/learn.h"
#include "store/store.h"

enum {
    TREE_GROWTH = 20,     /* parts of the trace's time */
    TREE_FOUND = 1 << 17, /* handles that are remembered */
};

struct tree_growth {
    int64_t time; /* end of the part */
    uint64_t operations;
    struct hierarchy_counts counts;
};

struct tree_found {
    uint64_t hash; /* of the handle and the server's text */
    uint32_t object;
};

struct tree {
    struct learn learn;
    sqlite3 *db;
    sqlite3_stmt *find;
    struct tree_found *found;
    struct tree_growth growth[TREE_GROWTH];
    uint32_t growth_count;
    uint64_t operations;
    int64_t first_time, last_time; /* of frames */
    uint32_t *entries;             /* at the moment, by parent and name */
    uint32_t entry_count;
    /* while reading: */
    const struct tree_options *options;
};

struct tree_options {
    int64_t moment; /* BEGINNING, or ns since the epoch */
    /* May be NULL: */
    struct hierarchy_host host;
    int (*address)(void *ctx, uint32_t number, const char *text, struct err *err); /* effect.h */
    /* |done| is called after its operation has changed the tree.  |called| is called before that,
     * in the order of calls. */
    int (*done)(void *ctx, struct effect *effect, struct err *err);
    int (*called)(void *ctx, struct effect *effect, struct err *err);
    void *ctx;                          /* of the callbacks above, not of |host| */
    const struct effect_filter *filter; /* NULL: everything */
};

int tree_read(struct tree *tree, sqlite3 *db, const struct tree_options *options, struct err *err);
void tree_free(struct tree *tree);

/* Finds the object of a handle, while reading.  Sets *|object| to 0 if there is none. */
int tree_find(struct tree *tree, const char *server, struct bytes handle, uint32_t *object,
              struct err *err);

/* Call this after tree_read, when all other knowledge is in the tree.  Shows the entries that are
 * still there to the host. */
int tree_end(struct tree *tree, struct err *err);

/* Call this before tree_walk.  Sorts the entries of the moment. */
int tree_sort(struct tree *tree, struct err *err);

/* A place in the tree.  It lives until the visitor returns. */
struct tree_item {
    const struct node *node;
    uint32_t id;               /* of the node */
    uint32_t entry;            /* none: a root */
    uint32_t depth;            /* 0: a root, or the directory that was asked for */
    struct bytes name;         /* of the entry; empty for roots */
    const char *path;          /* from MOUNT's path or "[#N]" on, as in the database */
    struct bytes way;          /* the part below the root, as bytes, between slashes */
    struct bytes first;        /* |way| of its first name, if this is another one */
    uint32_t root, first_root; /* nodes: the root, and the root of |first| */
    bool leaves;               /* a directory is left */
};

/* Shows the tree below |under|, a |path|; NULL shows all roots.  A directory comes before its
 * entries, and again after them.  Entries come in the order of their bytes.  A directory with
 * several names is shown under each, but its entries only once.  Returns 0, 1 if |under| does not
 * exist, or what |visit| returned. */
int tree_walk(struct tree *tree, const char *under,
              int (*visit)(void *ctx, const struct tree_item *item, struct err *err), void *ctx,
              struct err *err);

#endif
