/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/address.h
 *
 * Addresses as people write them, and as the system has them.
 *
 *     ADDR:PORT     127.0.0.1:0   [::1]:2049   server.example:2049
 *     nfs://HOST[:PORT]/EXPORT[?nfsport=N&mountport=N]
 *
 * IPv6 addresses stand in brackets.  Nothing here allocates.
 */
#ifndef NFSDIGEST_NET_ADDRESS_H
#define NFSDIGEST_NET_ADDRESS_H

#include "base/err.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    NET_ADDRESS_HOST_MAX = 255,  /* RFC 1035 s2.3.4 */
    NET_ADDRESS_TEXT = 80,       /* bytes of an address as text */
    NFS_ADDRESS_PATH_MAX = 1024, /* MNTPATHLEN, RFC 1813 s5.1.4 */
    NFS_ADDRESS_TEXT = 3 * NFS_ADDRESS_PATH_MAX + 3 * NET_ADDRESS_HOST_MAX + 64,
};

/* Address of a socket.  AF_UNIX, for the ends of a socket pair, has only its family. */
struct net_address {
    union {
        sa_family_t family;
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
};

/* --- addresses of sockets */

socklen_t net_address_size(const struct net_address *a); /* for bind, connect, sendto */
uint16_t net_address_port(const struct net_address *a);
void net_address_set_port(struct net_address *a, uint16_t port);
bool net_address_equal(const struct net_address *a,
                       const struct net_address *b); /* with the port */
bool net_address_same_host(const struct net_address *a,
                           const struct net_address *b); /* without it */
bool net_address_is_loopback(const struct net_address *a);
bool net_address_is_wildcard(const struct net_address *a); /* 0.0.0.0 or :: */

/* Sets |mine| to the address from which the system would send to |to|.  Sends nothing. */
int net_address_of_route(const struct net_address *to, struct net_address *mine);

/* If |a| is 0.0.0.0 or ::, makes it the address of this machine from which the system would send to
 * other networks, or loopback if there is none: an address to which clients can connect.  Sends
 * nothing. */
void net_address_name_wildcard(struct net_address *a);

/* Converts an address from the system.  A family other than these three becomes AF_UNSPEC. */
void net_address_from(struct net_address *to, const struct sockaddr_storage *from);
int net_address_of_socket(int fd, struct net_address *out, struct err *err);
int net_address_of_peer(int fd, struct net_address *out, struct err *err);

/* "127.0.0.1:2049", "[fe80::1%2]:2049", "local" for AF_UNIX.  Returns |text|. */
const char *net_address_text(const struct net_address *a, char text[NET_ADDRESS_TEXT]);
/* The same without port and brackets. */
const char *net_address_host_text(const struct net_address *a, char text[NET_ADDRESS_TEXT]);

/* --- ADDR:PORT */

struct net_address_name {
    /* A name, or an address without brackets; "": every address. */
    char host[NET_ADDRESS_HOST_MAX + 1];
    uint16_t port;
};

/* "HOST:PORT"; ":PORT" is every address of the machine.  The port must be there. */
int net_address_name_parse(const char *text, struct net_address_name *out, struct err *err);

/* Finds at most |most| addresses of |name|, in the system's order of preference.  Returns how many,
 * or a negative code.  Waits for DNS if |host| is a name.  |passive|: for a listener; an empty host
 * is then 0.0.0.0 and [::]. */
int net_address_resolve(const struct net_address_name *name, bool passive, struct net_address *out,
                        uint32_t most, struct err *err);

/* Parses and resolves an option's value.  Gives the first address. */
int net_address_parse(const char *text, bool passive, struct net_address *out, struct err *err);

/* --- nfs://HOST/EXPORT */

struct nfs_address {
    char host[NET_ADDRESS_HOST_MAX + 1];
    uint16_t nfs_port, mount_port;       /* 0: not given */
    char path[NFS_ADDRESS_PATH_MAX + 1]; /* begins with '/'; any bytes but NUL */
};

/* Parses an NFS address.  HOST:PORT means the same as nfsport=PORT; both must not differ.  In the
 * path %NN stands for a byte (RFC 3986 s2.1). */
int nfs_address_parse(const char *text, struct nfs_address *out, struct err *err);
/* Writes the address with ports as arguments, the only form that libnfs knows.  As of version 5
 * libnfs does not decode %NN, so it can only use paths without encoded bytes.  Returns |text|. */
const char *nfs_address_text(const struct nfs_address *a, char text[NFS_ADDRESS_TEXT]);

#endif
