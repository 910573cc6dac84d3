/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/sql_files.h
 *
 * SQLite's temporary files, and signals.  SQLite makes such a file and at once removes its name.  A
 * signal that ended the process in between would leave it, so nothing is undone meanwhile
 * (base/cleanup.h).
 */
#ifndef NFSDIGEST_STORE_SQL_FILES_H
#define NFSDIGEST_STORE_SQL_FILES_H

#include "base/err.h"

/* Call this before the first database is opened.  It sees to all that are opened later. */
int sql_files_begin(struct err *err);

#endif
