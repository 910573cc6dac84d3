/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/turns.h
 *
 * Reads the records of a piece in the order in which its engine took calls and replies.
 *
 * A stream has an operation when it is complete.  So it is read twice at the same time: one reader
 * runs ahead until it has found all calls that were taken before the reply that the other one
 * comes to.  NAME.order says which these are.
 *
 * Memory: the calls between the two readers; 24 bytes for each operation of the piece.
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

struct turns_reader {
    struct input *input;
    struct block_reader blocks;
    uint64_t records; /* read */
    bool ended;
};

struct turns_slot { /* of an operation that began in the piece */
    struct waiting *waiting;
    uint32_t host;
    bool taken; /* its call was given to the caller */
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
    struct turns_reader ahead, behind;
    struct turns_slot *slots; /* by id - order->lead_operation - 1 */
    uint32_t slot_count, slot_cap;
    uint32_t next;   /* the first slot whose call was not taken */
    uint32_t *hosts; /* of objects, by the ids of the piece */
    uint32_t host_count, host_cap;
    struct record_credential *credentials; /* by the ids of the piece */
    uint32_t credential_count, credential_cap;
    struct arena arena;
    size_t turn;         /* in order->turns */
    uint64_t seen;       /* operations read by |ahead|, */
    uint64_t operations; /* and by |behind| */
};

/* Opens the piece |name|.  The members from |border| to |ctx|, and flows.flows, are set. */
int turns_open(struct turns *t, const char *name, struct err *err);
void turns_close(struct turns *t);

/* Reads the next record of the piece, after all calls before it were taken.  Its frames are those
 * of the capture; its ids are those of the piece.  Returns 1, 0 at the end, or a negative code. */
int turns_next(struct turns *t, struct record *record, struct err *err);

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
