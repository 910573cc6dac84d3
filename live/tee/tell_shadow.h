/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/tell_shadow.h
 *
 * What a shadow tells about itself: by its control socket, and to Prometheus.
 */
#ifndef NFSDIGEST_TEE_TELL_SHADOW_H
#define NFSDIGEST_TEE_TELL_SHADOW_H

#include "metrics/metrics.h"
#include "net/control.h"
#include "shadow/shadow.h"

struct told_shadow {
    struct loop *loop;
    struct shadow *shadow;
};

/* |told| must live as long as |control|, and as the metrics. */
int tell_shadow_control(struct control *control, struct told_shadow *told, struct err *err);
struct metrics_setup tell_shadow_metrics(struct told_shadow *told,
                                         const struct net_address *address);

#endif
