/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/stats.h
 *
 * Statistics of calls and replies, by procedure, client and export.
 *
 * Memory: 80 KiB, and some 100 bytes a client address, at most STATS_CLIENTS of them.  All further
 * clients are counted as one.
 */
#ifndef NFSDIGEST_SERVER_STATS_H
#define NFSDIGEST_SERVER_STATS_H

#include "base/table.h"
#include "net/address.h"
#include "server/service.h"

enum { STATS_CLIENTS = 4096, STATS_PROCEDURES = 32, STATS_BUCKETS = 40 };
enum stats_program { STATS_NFS, STATS_MOUNT, STATS_NFSACL, STATS_PORTMAP, STATS_PROGRAMS };

struct stats_row {
    uint64_t calls, errors;         /* |errors|: the status was not 0, or there was none */
    uint64_t bytes;                 /* read or written */
    uint64_t ns;                    /* total time from a call's arrival to its reply */
    uint64_t bucket[STATS_BUCKETS]; /* replies within 2^n ns, and not within 2^(n-1) */
};

struct stats_client {
    struct net_address address; /* without port; AF_UNSPEC: all clients that did not fit */
    uint64_t calls, errors, bytes;
};

struct stats_export {
    uint64_t calls, errors, bytes;
};

struct stats {
    struct stats_row rows[STATS_PROGRAMS][STATS_PROCEDURES];
    struct stats_client *clients; /* the first is for clients that did not fit */
    uint32_t client_count, client_cap;
    struct table table; /* of |clients|, by address */
    struct stats_export exports[EXPORTS_MAX];
};

struct stats_call {
    enum stats_program program;
    uint32_t procedure;
    const struct net_address *client;
    const struct export *export; /* NULL: none */
    bool failed;
    uint64_t bytes;
    int64_t ns;
};

int stats_init(struct stats *stats, struct err *err);
void stats_free(struct stats *stats);
void stats_add(struct stats *stats, const struct stats_call *call);

/* Returns an upper bound, ns, for the latency of |part| (0 to 1) of the row's calls. */
uint64_t stats_percentile(const struct stats_row *row, double part);

#endif
