/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/concurrency_plot.h
 *
 * Throughput, and concurrency below it, against the look-ahead window (FEUT's figure 4).
 */
#ifndef NFSDIGEST_REPORT_CONCURRENCY_PLOT_H
#define NFSDIGEST_REPORT_CONCURRENCY_PLOT_H

#include "plan/concurrency_report.h"

/* |path| is as for output_open.  |trace| is the name of the trace, for the title. */
int concurrency_svg(const struct concurrency_report *report, const char *path, const char *trace,
                    struct err *err);

#endif
