/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net/source_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

socklen_t source_port_len(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET    ? sizeof(struct sockaddr_in)
           : address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                            : 0;
}

uint16_t source_port_of(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6
               ? ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port)
               : ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
}

void source_port_set(struct sockaddr_storage *address, uint16_t port)
{
    if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)address)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)(void *)address)->sin_port = htons(port);
}

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

/* One attempt from |local| (family 0: the system chooses all). */
static int attempt(const struct sockaddr_storage *local, const struct sockaddr_storage *peer,
                   int type, int *error, struct err *err)
{
    uint16_t port = local->ss_family ? source_port_of(local) : 0;
    int one = 1, fd = socket(peer->ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        *error = errno;
        return fail(*error, "a socket", 0, err);
    }
    /* What is left of an earlier connection (TIME_WAIT) does not keep the port from being bound;
     * whether the new connection may have the addresses and ports of the old one is decided by
     * connect. */
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
        (local->ss_family &&
         bind(fd, (const struct sockaddr *)local, source_port_len(local)) < 0)) {
        *error = errno;
        close(fd);
        return fail(*error, "binding", port, err);
    }
    if (connect(fd, (const struct sockaddr *)peer, source_port_len(peer)) < 0 &&
        errno != EINPROGRESS) {
        *error = errno;
        close(fd);
        return fail(*error, port ? "connecting from" : "connecting", port, err);
    }
    return fd;
}

int source_port_connect(const struct source_port *from, const struct sockaddr_storage *peer,
                        int type, int *fd, int *error, struct err *err)
{
    enum { PORTS = SOURCE_PORT_HIGH - SOURCE_PORT_LOW + 1 };
    struct sockaddr_storage local = from->local;
    uint32_t first = 0;

    *error = 0;
    if (!source_port_len(peer)) {
        *error = EAFNOSUPPORT;
        return fail(*error, "the server's address", 0, err);
    }
    if (from->kind != SOURCE_PORT_ANY && !local.ss_family)
        local.ss_family = peer->ss_family;
    if (from->kind != SOURCE_PORT_PRIVILEGED) {
        if (from->kind == SOURCE_PORT_ANY && local.ss_family)
            source_port_set(&local, 0);
        *fd = attempt(&local, peer, type, error, err);
        return *fd < 0 ? -ERR_SYSTEM : 0;
    }
    /* not always from the same end: other programs look for ports, too */
    if (getrandom(&first, sizeof(first), 0) != sizeof(first))
        first = 0;
    for (uint32_t i = 0; i < PORTS; i++) {
        source_port_set(&local, (uint16_t)(SOURCE_PORT_LOW + (first % PORTS + i) % PORTS));
        *fd = attempt(&local, peer, type, error, err);
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
