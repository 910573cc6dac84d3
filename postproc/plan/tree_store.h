/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/tree_store.h
 *
 * Writes the tree of a trace into tables of its database (schemas/digest.sql).
 */
#ifndef NFSDIGEST_PLAN_TREE_STORE_H
#define NFSDIGEST_PLAN_TREE_STORE_H

#include "plan/plan.h"

/* Reads the plan of all of the database, which is open for writing, and writes the tables tree_* in
 * one transaction.  Of |host| only |tree| and |inferred| are called, as plan_read does; when they
 * fail, the tables are what they were. */
int tree_store(sqlite3 *db, const struct plan_host *host, struct plan_counts *counts,
               struct err *err);

#endif
