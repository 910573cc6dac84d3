/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/source_port.h
 *
 * Sockets that connect from a chosen port.  NFS servers use the client's port in two ways: exports
 * with "secure" refuse ports from 1024 up, and duplicate request caches recognize a client only if
 * its port is the same.
 */
#ifndef NFSDIGEST_NET_SOURCE_PORT_H
#define NFSDIGEST_NET_SOURCE_PORT_H

#include "net/address.h"

/* Privileged ports to try, as in the Linux kernel's client.  Well-known services are below them. */
enum { SOURCE_PORT_LOW = 665, SOURCE_PORT_HIGH = 1023 };

enum source_port_kind {
    SOURCE_PORT_ANY, /* the system's choice */
    SOURCE_PORT_PRIVILEGED,
    SOURCE_PORT_FIXED, /* the port of |local| */
};

struct source_port {
    enum source_port_kind kind;
    struct net_address local; /* AF_UNSPEC: any address */
    /* |local| may be an address of another machine, if its packets come here (IP_TRANSPARENT). */
    bool transparent;
};

/* Checks that the system allows |transparent| to this process. */
int source_port_allow_transparent(struct err *err);

/* Opens a non-blocking socket of |type| (SOCK_STREAM, SOCK_DGRAM) and connects it to |peer|; over
 * TCP that may still be under way.  Returns 0 and sets |*fd|, or returns -ERR_SYSTEM with the errno
 * in |*error|: EADDRINUSE or EADDRNOTAVAIL if the port, or every port of the range, is taken. */
int source_port_connect(const struct source_port *from, const struct net_address *peer, int type,
                        int *fd, int *error, struct err *err);

/* Takes a port of the system's choice for all connections that are made to |peer| one after the
 * other, and enters it into |from|.  Without that, another program may get it while there is no
 * connection, or share it: then it cannot be bound again, sometimes for a minute.  |from| must be
 * SOURCE_PORT_ANY.  Returns a socket that holds the port until it is closed, or -1 with |from| as
 * it was. */
int source_port_hold(struct source_port *from, const struct net_address *peer);

#endif
