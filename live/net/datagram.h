/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/datagram.h
 *
 * A UDP socket of a server, on a loop: datagrams come and go in batches.  On a machine with several
 * addresses, an answer leaves from the address that got the request.
 *
 * Memory: DATAGRAM_BATCH * |size_max| bytes of input, and |queue_max| bytes of output beside what
 * the kernel takes.  Further datagrams are dropped and counted, as UDP permits.  So does the kernel
 * with input above DATAGRAM_WAITING, or above net.core.rmem_max without CAP_NET_ADMIN.
 */
#ifndef NFSDIGEST_NET_DATAGRAM_H
#define NFSDIGEST_NET_DATAGRAM_H

#include "base/bytes.h"
#include "net/address.h"
#include "net/loop.h"

enum {
    DATAGRAM_BATCH = 32,        /* the most in one system call */
    DATAGRAM_MAX = 65507,       /* bytes that IPv4 can carry */
    DATAGRAM_ENDS_SIZE = 128,   /* bytes of output that the addresses of one datagram count for */
    DATAGRAM_WAITING = 4 << 20, /* bytes of input that the kernel is asked to keep */
};

struct datagram_limits {
    uint32_t size_max;  /* bytes of a datagram that comes in; longer ones are dropped */
    uint32_t queue_max; /* bytes of output, addresses counted in */
};

#define DATAGRAM_LIMITS ((struct datagram_limits){ .size_max = DATAGRAM_MAX, .queue_max = 4 << 20 })

/* Both ends.  |local|: the address that the datagram was sent to, with the socket's port. */
struct datagram_ends {
    struct net_address peer, local;
};

struct datagram_host {
    /* Takes one datagram, which is valid until this returns.  The socket may be freed here. */
    int (*received)(void *ctx, struct bytes data, const struct datagram_ends *ends,
                    struct err *err);
    void *ctx;
};

struct datagram_counts {
    uint64_t received, sent;
    uint64_t too_long; /* received, but longer than |size_max| */
    uint64_t failed;   /* errors that the system reported, including those of earlier sending */
    uint64_t dropped;  /* not sent: the queue was full, there was no memory, or it was too long */
    uint64_t lost;     /* not received: the kernel dropped them, because too many waited */
};

struct datagram_socket;

/* Binds |address|.  Port 0: a free port, which datagram_address gives.  Sockets of IPv6 take only
 * IPv6, as in listen.h. */
struct datagram_socket *datagram_open(struct loop *loop, const struct net_address *address,
                                      const struct datagram_limits *limits,
                                      const struct datagram_host *host, struct err *err);
/* Datagrams that wait to be sent are lost. */
void datagram_free(struct datagram_socket *socket);

/* Queues a copy of |data| from |ends->local| to |ends->peer|; it is sent at the end of the round.
 * Returns false if it was dropped and counted. */
bool datagram_send(struct datagram_socket *socket, const struct datagram_ends *ends,
                   struct bytes data);

/* Stop and resume the delivery.  Datagrams that arrive meanwhile wait in the kernel. */
void datagram_hold(struct datagram_socket *socket);
void datagram_resume(struct datagram_socket *socket);

/* Asks the kernel to keep DATAGRAM_WAITING bytes for this socket.  The usual buffer of Linux holds
 * four WRITEs of 32 KiB that arrive in fragments, and a client sends more at once. */
void datagram_keep_waiting(int fd);

const struct net_address *datagram_address(const struct datagram_socket *socket);
const struct datagram_counts *datagram_counts(struct datagram_socket *socket);

#endif
