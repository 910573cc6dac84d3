/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net/source_port.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static int fail(int error, const char *what, uint16_t port, struct err *err)
{
    if (error == EACCES && port && port < 1024)
        return err_set(err, ERR_SYSTEM,
                       "port %u is privileged: this needs root, or the capability "
                       "CAP_NET_BIND_SERVICE",
                       port);
    if (port)
        return err_set(err, ERR_SYSTEM, "%s port %u: %s", what, port, strerror(error));
    return err_set(err, ERR_SYSTEM, "%s: %s", what, strerror(error));
}

static int set_transparent(int fd, sa_family_t family)
{
    const int one = 1;

    return family == AF_INET6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_TRANSPARENT, &one, sizeof(one))
                              : setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &one, sizeof(one));
}

int source_port_allow_transparent(struct err *err)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error;

    if (fd < 0)
        return fail(errno, "a socket", 0, err);
    error = set_transparent(fd, AF_INET) < 0 ? errno : 0;
    close(fd);
    return !error ? 0
                  : err_set(err, ERR_SYSTEM,
                            "connecting from the addresses of others: %s: this needs root, or the "
                            "capability CAP_NET_ADMIN",
                            strerror(error));
}

/* One attempt from |from|->local (family 0: the system chooses all). */
static int attempt(const struct source_port *from, const struct net_address *peer, int type,
                   int *error, struct err *err)
{
    const struct net_address *local = &from->local;
    uint16_t port = local->family ? net_address_port(local) : 0;
    int reuse = type == SOCK_STREAM,
        fd = socket(peer->family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        *error = errno;
        return fail(*error, "a socket", 0, err);
    }
    /* What is left of an earlier connection (TIME_WAIT) does not keep the port from being bound;
     * whether the new connection may have the addresses and ports of the old one is decided by
     * connect.  Over UDP, two sockets could have one port then. */
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)) < 0 ||
        (from->transparent && set_transparent(fd, peer->family) < 0) ||
        (local->family && bind(fd, &local->any, net_address_size(local)) < 0)) {
        *error = errno;
        close(fd);
        return fail(*error, "binding", port, err);
    }
    if (connect(fd, &peer->any, net_address_size(peer)) < 0 && errno != EINPROGRESS) {
        *error = errno;
        close(fd);
        return fail(*error, port ? "connecting from" : "connecting", port, err);
    }
    return fd;
}

int source_port_connect(const struct source_port *from, const struct net_address *peer, int type,
                        int *fd, int *error, struct err *err)
{
    enum { PORTS = SOURCE_PORT_HIGH - SOURCE_PORT_LOW + 1 };
    struct source_port at = *from;
    uint32_t first = 0;

    *error = 0;
    if (peer->family != AF_INET && peer->family != AF_INET6) {
        *error = EAFNOSUPPORT;
        return fail(*error, "the server's address", 0, err);
    }
    if (from->kind != SOURCE_PORT_ANY && !at.local.family)
        at.local.family = peer->family;
    if (from->kind != SOURCE_PORT_PRIVILEGED) {
        if (from->kind == SOURCE_PORT_ANY && at.local.family)
            net_address_set_port(&at.local, 0);
        *fd = attempt(&at, peer, type, error, err);
        return *fd < 0 ? -ERR_SYSTEM : 0;
    }
    /* not always from the same end: other programs look for ports, too */
    if (getrandom(&first, sizeof(first), 0) != sizeof(first))
        first = 0;
    for (uint32_t i = 0; i < PORTS; i++) {
        net_address_set_port(&at.local, (uint16_t)(SOURCE_PORT_LOW + (first % PORTS + i) % PORTS));
        *fd = attempt(&at, peer, type, error, err);
        if (*fd >= 0)
            return 0;
        if (*error != EADDRINUSE && *error != EADDRNOTAVAIL)
            return -ERR_SYSTEM;
    }
    return err_set(
        err, ERR_SYSTEM,
        "none of the privileged ports %d to %d is free for this server: each stays taken "
        "for a minute after its connection",
        SOURCE_PORT_LOW, SOURCE_PORT_HIGH);
}

/* A socket that is bound, and never connected.  As long as it is there, connect does not choose the
 * port for any other socket, and all that bind to it must say SO_REUSEADDR. */
int source_port_hold(struct source_port *from, const struct net_address *peer)
{
    struct net_address local = from->local, own;
    int one = 1, fd = socket(peer->family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (!local.family)
        local.family = peer->family;
    net_address_set_port(&local, 0);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
        bind(fd, &local.any, net_address_size(&local)) < 0 ||
        net_address_of_socket(fd, &own, NULL) < 0 ||
        net_address_port(&own) == net_address_port(peer)) { /* it could connect to itself */
        close(fd);
        return -1;
    }
    net_address_set_port(&local, net_address_port(&own));
    from->kind = SOURCE_PORT_FIXED;
    from->local = local;
    return fd;
}
