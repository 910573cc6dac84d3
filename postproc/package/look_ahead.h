/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/look_ahead.h
 *
 * What a package tells of replays: dependencies of both granularities, and the plot of reachable
 * throughput against look-ahead windows (FEUT's figure 4).
 */
#ifndef NFSDIGEST_PACKAGE_LOOK_AHEAD_H
#define NFSDIGEST_PACKAGE_LOOK_AHEAD_H

#include "plan/plan.h"

/* Draws it as |path|; |name|: of the trace.  1: drawn; 0: no operation has a latency, so there is
 * nothing to draw; negative. */
int look_ahead_plot(sqlite3 *db, const char *path, const char *name, struct plan_counts *counts,
                    struct err *err);

#endif
