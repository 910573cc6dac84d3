/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/package_rdump.h
 *
 * The replay dump of a package.
 */
#ifndef NFSDIGEST_PACKAGE_PACKAGE_RDUMP_H
#define NFSDIGEST_PACKAGE_PACKAGE_RDUMP_H

#include "package/package.h"

#include <sqlite3.h>

/* Writes the whole trace of |db| to |path|.  |db| does not change. */
int package_rdump(sqlite3 *db, const char *path, struct err *err);

/* Checks the dump at |path|.  Reports errors in it as findings. */
int package_rdump_check(const char *path, struct package_check *check, struct err *err);

#endif
