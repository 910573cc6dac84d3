/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/host.h
 *
 * Hosts by their addresses.  A server can have several addresses (IPv4 and IPv6, trunks, failover).
 * They are known only by configuration, because nothing on the wire shows them.
 */
#ifndef NFSDIGEST_FLOW_HOST_H
#define NFSDIGEST_FLOW_HOST_H

#include "base/err.h"
#include "link/frame.h"

enum { SAME_SERVERS_MAX = 64 };

struct same_server {
    struct address address; /* a further address of |server| */
    struct address server;  /* never the |address| of another entry */
};

struct same_servers {
    struct same_server list[SAME_SERVERS_MAX];
    uint32_t count;
};

/* Adds "A=B": the server A is also reached at B.  Both may have been given before, in any order.
 * Returns 0 or -ERR_USAGE. */
int same_servers_add(struct same_servers *same, const char *text, struct err *err);

/* Returns the address under which the server at |address| is known: |address| itself, unless
 * another one was configured. */
const struct address *same_server(const struct same_servers *same, const struct address *address);

struct objects;

/* Returns the id of the host at an address, or 0 if the address was not seen before. */
uint32_t host_find(const struct objects *o, const struct address *address);

/* Returns the id of the host at an address, and adds the host if it is new.  Returns 0 if there is
 * no memory. */
uint32_t host_id(struct objects *o, const struct address *address);

#endif
