/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/tell.h
 *
 * What the relay tells about itself: by its control socket, and to Prometheus.
 */
#ifndef NFSDIGEST_TEE_TELL_H
#define NFSDIGEST_TEE_TELL_H

#include "metrics/metrics.h"
#include "net/control.h"
#include "relay/relay.h"
#include "ring/ring_door.h"

struct told {
    struct loop *loop;
    struct relay *relay;
    struct ports *ports;
    struct faults *faults; /* NULL: none can be injected */
    struct ring *ring;     /* NULL: no copies */
    struct ring_door *door;
};

/* |told| must live as long as |control|, and as the metrics. */
int tell_control(struct control *control, struct told *told, struct err *err);
/* Puts members into an object. */
void tell_statistics(const struct told *told, struct json *to);
struct metrics_setup tell_metrics(struct told *told, const struct net_address *address);

#endif
