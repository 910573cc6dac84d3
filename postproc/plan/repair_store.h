/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/repair_store.h
 *
 * Writes the names of the codes of repair.h into table code.  The tables of the tree and of the
 * plan share them.
 */
#ifndef NFSDIGEST_PLAN_REPAIR_STORE_H
#define NFSDIGEST_PLAN_REPAIR_STORE_H

#include "base/err.h"

#include <sqlite3.h>

/* Writes the domains 'inference' and 'unplayable'. */
int repair_store_codes(sqlite3 *db, struct err *err);

#endif
