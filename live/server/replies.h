/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/replies.h
 *
 * The duplicate request cache: replies to requests that must not be done twice, for clients that
 * send them again because a reply was lost.  A request is recognized as in knfsd
 * (linux/fs/nfsd/nfscache.c): XID, program, version, procedure, length, a digest of the first 256
 * bytes behind the RPC header, the client's address and port, and the transport.
 *
 * Memory: |entries| of some 120 bytes, and |bytes| of replies.  The oldest go first; a request that
 * is under way never goes.
 */
#ifndef NFSDIGEST_SERVER_REPLIES_H
#define NFSDIGEST_SERVER_REPLIES_H

#include "base/bytes.h"
#include "base/err.h"
#include "wire/rpc.h"

#include <sys/socket.h>

enum {
    REPLIES_ENTRIES = 16384,
    REPLIES_BYTES = 16 << 20,
    REPLIES_SECONDS = 120,
    REPLIES_DIGESTED = 256, /* bytes of the arguments */
};

struct replies;

struct replies_limits {
    uint32_t entries;
    uint64_t bytes;
    int64_t age; /* ns */
};

struct replies *replies_new(const struct replies_limits *limits, struct err *err);
void replies_free(struct replies *replies);

struct replies_request {
    const struct rpc_header *header;
    struct bytes arguments;
    const struct sockaddr *peer; /* AF_INET or AF_INET6 */
    bool datagram;
};

enum replies_state {
    REPLIES_NEW,       /* execute it, then call replies_keep or replies_drop */
    REPLIES_UNDER_WAY, /* its first copy is being executed: do not answer this one */
    REPLIES_DONE,      /* |reply| is the earlier answer */
    REPLIES_FULL,      /* execute it, but its reply cannot be kept */
};

/* Looks a request up, and notes it if it is new.  |now|: ns.  |*slot| is for the functions below
 * (REPLIES_NEW).  |reply| is valid until the next call. */
enum replies_state replies_begin(struct replies *replies, const struct replies_request *request,
                                 int64_t now, uint32_t *slot, struct bytes *reply);
/* Keeps the reply that was sent: the whole RPC message. */
void replies_keep(struct replies *replies, uint32_t slot, struct bytes reply);
/* Forgets the request, because it was not answered or may be executed again. */
void replies_drop(struct replies *replies, uint32_t slot);

struct replies_counts {
    uint32_t entries;
    uint64_t bytes, hits, under_way, misses, evicted;
};
void replies_count(const struct replies *replies, struct replies_counts *to);

#endif
