/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay_parts.h
 *
 * Shared by the files of the relay: relay.c accepts and connects, relay_pass.c passes bytes on,
 * relay_long.c what is long, relay_copy.c writes the ring, relay_udp.c relays datagrams,
 * relay_inject.c injects faults.
 */
#ifndef NFSDIGEST_RELAY_RELAY_PARTS_H
#define NFSDIGEST_RELAY_RELAY_PARTS_H

#include "relay/relay.h"
#include "relay/relay_marks.h"

struct pair;

/* One end of a pair of connections. */
struct side {
    struct pair *pair;
    struct watch watch;
    int fd;
};

/* One direction. */
struct pass {
    struct side *from, *to;
    uint8_t *held; /* bytes that |to| did not take; NULL: none */
    uint32_t held_at, held_len;
    uint32_t may;         /* of |held_len|, may be sent now */
    uint64_t offset;      /* bytes that were read */
    bool ended, passed;   /* |from| was closed; |to| was told */
    bool more;            /* |from| may have bytes, or an end, of which epoll has told already */
    uint8_t expects_long; /* relay_long.c */
    uint16_t kind;        /* RELAY_TO_SERVER, RELAY_TO_CLIENT */
    struct relay_direction_counts *counts;
};

struct pair {
    struct relay *relay;
    struct lane *lane;
    uint64_t number;
    struct net_address client_address;
    struct relay_open ends; /* its offsets are unused */
    struct side client, server;
    struct pass to_server, to_client;
    bool connected;
    struct injection *injection; /* NULL: nobody looks at the bytes */
    struct pair *next, **self;
};

struct lane {
    struct relay *relay;
    struct listeners *listeners;
    struct net_address server, local; /* |local|: to connect from */
};

/* Where datagrams come, and where they go. */
struct udp_place {
    struct net_address listen, server;
};

struct relay {
    struct loop *loop;
    struct relay_setup setup;
    struct relay_counts counts;
    struct lane lanes[RELAY_LANES];
    uint32_t lane_count, open;
    uint64_t last_number;
    struct pair *pairs;
    struct relay_udp *udp; /* NULL: no datagrams are relayed */
    struct relay_marks marks;
    struct udp_place udp_places[RELAY_LANES];
    uint32_t udp_place_count;
    uint8_t chunk[RELAY_CHUNK]; /* what was read, until it is sent or held */
};

/* relay.c: ends a pair and frees it.  |why|: unless both sides have ended, both are reset. */
void relay_end(struct pair *pair, enum relay_why why);

/* Connects to |server| for |client|, from its port or that of the table; from another one of the
 * same kind if that is taken.  Returns the socket, or a negative code. */
int relay_connect(struct relay *relay, const struct net_address *local,
                  const struct net_address *server, const struct net_address *client, int type);
/* Finds the address that the relay connects from. */
int relay_find_local(const struct relay *relay, const struct net_address *server,
                     struct net_address *local, struct err *err);
void relay_set_end(struct relay_end *end, const struct net_address *address);
/* The same with an end of a socket. */
void relay_set_end_of(struct relay_end *end, int fd, bool peer);

/* relay_udp.c.  NULL is allowed. */
void relay_udp_free(struct relay_udp *udp);
void relay_udp_announce(struct relay_udp *udp);
uint32_t relay_udp_count(const struct relay_udp *udp);

/* relay_pass.c: begins to pass bytes of a pair that is connected.  The pair may be gone then. */
void relay_pass_begin(struct pair *pair);
/* Callback of both sides. */
int relay_pass_ready(void *ctx, uint32_t events, struct err *err);

/* What sending can lead to. */
enum {
    RELAY_GOES_ON,
    RELAY_RESET_BY_RECEIVER,
    RELAY_RESET_BY_SENDER,
    RELAY_NO_MEMORY,
    RELAY_RESET_BY_RULE,
};
/* What an |error| of a socket means for its connection: false: nothing, it goes on later. */
bool relay_is_gone(int error);
/* Sends |bytes|, of which |may| may be sent now.  What is not taken is held. */
int relay_send(struct pass *pass, struct bytes bytes, uint32_t may);
/* Counts bytes that were read. */
void relay_passed(struct pass *pass, uint32_t len);

/* Sends what may be sent.  The pair may be gone then. */
void relay_pass_go_on(struct pass *pass);

/* relay_long.c: notes how much was read.  |expects_long| is above 0 if long messages are likely. */
void relay_long_note(struct pass *pass, uint32_t got);
/* For a pair with a ring, without faults: passes long messages on.  false: there is something else
 * to read.  |result| is that of relay_send. */
bool relay_long(struct pass *pass, int *result);

/* relay_inject.c */
static inline bool relay_injects(const struct pair *pair)
{
    return pair->injection ||
           (pair->relay->setup.faults && faults_count(pair->relay->setup.faults));
}
/* Looks at |bytes|, which were read at |pass|->offset.  Returns how many may be passed on now; it
 * raises |pass|->may for the others when their time has come.  -1: the pair must be reset. */
int64_t relay_inject(struct pair *pair, struct pass *pass, struct bytes bytes);
void relay_inject_end(struct pair *pair);

/* relay_copy.c: entries of the ring; they do nothing without one. */
void relay_copy_open(struct pair *pair, uint16_t flags);
void relay_copy_bytes(struct pair *pair, const struct pass *pass, struct bytes bytes, int64_t time);
/* Where the next bytes are read to, at most |want|; relay_copy_end says how many came (ring.h). */
uint8_t *relay_copy_begin(struct pair *pair, uint32_t want, uint32_t *room);
void relay_copy_end(struct pair *pair, const struct pass *pass, uint32_t len, int64_t time);
void relay_copy_mark(struct pair *pair, uint16_t kind, uint64_t offset, uint16_t flags);
void relay_copy_marks(const struct relay *relay); /* all of them */
int64_t relay_copy_clock(void);                   /* ns since 1970 */

#endif
