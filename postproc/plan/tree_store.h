/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/tree_store.h
 *
 * Writes the tree of a trace into tables of its database (schemas/digest.sql).
 */
#ifndef NFSDIGEST_PLAN_TREE_STORE_H
#define NFSDIGEST_PLAN_TREE_STORE_H

#include "plan/plan.h"

/* Reads the plan of the whole database, which is open for writing.  Writes the tables tree_* in one
 * transaction.  Calls only |tree| and |inferred| of |host|, as plan_read does.  If they fail, the
 * tables do not change. */
int tree_store(sqlite3 *db, const struct plan_host *host, struct plan_counts *counts,
               struct err *err);

#endif
