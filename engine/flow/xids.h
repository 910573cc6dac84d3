/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/xids.h
 *
 * Which XIDs were used between pairs of hosts, as ranges.  Clients count their XIDs up, so a few
 * ranges hold them all.  If there would be more than XIDS_RANGES, the two nearest ones become one,
 * so a set can hold too much, but never too little.  Some count in network order, Linux in that of
 * the machine: so there are ranges of the numbers and of the numbers with their bytes swapped, and
 * an XID is in the set if it is in both.
 *
 * Over UDP a reply can come from another address of the server, so there the client alone counts.
 *
 * Memory: 176 bytes for each pair of hosts.
 */
#ifndef NFSDIGEST_FLOW_XIDS_H
#define NFSDIGEST_FLOW_XIDS_H

#include "base/table.h"
#include "link/frame.h"

enum { XIDS_RANGES = 16 };

struct xids_range {
    uint32_t first, last;
};

struct xids_ranges {
    uint32_t count;
    struct xids_range range[XIDS_RANGES]; /* in order and apart */
};

struct xids_pair {                 /* no padding */
    struct address client, server; /* |server| is all zeros over UDP */
    uint8_t zero[2];
    struct xids_ranges plain, swapped;
};

/* All zeros is an empty set. */
struct xids {
    struct xids_pair *pairs;
    uint32_t count, cap;
    struct table by_hosts;
};

/* Adds an XID.  |server| is NULL over UDP.  Returns 0 or -ERR_SYSTEM. */
int xids_add(struct xids *x, const struct address *client, const struct address *server,
             uint32_t xid);
void xids_free(struct xids *x);

/* Returns the pair, or NULL. */
const struct xids_pair *xids_find(const struct xids *x, const struct address *client,
                                  const struct address *server);

/* Returns true if the two have an XID in common, as far as their ranges tell. */
bool xids_meet(const struct xids_pair *a, const struct xids_pair *b);
bool xids_has(const struct xids_pair *pair, uint32_t xid);

/* Adds all ranges of |from|.  Returns 0 or -ERR_SYSTEM. */
int xids_merge(struct xids *x, const struct xids_pair *from);

#endif
