/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/ports.h
 *
 * From which port the relay connects to the server for a client.  It is the client's own, unless
 * another client has the same and came first.  Which port such a client got instead stands in a
 * table, so that it gets the same again: in a file that outlives the relay, if there is one.
 *
 * The file has a line of 32 bytes, "NFSTEE-PORTS 1" and zeros, and PORTS_MAX entries of struct
 * port_entry.  Nothing is lost with it but these choices.
 *
 * Memory: PORTS_MAX * 32 bytes.  Above PORTS_MAX, the entry that was used least lately goes.
 */
#ifndef NFSDIGEST_RELAY_PORTS_H
#define NFSDIGEST_RELAY_PORTS_H

#include "net/address.h"

enum { PORTS_MAX = 4096 };

struct port_entry {
    uint8_t client[16]; /* IPv4 addresses are those of ::ffff:0:0/96 */
    uint16_t port;      /* the client's; */
    uint16_t ours;      /* and what the relay connects from; 0: a free entry */
    uint32_t zero;
    int64_t used; /* seconds since 1970 */
};

struct ports;

/* |path| NULL: the table is kept in memory.  A file that is not there is made.  -ERR_USAGE: the
 * file is something else, or another relay uses it. */
struct ports *ports_open(const char *path, struct err *err);
void ports_close(struct ports *ports); /* NULL is allowed */

/* Returns the port to connect from for |client|: its own, or that of the table. */
uint16_t ports_find(struct ports *ports, const struct net_address *client);
/* Notes that |client| got the port |ours|. */
void ports_note(struct ports *ports, const struct net_address *client, uint16_t ours);

uint32_t ports_count(const struct ports *ports); /* entries */

/* Writes an address as struct port_entry and struct relay_end have it. */
void ports_address(const struct net_address *from, uint8_t to[16]);

#endif
