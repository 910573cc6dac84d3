/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/border.h
 *
 * Calls and replies that had no counterpart in their own .nfsr stream, waiting for it in another
 * one: streams recorded from rotated captures part calls from replies, and retransmissions
 * from first copies, also of calls that were answered lately.  (Captures don't need this: the
 * engine's state is carried from one to the next.)
 *
 * Memory: BORDER_MAX entries of 48 bytes, the latest of the database: half of them unpaired ones.
 */
#ifndef NFSDIGEST_STORE_BORDER_H
#define NFSDIGEST_STORE_BORDER_H

#include "base/err.h"
#include "base/table.h"
#include "flow/options.h"

enum { BORDER_MAX = 262144 };
#define BORDER_REPLY_SPAN ENGINE_RETRANSMIT_SPAN /* ns from a call to its reply, at most */
/* ns by which a reply may come first; over UDP a later call is the same one sent again */
#define BORDER_REORDER_SPAN ENGINE_HOLD_SPAN
#define BORDER_REORDER_SPAN_UDP ENGINE_REORDER_SPAN

enum border_kind {
    BORDER_CALL,     /* without a reply */
    BORDER_REPLY,    /* without a call */
    BORDER_ANSWERED, /* a call with its reply */
};

struct border_entry {
    uint64_t key;      /* border_key */
    int64_t operation; /* row */
    int64_t time;
    uint16_t client_port, server_port;
    uint8_t transport;
    uint8_t kind; /* enum border_kind */
};

/* An operation of the stream that turned out to be one of the database. */
struct border_join {
    int64_t from, to;
};

struct border {
    struct border_entry *entries;
    uint32_t count;
    uint32_t live; /* entries that were not taken out */
    struct table table;
    struct border_join *joins;
    uint32_t join_count, join_cap;
    struct table join_table; /* by |from| */
};

void border_free(struct border *border);

/* 0 or -ERR_SYSTEM. */
int border_add(struct border *border, const struct border_entry *entry, struct err *err);

/* The next entry of a kind under |key|: NULL when there is none.  Start with *|at| = UINT32_MAX. */
struct border_entry *border_find(struct border *border, uint64_t key, enum border_kind kind,
                                 uint32_t *at);

void border_remove(struct border *border, struct border_entry *entry);

/* Remembers that |from| is |to|. 0 or -ERR_SYSTEM. */
int border_join(struct border *border, int64_t from, int64_t to, struct err *err);
/* What |from| is: itself, if nothing else was said. */
int64_t border_joined(const struct border *border, int64_t from);

/* Addresses as texts. */
uint64_t border_key(const char *client, const char *server, uint32_t xid);

#endif
