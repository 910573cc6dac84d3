/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan_store.h
 *
 * Writes a plan into tables of its database (schemas/plan.sql).
 */
#ifndef NFSDIGEST_PLAN_PLAN_STORE_H
#define NFSDIGEST_PLAN_PLAN_STORE_H

#include "plan/plan.h"
#include "plan/plan_paths.h"

struct plan_store {
    sqlite3 *db;
    sqlite3_stmt *operation, *dependency;
};

/* Call these between BEGIN and COMMIT (store/tables.h).  plan_store_begin replaces the tables of an
 * earlier plan; call plan_store_end after it in any case.  plan_store_put adds an operation.
 * plan_store_end makes the indexes if |counts| is not NULL: those of a plan that was read as a
 * whole. */
int plan_store_begin(struct plan_store *store, sqlite3 *db, struct err *err);
int plan_store_put(struct plan_store *store, const struct plan_step *step, struct err *err);
int plan_store_end(struct plan_store *store, const struct plan_counts *counts, struct err *err);

#endif
