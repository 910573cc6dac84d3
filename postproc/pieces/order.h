/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/order.h
 *
 * The file NAME.order beside the records of a piece: what records do not say, and names need
 * (names/names.h).  One or two bytes for each operation say how many calls were taken before its
 * reply, because names depend on the order of both.  The lead-in's calls are listed, because
 * records of repeated messages mean them by their ids: some 7 bytes each.
 *
 * Its values are those of one build of this program on one kind of machine, as in border.h.
 *
 * Memory: the file, twice.
 */
#ifndef NFSDIGEST_PIECES_ORDER_H
#define NFSDIGEST_PIECES_ORDER_H

#include "base/bytes.h"
#include "base/err.h"

struct order_call { /* from before the border; no padding */
    uint64_t operation, frame;
    uint32_t xid, zero;
};

struct order {
    uint64_t identity;       /* of the border file that it belongs to */
    uint64_t lead_operation; /* the largest ids before the border */
    uint64_t lead_flow;
    int64_t retransmit_span;  /* ns */
    struct buf turns;         /* for each operation of the piece a number (LEB128) */
    struct order_call *calls; /* by id in what was read */
    uint32_t call_count, call_cap;
};

/* Of |turns|: they are read at once. */
#define ORDER_TURNS_MAX (UINT64_C(1) << 31)

/* Notes the next operation: |later| calls were taken since it began.  -ERR_USAGE: there are
 * ORDER_TURNS_MAX bytes of them. */
int order_turn(struct order *order, uint64_t later, struct err *err);
int order_note(struct order *order, const struct order_call *call, struct err *err);

/* Sorts the calls. */
int order_write(const char *path, struct order *order, struct err *err);
/* Reads into |order|.  Returns -ERR_INPUT if the file is damaged or of another build. */
int order_read(const char *path, struct order *order, struct err *err);
void order_free(struct order *order);

/* Finds one of |calls|, which were read, by its id; or returns NULL. */
const struct order_call *order_call_find(const struct order_call *calls, uint32_t count,
                                         uint64_t id);

/* Reads the next number of |turns| at *|at|.  Returns false if there is none. */
bool order_next(const struct order *order, size_t *at, uint64_t *later);

#endif
