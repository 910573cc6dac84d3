/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay_entry.h
 *
 * What the entries of a relay's ring mean (ring/ring.h).  |connection| is a number from 1 that the
 * relay gives to each client connection and never again.  |time| is when the relay got the bytes.
 *
 * The entries of a connection: RELAY_OPEN, then bytes of both directions as they came, RELAY_END
 * after the last bytes of a direction whose sender has closed it, and RELAY_CLOSED.  Bytes of a
 * call come before those of its reply.  |offset| counts the bytes of a direction.  Bytes stand in
 * the ring even if the connection ended before the other side had them.
 *
 * RELAY_MARK belongs to no connection.  A reader that sends calls itself, through the relay, has
 * asked for it (ring/ring_door.h): calls whose AUTH_SYS credential has the machine name
 * RELAY_MARK_NAME with this mark behind it are not those of clients.  The mark is a secret of those
 * who may read the ring.  It comes before such calls, and again with each announcement, before the
 * connections.  Readers skip kinds that they do not know.
 */
#ifndef NFSDIGEST_RELAY_RELAY_ENTRY_H
#define NFSDIGEST_RELAY_RELAY_ENTRY_H

#include <stdint.h>

enum relay_entry_kind {
    RELAY_OPEN = 1,      /* the payload is a struct relay_open */
    RELAY_TO_SERVER = 2, /* bytes */
    RELAY_TO_CLIENT = 3,
    RELAY_END_TO_SERVER = 4, /* without payload, like the others */
    RELAY_END_TO_CLIENT = 5,
    RELAY_CLOSED = 6,
    RELAY_MARK = 7, /* the payload is a mark */
};
enum { RELAY_MARK_SIZE = 32 /* lower-case hexadecimal digits */ };
#define RELAY_MARK_NAME "nfstee-"

/* |flags| of RELAY_OPEN. */
enum {
    RELAY_ANNOUNCED = 1, /* it was open already: a reader asked (ring/ring_door.h) */
    RELAY_DATAGRAMS = 2, /* over UDP: a client's address and port; each entry has one datagram */
};

/* |flags| of RELAY_CLOSED. */
enum relay_why {
    RELAY_WHY_ENDED = 0,  /* both sides have closed it */
    RELAY_WHY_CLIENT = 1, /* the client has reset it */
    RELAY_WHY_SERVER = 2, /* the server has */
    RELAY_WHY_RELAY = 3,  /* the relay has: it ends, or cannot go on */
};

/* An address with its port.  IPv4 addresses are those of ::ffff:0:0/96. */
struct relay_end {
    uint8_t address[16];
    uint32_t scope; /* of link-local addresses */
    uint16_t port;
    uint16_t zero;
};

struct relay_open {
    struct relay_end client, listens;  /* the client's connection */
    struct relay_end connects, server; /* the relay's to the server */
    uint64_t to_server, to_client;     /* bytes so far */
};
_Static_assert(sizeof(struct relay_open) == 112, "it has no gaps");

#endif
