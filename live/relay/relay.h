/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay.h
 *
 * A relay of TCP connections.  For each client connection it makes one to the server, from the
 * client's own port number, and passes bytes on as they come.  It does not look at them, unless it
 * injects faults.  Copies go into a ring (relay_entry.h).
 *
 * Pressure goes from end to end: while one side does not take what was read, nothing more is read
 * from the other.  A closed direction is closed on the other side after the last byte; a reset is
 * passed on at once, and what was not sent by then is lost, and counted.
 *
 * The server's duplicate request cache knows clients by their ports.  So connections to the server
 * are reset, not closed, when the relay ends or is killed: a closed one would keep its port for a
 * minute (TIME_WAIT).
 *
 * Datagrams are relayed, too, with a socket to the server for each client address and port.
 *
 * Memory: some 500 bytes a connection or client address of UDP, and up to RELAY_CHUNK for each
 * direction that waits; 2 KiB a connection while there are faults; and the ports of ports.h.
 */
#ifndef NFSDIGEST_RELAY_RELAY_H
#define NFSDIGEST_RELAY_RELAY_H

#include "net/datagram.h"
#include "net/fault.h"
#include "net/listen.h"
#include "relay/ports.h"
#include "relay/relay_entry.h"
#include "ring/ring.h"

enum {
    RELAY_CHUNK = 128 << 10, /* bytes that are read at once */
    RELAY_LANES = 8,         /* addresses to listen at: of NFS, MOUNT, NLM and NSM, two each */
    RELAY_FLOWS = 1024,      /* client addresses and ports over UDP */
};
#define RELAY_FLOW_IDLE INT64_C(300000000000) /* ns after which one of them is forgotten */

/* Effects of faults that a relay can keep.  delay: the call, and what is behind it on its
 * connection, goes to the server later.  close: in the place of the reply, both sides are reset. */
#define RELAY_EFFECTS (UINT64_C(1) << FAULT_DELAY | UINT64_C(1) << FAULT_CLOSE)

struct relay;

struct relay_setup {
    struct listen_limits limits;
    struct net_address bind; /* address to connect from, its port unused; AF_UNSPEC: by route */
    struct ports *ports;     /* both live as long as the relay */
    /* Connects from the clients' own addresses, by IP_TRANSPARENT.  The answers must be routed to
     * this machine, and be taken here.  Clients and servers need addresses of one family. */
    bool transparent;
    struct ring *ring; /* NULL: no copies */
    /* For calls over TCP, with RELAY_EFFECTS alone; lives as long as the relay.  NULL: none. */
    struct faults *faults;
};

struct relay_direction_counts {
    uint64_t bytes;
    uint64_t reads;
    uint64_t waits; /* times that the receiver did not take all */
    uint64_t lost;  /* bytes that were read, but not sent when the connection ended */
};

struct relay_counts {
    struct relay_direction_counts to_server, to_client;
    uint64_t connections; /* from clients */
    uint64_t ended;       /* by both sides */
    uint64_t reset_by_client, reset_by_server;
    uint64_t unreachable;                  /* the server refused, or did not answer */
    uint64_t replaced;                     /* by a new connection from the same client's port */
    uint64_t failed;                       /* the system refused */
    uint64_t delayed, reset_by_rule;       /* calls, connections: faults */
    uint64_t udp_to_server, udp_to_client; /* datagrams that came */
    uint64_t udp_dropped;                  /* datagrams that could not be sent */
    uint64_t udp_refused;                  /* nobody listened at the server's port */
};

struct relay *relay_new(struct loop *loop, const struct relay_setup *setup, struct err *err);
/* Resets all connections. */
void relay_free(struct relay *relay); /* NULL is allowed */

/* Begins to relay to |server|: to it goes what comes to the addresses that are added next.  They
 * have the limits of connections together. */
int relay_add_server(struct relay *relay, const struct net_address *server, struct err *err);
/* Listens at an address for the server that was added last.  Sets |bound| (may be NULL). */
int relay_add(struct relay *relay, const struct net_address *listen, struct net_address *bound,
              struct err *err);
/* The same with |fd|, a socket that listens already, which the relay owns from then on. */
int relay_adopt(struct relay *relay, int fd, struct err *err);

/* Writes the descriptors of all sockets that listen, at most RELAY_LANES.  Returns how many. */
uint32_t relay_sockets(const struct relay *relay, int *fds);
/* Accepts no more connections, and ends the relaying of datagrams.  Connections stay. */
void relay_stop_listening(struct relay *relay);
void relay_stop_datagrams(struct relay *relay);

/* Accepts no connections until relay_go_on, and does not use the table of ports; clients wait. */
int relay_pause(struct relay *relay, struct err *err);
/* Accepts connections with this table of ports, which replaces the one before. */
int relay_go_on(struct relay *relay, struct ports *ports, struct err *err);

/* Relays the datagrams that come to |listen|. */
int relay_add_udp(struct relay *relay, const struct net_address *listen,
                  const struct net_address *server, struct err *err);
/* Relays those again that relay_stop_datagrams has ended. */
int relay_resume_datagrams(struct relay *relay, struct err *err);

/* Writes RELAY_MARK with RELAY_MARK_SIZE bytes into the ring, if they are a new mark.  The relay
 * keeps the latest RELAY_MARKS. */
void relay_mark(struct relay *relay, const uint8_t *mark);

/* Writes all marks, and RELAY_OPEN entries of all connections into the ring, with RELAY_ANNOUNCED.
 */
void relay_announce(struct relay *relay);

const struct relay_counts *relay_counts(const struct relay *relay);
uint32_t relay_connections(const struct relay *relay); /* that are open */
uint32_t relay_flows(const struct relay *relay);       /* client addresses of UDP that are known */
void relay_listen_counts(const struct relay *relay, struct listen_counts *sum);

/* Calls |each| with every TCP connection that reached its server. */
void relay_each(const struct relay *relay,
                void (*each)(void *ctx, uint64_t number, const struct relay_open *open), void *ctx);

#endif
