/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/learn.h
 *
 * Applies operations to the hierarchy: what each one makes, removes, moves or shows, and which
 * operations it proves that were not captured.
 *
 * Operations that overlap prove nothing: a contradiction counts only if the operation that it
 * contradicts was done before the call.  If an operation that was called and is not done yet can
 * explain it, the changes of that operation are applied first.
 */
#ifndef NFSDIGEST_TREE_LEARN_H
#define NFSDIGEST_TREE_LEARN_H

#include "tree/initial.h"
#include "tree/repair.h"

enum {
    LEARN_OUTSTANDING = 256, /* the latest changes of names that may explain others */
    LEARN_DOUBTFUL = 16384,  /* places for changes without a reply, by name */
};

struct doubtful {
    uint64_t hash; /* of parent and name */
    int64_t id, time;
    bool binds; /* the operation may have made the name */
};

struct learn {
    struct hierarchy hierarchy;
    struct repair repair;
    /* Sets *|object| to the object of a handle, or to 0 if there is none. */
    int (*find)(void *ctx, const char *server, struct bytes handle, uint32_t *object,
                struct err *err);
    void *ctx;
    struct effect *outstanding[LEARN_OUTSTANDING];
    uint32_t outstanding_count;
    struct doubtful doubtful[LEARN_DOUBTFUL];
};

/* |moment| and |host| are as for hierarchy_init. */
int learn_init(struct learn *learn, int64_t moment, const struct hierarchy_host *host,
               struct err *err);
void learn_free(struct learn *learn);

int learn_called(struct learn *learn, struct effect *effect, struct err *err);
int learn_done(struct learn *learn, struct effect *effect, struct err *err);

#endif
