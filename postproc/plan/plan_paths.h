/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan_paths.h
 *
 * The objects and paths of a plan's inferred operations: objects by their numbers in the database,
 * and paths because no row of the database has them.
 *
 * Memory: 16 bytes for each object of the plan.
 */
#ifndef NFSDIGEST_PLAN_PLAN_PATHS_H
#define NFSDIGEST_PLAN_PLAN_PATHS_H

#include "base/bytes.h"
#include "rdump/rdump.h"

#include <sqlite3.h>

struct plan_paths {
    sqlite3 *db;
    sqlite3_stmt *name, *made;
    struct plan_number *numbers; /* by number of an object in the plan */
    uint32_t number_cap;
};

struct plan_about {
    struct buf path, path2; /* end with a 0; |path2| is empty if there is none */
    int64_t objects[2];     /* of the database; negative: without a name; 0: none, or not known */
};

/* A plan_paths or plan_about that is all zeros is empty. */
int plan_paths_init(struct plan_paths *paths, sqlite3 *db, struct err *err);
void plan_paths_free(struct plan_paths *paths);
void plan_about_free(struct plan_about *about);

/* plan_paths_object adds an object of the initial tree.  plan_paths_made adds the object that the
 * operation at |place| makes, if any.  Add objects before a plan_paths_of that can use them. */
int plan_paths_object(struct plan_paths *paths, const struct rdump_object *object, struct err *err);
int plan_paths_made(struct plan_paths *paths, const struct rdump_operation *operation,
                    uint64_t place, struct err *err);

/* Replaces |about| by the objects and paths of an inferred operation.  |time| is in ns since the
 * epoch; names that are known by then are preferred. */
int plan_paths_of(struct plan_paths *paths, const struct rdump_operation *inferred, int64_t time,
                  struct plan_about *about, struct err *err);

#endif
