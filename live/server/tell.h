/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/tell.h
 *
 * Reports of a running ftnfsd: as JSON on its control socket, and as metrics for Prometheus.
 */
#ifndef NFSDIGEST_SERVER_TELL_H
#define NFSDIGEST_SERVER_TELL_H

#include "metrics/metrics.h"
#include "net/control.h"
#include "server/serve.h"

/* Adds the commands statistics, exports, mounts, connections, check and stop. */
int tell_control(struct control *control, struct server *server, struct err *err);

/* Returns a setup with the metrics of |server|. */
struct metrics_setup tell_metrics(struct server *server, const struct net_address *address);

#endif
