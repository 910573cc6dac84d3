/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/top_metrics.h
 *
 * The counts of "nfsdigest top" since its beginning as metrics for Prometheus, by client, procedure
 * and user.
 */
#ifndef NFSDIGEST_CLI_TOP_METRICS_H
#define NFSDIGEST_CLI_TOP_METRICS_H

#include "tell/tell.h"

struct top_view;

/* |view| must outlive the struct tell. */
struct tell_setup top_metrics(struct top_view *view, const char *address);

#endif
