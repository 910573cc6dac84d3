/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_parts.h
 *
 * What report_text.c and report_runs.c share.
 */
#ifndef NFSDIGEST_REPORT_REPORT_PARTS_H
#define NFSDIGEST_REPORT_REPORT_PARTS_H

#include "base/values.h"
#include "report/report.h"

/* "DUMP played on TARGET, PACE" */
void report_title(const struct report *report, FILE *to);
/* duration_text of a computed time. */
const char *report_time(double ns, char room[VALUE_TEXT_MAX]);
/* |amount| / |ns| in 1/s; 0 without time. */
double report_rate(double amount, int64_t ns);
/* The time that operations were outstanding, in all, by the duration. */
double report_concurrency(const struct report *report);

#endif
