/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/stream_ends.h
 *
 * Pairs operations across .nfsr streams.  Streams that were recorded from rotated captures can have
 * a call in one stream and its reply in the next one, or a retransmission in another stream than
 * the first call.  This keeps the operations near the ends of streams that the next stream may
 * continue.  (Captures need none of this: the engine carries its state from one to the next.)
 *
 * Memory: STREAM_ENDS_MAX entries of 48 bytes.  They are the latest operations of the database.  At
 * most half of them are unpaired.
 */
#ifndef NFSDIGEST_STORE_STREAM_ENDS_H
#define NFSDIGEST_STORE_STREAM_ENDS_H

#include "base/err.h"
#include "base/table.h"
#include "flow/options.h"

enum { STREAM_ENDS_MAX = 262144 };
#define STREAM_ENDS_REPLY_SPAN ENGINE_RETRANSMIT_SPAN /* ns from a call to its reply, at most */
/* The time in ns by which a reply may come before its call.  It is shorter over UDP, where a later
 * call is a retransmission. */
#define STREAM_ENDS_REORDER_SPAN ENGINE_HOLD_SPAN
#define STREAM_ENDS_REORDER_SPAN_UDP ENGINE_REORDER_SPAN

enum stream_ends_kind {
    STREAM_ENDS_CALL,     /* without a reply */
    STREAM_ENDS_REPLY,    /* without a call */
    STREAM_ENDS_ANSWERED, /* a call with its reply */
};

struct stream_ends_entry {
    uint64_t key;      /* stream_ends_key */
    int64_t operation; /* row */
    int64_t time;
    uint16_t client_port, server_port;
    uint8_t transport;
    uint8_t kind; /* enum stream_ends_kind */
};

/* Operation |from| of this stream is the same as operation |to| of the database. */
struct stream_ends_join {
    int64_t from, to;
};

struct stream_ends {
    struct stream_ends_entry *entries;
    uint32_t count;
    uint32_t live; /* entries that were not removed */
    struct table table;
    struct stream_ends_join *joins;
    uint32_t join_count, join_cap;
    struct table join_table; /* by |from| */
};

void stream_ends_free(struct stream_ends *ends);

/* Returns 0 or -ERR_SYSTEM. */
int stream_ends_add(struct stream_ends *ends, const struct stream_ends_entry *entry,
                    struct err *err);

/* Returns the next entry of this kind with |key|, or NULL.  Start with *|at| = UINT32_MAX. */
struct stream_ends_entry *stream_ends_find(struct stream_ends *ends, uint64_t key,
                                           enum stream_ends_kind kind, uint32_t *at);

void stream_ends_remove(struct stream_ends *ends, struct stream_ends_entry *entry);

/* Remembers that operation |from| is the same as |to|.  Returns 0 or -ERR_SYSTEM. */
int stream_ends_join(struct stream_ends *ends, int64_t from, int64_t to, struct err *err);
/* Returns the operation that |from| was joined with, or |from|. */
int64_t stream_ends_joined(const struct stream_ends *ends, int64_t from);

/* Returns a hash of the client, server and XID.  The addresses are texts. */
uint64_t stream_ends_key(const char *client, const char *server, uint32_t xid);

#endif
