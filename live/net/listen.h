/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/listen.h
 *
 * TCP sockets that listen, on a loop, with one bound for all of them: so many connections in all,
 * and so many of one client address.  One connection more is accepted and closed at once, and
 * counted: its client sees an end, not a silence.
 *
 * Without file descriptors or memory for a connection, the sockets rest for |pause|: the kernel
 * keeps the clients waiting in its own queue.
 *
 * Memory: about 80 bytes for each client address that has a connection.
 */
#ifndef NFSDIGEST_NET_LISTEN_H
#define NFSDIGEST_NET_LISTEN_H

#include "net/address.h"
#include "net/loop.h"

enum { LISTEN_SOCKETS = 16 }; /* of one struct listeners */

struct listen_limits {
    uint32_t connections; /* in all */
    uint32_t of_address;  /* of one client address, whatever its ports */
    int64_t pause;        /* ns */
};

#define LISTEN_LIMITS                                                                              \
    ((struct listen_limits){ .connections = 1024, .of_address = 256, .pause = 100000000 })

struct listen_host {
    /* A connection: non-blocking, TCP_NODELAY.  |fd| is the host's now.  It calls listeners_left
     * with |peer| once the connection is gone. */
    int (*accepted)(void *ctx, int fd, const struct net_address *peer, struct err *err);
    void *ctx;
};

struct listen_counts {
    uint64_t accepted;        /* given to the host */
    uint64_t refused_all;     /* above |connections| */
    uint64_t refused_address; /* above |of_address| */
    uint64_t failed;          /* gone before they were accepted, or refused by the system */
    uint64_t pauses;          /* without file descriptors or memory */
};

struct listeners;

struct listeners *listeners_new(struct loop *loop, const struct listen_limits *limits,
                                const struct listen_host *host, struct err *err);
/* Closes the sockets that listen; connections are the host's. */
void listeners_free(struct listeners *all);

/* Listens at |address|; port 0: one that is free.  |bound| (may be NULL) is where.  Sockets of IPv6
 * take IPv6 only, so that both kinds of one port can be bound. */
int listeners_add(struct listeners *all, const struct net_address *address,
                  struct net_address *bound, struct err *err);

void listeners_left(struct listeners *all, const struct net_address *peer);

const struct listen_counts *listeners_counts(const struct listeners *all);
uint32_t listeners_connections(const struct listeners *all);

#endif
