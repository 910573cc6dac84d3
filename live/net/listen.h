/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/listen.h
 *
 * Listening TCP sockets on a loop, with common bounds: for all connections, and for those of one
 * client address.  A connection above a bound is accepted, counted and closed at once, so that its
 * client does not wait.
 *
 * Without file descriptors or memory for a connection, nothing is accepted for |pause|.  Clients
 * then wait in the kernel's queue.
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
    uint32_t of_address;  /* from one client address, with any ports */
    int64_t pause;        /* ns */
};

#define LISTEN_LIMITS                                                                              \
    ((struct listen_limits){ .connections = 1024, .of_address = 256, .pause = 100000000 })

struct listen_host {
    /* Takes a connection: non-blocking, TCP_NODELAY.  The host owns |fd|.  It calls listeners_left
     * with |peer| once the connection is gone. */
    int (*accepted)(void *ctx, int fd, const struct net_address *peer, struct err *err);
    void *ctx;
};

struct listen_counts {
    uint64_t accepted;        /* given to the host */
    uint64_t refused_all;     /* above |connections| */
    uint64_t refused_address; /* above |of_address| */
    uint64_t failed; /* connections that were gone before they were accepted, or that the system
                      * refused */
    uint64_t pauses; /* pauses without file descriptors or memory */
};

struct listeners;

struct listeners *listeners_new(struct loop *loop, const struct listen_limits *limits,
                                const struct listen_host *host, struct err *err);
/* Closes the listening sockets.  Connections belong to the host. */
void listeners_free(struct listeners *all);

/* Listens at |address|; port 0: a free port.  Sets |bound| (may be NULL) to the address in use.
 * Sockets of IPv6 take only IPv6, so that both kinds can be bound to one port. */
int listeners_add(struct listeners *all, const struct net_address *address,
                  struct net_address *bound, struct err *err);

/* The same with |fd|, a socket that listens already.  The listeners own it from then on, also after
 * an error. */
int listeners_adopt(struct listeners *all, int fd, struct err *err);
/* Writes the descriptors of the listening sockets, at most LISTEN_SOCKETS.  Returns how many. */
uint32_t listeners_sockets(const struct listeners *all, int *fds);
/* Accepts nothing until listeners_go_on: clients wait in the kernel's queue. */
int listeners_pause(struct listeners *all, struct err *err);
int listeners_go_on(struct listeners *all, struct err *err);
/* Closes the listening sockets.  Connections stay. */
void listeners_stop(struct listeners *all);

void listeners_left(struct listeners *all, const struct net_address *peer);

const struct listen_counts *listeners_counts(const struct listeners *all);
uint32_t listeners_connections(const struct listeners *all);

#endif
