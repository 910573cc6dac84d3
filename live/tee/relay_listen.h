/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/relay_listen.h
 *
 * Where nfstee relay listens for one program: at every address that a name has, over TCP and UDP,
 * with the sockets of a predecessor where it had them.
 */
#ifndef NFSDIGEST_TEE_RELAY_LISTEN_H
#define NFSDIGEST_TEE_RELAY_LISTEN_H

#include "relay/hand_over.h"
#include "relay/relay.h"

/* Sockets of a predecessor. */
struct relay_taken {
    int sockets[HAND_OVER_SOCKETS]; /* -1: it is used */
    int count;
};

struct relay_place {
    const char *name;          /* for people: "NFS" */
    const char *listen;        /* ADDRESS:PORT */
    bool free_port;            /* the address of |listen| alone: any free port */
    struct net_address server; /* with the port of TCP */
    uint16_t udp_port;         /* the server's; 0: no datagrams */
    /* Is told of each address; NULL: nobody is. */
    void (*tell)(const char *name, const struct net_address *at, const struct net_address *server);
};

/* Sets |bound| to the last of the addresses; all have the same port. */
int relay_listen(struct relay *relay, const struct relay_place *place, struct relay_taken *taken,
                 struct net_address *bound, struct err *err);

/* Closes what was not used. */
void relay_taken_close(struct relay_taken *taken);

#endif
