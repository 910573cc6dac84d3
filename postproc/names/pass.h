/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/pass.h
 *
 * What is known while pieces are named, one after the other: for names.c, which opens and ends the
 * pass, piece_names.c, which takes a piece, and names_state.c, which keeps it for another day.
 */
#ifndef NFSDIGEST_NAMES_PASS_H
#define NFSDIGEST_NAMES_PASS_H

#include "flow/credential.h"
#include "names/names.h"
#include "names/recent.h"
#include "names/told.h"
#include "names/totals.h"
#include "names/turns.h"
#include "pieces/join.h"

struct pass_range {    /* ids of one engine that were those of pieces before */
    uint64_t from, to; /* behind |from|, up to |to| */
    uint64_t base;     /* |from| is this in the capture */
};

/* What the ids and frames of the engine of the present piece mean that are from before it.  A chain
 * of pieces that continue each other has one engine. */
struct pass_engine {
    struct pass_range *ranges;
    uint32_t range_count, range_cap;
    struct order_call *calls; /* of its lead-in, by id */
    uint32_t call_count;
};

struct pass_held { /* a reply without a call that waits at the end of a piece */
    struct waiting *reply;
    uint32_t host;
};

struct pass {
    const struct names_options *options;
    struct objects objects;
    struct credentials credentials;
    struct flows flows;
    struct told told;
    struct recent recent;
    struct totals totals;
    struct pass_engine engine;
    struct pass_held *held;
    uint32_t held_count, held_cap;
    uint64_t last_operation;
    uint64_t base;  /* frames of the capture before the present piece */
    uint32_t piece; /* number */
    int64_t retransmit_span;
    uint64_t identity; /* of the piece before */
    uint64_t strays;
};

/* |p| is all zeros.  |options| must outlive it; |out| is copied. */
int pass_begin(struct pass *p, const struct names_options *options, const struct sink *out,
               struct err *err);
void pass_free(struct pass *p);

/* Takes the piece |name|, the next one.  |needed|: earlier calls than this frame of the capture are
 * not referred to any more, behind it. */
int pass_piece(struct pass *p, const char *name, uint64_t needed, struct err *err);

/* Returns how many calls and replies wait. */
uint32_t pass_waiting(const struct pass *p);

/* Puts what still waits, because nothing follows. */
int pass_end(struct pass *p, struct err *err);

/* Writes what is known, and what |join| knows. */
int pass_save(const struct pass *p, const char *path, const struct join *join, struct err *err);
/* Reads it into a pass and a join that have just begun. */
int pass_restore(struct pass *p, const char *path, struct join *join, struct err *err);

#endif
