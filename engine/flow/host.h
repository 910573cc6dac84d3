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
    struct address address; /* also belongs to */
    struct address server;  /* which is never an |address| of another one */
};

struct same_servers {
    struct same_server list[SAME_SERVERS_MAX];
    uint32_t count;
};

/* Adds "A=B": the server A is also reached at B.  Both may have been given before, in any order.
 * Returns 0 or -ERR_USAGE. */
int same_servers_add(struct same_servers *same, const char *text, struct err *err);

/* The address under which the server at |address| is known: its own, unless another was given. */
const struct address *same_server(const struct same_servers *same, const struct address *address);

struct objects;

/* Id of the host at an address that was seen before; 0: it was not. */
uint32_t host_find(const struct objects *o, const struct address *address);

/* Id of the host at an address; 0: no memory. */
uint32_t host_id(struct objects *o, const struct address *address);

#endif
