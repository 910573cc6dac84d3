/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/callers_read.h
 *
 * The callers of a trace database (model/play/caller.h): valid credentials of AUTH_SYS.
 */
#ifndef NFSDIGEST_PLAN_CALLERS_READ_H
#define NFSDIGEST_PLAN_CALLERS_READ_H

#include "play/caller.h"

#include <sqlite3.h>

int callers_read(struct callers *callers, sqlite3 *db, struct err *err);

#endif
