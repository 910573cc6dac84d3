/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/flows.h
 *
 * The connections of a whole capture, and which of them those of a piece are.
 *
 * A piece that saw the beginning of a connection knows its frame.  If it did not, the connection is
 * the latest one known between these ends.  A connection of the lead-in that no earlier piece knows
 * counts only when something refers to it.
 *
 * Memory: 120 bytes for each connection of the capture, 80 for each of the piece.
 */
#ifndef NFSDIGEST_NAMES_FLOWS_H
#define NFSDIGEST_NAMES_FLOWS_H

#include "base/table.h"
#include "flow/outline.h"
#include "record/record.h"

struct flows {
    struct record_flow *all; /* by id; 0 is none */
    uint32_t count, cap;
    struct table by_ends;
};

struct piece_flow {
    struct record_flow record; /* its frame is one of the capture */
    uint32_t id;               /* 0: not decided */
};

struct piece_flows {
    struct flows *flows;
    struct piece_flow *all; /* by the ids of the piece; 0 is none */
    uint32_t count, cap;
};

int flows_init(struct flows *f, struct err *err);
void flows_free(struct flows *f);
/* Adds a connection.  Returns its id, or 0 with |err| filled. */
uint32_t flows_add(struct flows *f, const struct record_flow *like, struct err *err);

/* Sets the key that the connection has in outlines. */
void flows_key(const struct record_flow *flow, struct outline_key *key);

void piece_flows_free(struct piece_flows *p);
/* Takes a record of the piece.  |at_once|: it began in the piece. */
int piece_flows_take(struct piece_flows *p, const struct record_flow *flow, bool at_once,
                     struct err *err);
/* Sets *|id| to that in the capture of one in the piece; 0 is none. */
int piece_flows_id(struct piece_flows *p, uint32_t of_piece, uint32_t *id, struct err *err);

#endif
