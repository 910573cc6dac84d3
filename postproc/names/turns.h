/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/turns.h
 *
 * Reads the records of a piece in the order in which its engine took calls and replies.
 *
 * A stream has an operation when it is complete.  So records are read ahead, and kept, until all
 * calls are there that were taken before the reply of the next one.  NAME.order says which these
 * are.
 *
 * Memory: the operations that were read ahead, with their results; 24 bytes for each operation of
 * the piece.
 */
#ifndef NFSDIGEST_NAMES_TURNS_H
#define NFSDIGEST_NAMES_TURNS_H

#include "base/arena.h"
#include "capture/input.h"
#include "flow/naming.h"
#include "names/flows.h"
#include "pieces/border.h"
#include "pieces/order.h"
#include "record/blocks.h"

enum { TURNS_DECODED = 8 /* records that are decoded early, to fetch what they need */ };

struct turns_slot {          /* of an operation that began in the piece */
    struct waiting *waiting; /* with its reply, if it has one */
    uint32_t host;
    uint32_t recent; /* the caller's */
    bool taken;      /* its call was given to the caller */
};

/* A record whose turn it is: of an operation, or another one. */
struct turned {
    struct turns_slot *slot; /* of an operation whose call was taken here, or NULL */
    struct waiting
        *waiting;          /* the operation; the caller frees it, and sets slot->waiting to NULL */
    struct record *record; /* the other one; valid until the next is read */
};

struct turns_kept {          /* a record that was read ahead */
    struct waiting *waiting; /* of an operation without a slot */
    struct record *record;
    uint32_t slot; /* + 1 */
};

/* The caller takes the call: |slot|'s operation has the ids of the piece, and its own frames. */
typedef int turns_call(void *ctx, struct turns_slot *slot, struct err *err);

struct turns {
    char path[4096];
    const struct border *border;
    const struct order *order;
    struct objects *objects; /* of the capture: gives ids to hosts */
    struct piece_flows flows;
    uint64_t base; /* frames of the capture before the piece */
    turns_call *call;
    void *ctx;
    struct input *input;
    struct block_reader blocks;
    struct record decoded[TURNS_DECODED]; /* of one block, from |decoded_first| on */
    uint64_t hashes[TURNS_DECODED];       /* of the handles in their calls */
    uint32_t decoded_first, decoded_count;
    struct turns_kept *kept; /* from |kept_first| on, as they come */
    uint32_t kept_first, kept_count, kept_cap;
    struct record *record;    /* the caller has it */
    struct turns_slot *slots; /* by id - order->lead_operation - 1 */
    uint32_t slot_count, slot_cap;
    uint32_t next;   /* the first slot whose call was not taken */
    uint32_t *hosts; /* of objects, by the ids of the piece */
    uint32_t host_count, host_cap;
    struct record_credential *credentials; /* by the ids of the piece */
    uint32_t credential_count, credential_cap;
    struct address server; /* of the object read last, */
    uint32_t server_host;  /* and its host; 0: there was none */
    struct arena arena;
    size_t turn;         /* in order->turns */
    uint64_t seen;       /* operations that were read, */
    uint64_t operations; /* and whose turn came */
};

/* Opens the piece |name|.  The members from |border| to |ctx|, and flows.flows, are set. */
int turns_open(struct turns *t, const char *name, struct err *err);
void turns_close(struct turns *t);

/* Gives the next record of the piece, after all calls before it were taken.  Its frames are those
 * of the capture; its ids are those of the piece, except those of a slot, which the caller set when
 * it took the call.  Records are passed over that the pass makes itself.  Returns 1, 0 at the end,
 * or a negative code. */
int turns_next(struct turns *t, struct turned *next, struct err *err);

/* Returns the slot of an operation that began in the piece and was taken, or NULL. */
struct turns_slot *turns_slot(struct turns *t, uint64_t id);

/* Whether the operation that was read last only waits at the end of the piece. */
bool turns_at_end(const struct turns *t);

/* Counts a frame over the capture.  0 stays 0. */
static inline uint64_t turns_frame(const struct turns *t, uint64_t frame)
{
    return frame ? frame - t->border->lead + t->base : 0;
}

#endif
