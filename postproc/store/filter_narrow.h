/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/filter_narrow.h
 *
 * Narrows a trace to the operations of a filter, for a connection.
 */
#ifndef NFSDIGEST_STORE_FILTER_NARROW_H
#define NFSDIGEST_STORE_FILTER_NARROW_H

#include "store/filter.h"

/* After this, the names operation and retransmission stand for what matches |filter|, and problem
 * for what was noticed from the first to the last of their times: temporary views take the place of
 * the tables.  A transaction is open, so store_reader gives no other connection.  Sources, objects
 * and paths stay those of the whole trace.  A temporary table has the ids of the operations: 8
 * bytes each, on disk if they are many. */
int filter_narrow(sqlite3 *db, const struct filter *filter, struct err *err);

#endif
