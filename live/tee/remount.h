/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/remount.h
 *
 * Mounts a server's export again while a loop runs, when the server has forgotten its root: asks
 * its MOUNT every second until there is an answer.
 */
#ifndef NFSDIGEST_TEE_REMOUNT_H
#define NFSDIGEST_TEE_REMOUNT_H

#include "player/target.h"

struct remount {
    struct loop *loop;
    const struct target *target; /* stays */
    /* The root's new handle. */
    int (*done)(void *ctx, struct bytes root, struct err *err);
    void *ctx;
    /* for remount.c: */
    struct rpc_client *client;
    struct timer again;
};

/* The first four members are set. */
void remount_init(struct remount *remount);
int remount_begin(struct remount *remount, struct err *err);
void remount_free(struct remount *remount);

#endif
