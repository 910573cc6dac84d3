/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/only_phase.h
 *
 * Narrows a result to the discrepancies in one phase (nfsdigest phase), for the connection only:
 * temporary views take the place of table discrepancy, discrepancy_group (with the counts in the
 * phase) and view causes.  So reports and the verdict show what is in them.  What was aligned,
 * withheld and measured stays that of the whole comparison.
 */
#ifndef NFSDIGEST_REPORT_ONLY_PHASE_H
#define NFSDIGEST_REPORT_ONLY_PHASE_H

#include "base/err.h"

#include <sqlite3.h>

/* Returns -ERR_USAGE if the result has no phase of this name. */
int only_phase(sqlite3 *result, const char *name, struct err *err);

#endif
