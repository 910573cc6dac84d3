/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/baseline.h
 *
 * A result beside the result of an earlier comparison, the baseline.  Groups are the same if kind,
 * procedure, field, difference and circumstance are.  How often they come does not matter.
 *
 * baseline_attach makes tables that reports read, for the connection only:
 *   temp.baseline_new       id, is_noise: groups that the baseline does not have
 *   temp.baseline_gone      groups that only the baseline has, with the columns of
 * discrepancy_group temp.baseline_unchanged id, count, was: groups of both, with both counts
 *   temp.baseline_totals    one row: database, same_rules, and counts of the three
 */
#ifndef NFSDIGEST_REPORT_BASELINE_H
#define NFSDIGEST_REPORT_BASELINE_H

#include "base/err.h"

#include <sqlite3.h>

/* Returns -ERR_INPUT if |path| is not a result, or of another version. */
int baseline_attach(sqlite3 *result, const char *path, struct err *err);

/* Returns 1 if there is a new group that is not noise, or calls that only one side answered for an
 * unknown reason, and the baseline has none of these.  Else 0, or a negative code. */
int baseline_has_new(sqlite3 *result, struct err *err);

#endif
