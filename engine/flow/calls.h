/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/calls.h
 *
 * The calls that wait for their replies, and the calls that were answered recently.  The latter are
 * kept so that a retransmission is recognized.  Ids are slots; CALL_NONE is no call.
 *
 * Memory: at most |limit| waiting calls, which take at most |bytes| with their arguments; DONE_MAX
 * answered calls of 136 bytes; and their places in one table, or two over UDP.  Make room before
 * you add a call: calls_overdue says which call must go.  At most SAME_XID_MAX calls have the same
 * XID between the same two hosts, so searching them takes little time.
 */
#ifndef NFSDIGEST_FLOW_CALLS_H
#define NFSDIGEST_FLOW_CALLS_H

#include "base/table.h"
#include "record/record.h"
#include "wire/field.h"
#include "wire/rpc.h"

#define CALL_NONE TABLE_NONE

enum { DONE_MAX = 131072, WAITING_BYTES_MAX = 48 << 20, SAME_XID_MAX = 64 };

/* When and how a message was sent.  Distinguishes its copies from a retransmission. */
struct sending {
    uint32_t at;    /* time in units of 2^16 ns, modulo 2^32, but not 0; 0: there is none */
    uint32_t ip_id; /* see struct message */
};

/* A call that waits for its reply. */
struct waiting {
    struct record_operation operation; /* |arguments| points to |body| */
    const struct procedure *procedure; /* NULL: opaque */
    struct rpc_auth credential;        /* only what rpc_reply_in_clear reads */
    uint32_t port_program;             /* PORTMAP: the program asked for */
    uint32_t binds, removes;           /* roles of the names */
    uint32_t parent, parent2;          /* objects */
    uint32_t name_len, name2_len, root_path_len;
    uint32_t name_at, name2_at, root_path_at; /* in |body| */
    uint32_t size;                            /* of all this */
    uint8_t body[];
};

struct call {
    uint64_t hash, digest;
    uint64_t operation;           /* id */
    uint64_t frame;               /* of its first sighting */
    uint64_t reply_digest;        /* of the first reply, once answered */
    int64_t seen;                 /* clock of its latest sighting */
    struct waiting *waiting;      /* NULL once answered */
    uint32_t xid, server, client; /* hosts */
    uint32_t program, version, procedure;
    uint32_t flow, last_flow; /* records of the first and the latest sighting */
    uint32_t older, newer;    /* in its list, by |seen| */
    uint32_t cap_len, wire_len;
    struct sending sent, answered; /* the latest ones of call and reply */
    uint32_t ports;                /* over UDP: the client's << 16 | the server's; else 0 */
    uint32_t reply_after;          /* frames from its first sighting to its reply, */
    uint32_t again_after;          /* and to the latest further one */
    bool partial;  /* cap_len < wire_len: the digest is not that of the whole call */
    bool in_clear; /* its reply can be read */
    bool refused;  /* answered by an error of RPC */
    int8_t owed;   /* number of its sightings minus that of its replies */
};

struct call_list {
    uint32_t oldest, newest, count;
};

struct calls {
    struct call *pool;
    uint32_t used, cap, free; /* |free|: first of the chain through |newer| */
    struct table by_key;
    struct table by_client; /* those over UDP, by client and ports */
    struct call_list waiting, done;
    uint64_t bytes; /* of all struct waiting */
    uint32_t limit;
};

void calls_init(struct calls *c, uint32_t limit);
void calls_free(struct calls *c);

/* The key that a call and its reply share. */
struct call_key {
    uint64_t hash;
    uint32_t server, client, xid;
};

static inline uint64_t call_hash(uint32_t server, uint32_t client, uint32_t xid)
{
    uint64_t h = ((uint64_t)server << 32 | client) * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ xid) * UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    return h * UINT64_C(0xd6e8feb86659fd93);
}

static inline struct call_key call_key(uint32_t server, uint32_t client, uint32_t xid)
{
    return (struct call_key){ call_hash(server, client, xid), server, client, xid };
}

/* Iterate over the calls of one key.  CALL_NONE ends the iteration. */
uint32_t calls_first(const struct calls *c, const struct call_key *key, uint32_t *at);
uint32_t calls_next(const struct calls *c, const struct call_key *key, uint32_t *at);

/* Iterate over the calls over UDP from one port of a client to one port of any server.  The key has
 * the ports (struct call) in the place of the server. */
uint32_t calls_of_client(const struct calls *c, const struct call_key *key, uint32_t *at);
uint32_t calls_of_client_next(const struct calls *c, const struct call_key *key, uint32_t *at);

/* Adds a copy of |call| as the newest of its list, and takes over call->waiting.  Returns CALL_NONE
 * if there is no memory. */
uint32_t calls_add(struct calls *c, const struct call *call);
void calls_remove(struct calls *c, uint32_t id);
/* Notes that the call was seen again at |clock|.  It becomes the newest of its list. */
void calls_seen(struct calls *c, uint32_t id, int64_t clock);
/* Notes that the call was answered.  Frees its struct waiting. */
void calls_answered(struct calls *c, uint32_t id, uint64_t reply_digest);

/* Returns the oldest waiting call if it must go, else CALL_NONE.  It must go if it was last seen
 * before |horizon|, or if there are too many calls, counting one more of |more| bytes (0: no more).
 */
uint32_t calls_overdue(const struct calls *c, size_t more, int64_t horizon);
/* Returns the oldest answered call if it must go, else CALL_NONE. */
uint32_t calls_outdated(const struct calls *c, int64_t horizon);

#endif
