/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/join.h
 *
 * Tells of pieces in their order whether their records, one after the other, are those of one run
 * over the whole capture.  Only reads border files.
 *
 * A piece that cannot be proved must be made again, continuing the piece before it; so must the
 * piece before it, if the cause is older.  Each further time more is known, and a chain of pieces
 * that continue each other from the first one on is one run.
 *
 * Memory: the borders of two pieces, what earlier pieces left waiting, and 400 bytes for each piece
 * and 8 for each of its unfinished operations.
 */
#ifndef NFSDIGEST_PIECES_JOIN_H
#define NFSDIGEST_PIECES_JOIN_H

#include "pieces/border.h"

enum join_verdict {
    JOIN_EXACT, /* as in one run */
    JOIN_AGAIN, /* must be made again, continuing the piece before it */
};

/* What is known of a piece. */
struct join_result {
    enum join_verdict verdict;
    char why[192];    /* of JOIN_AGAIN */
    uint32_t carried; /* connections and calls that only earlier pieces know */
    uint32_t adopted; /* streams that stood still over the lead-in */
    bool last;        /* the capture ends with it */
    uint64_t frames, operations;
    uint64_t lead;   /* frames of its records before its own */
    uint64_t before; /* frames of all pieces before it: its records' frames are - lead + before */
    /* Ids of the operations behind its own ones, which wait at its end, that no later piece has.
     * Known once the next piece was taken. */
    uint64_t *unfinished;
    uint32_t unfinished_count, unfinished_cap;
};

struct join;

struct join *join_new(struct err *err);
void join_free(struct join *join);

/* Takes the next piece.  |name| is the path without ".border".  Returns -ERR_INPUT if a piece is
 * missing before it, comes twice or is of other options, or if its border is damaged; then it was
 * not taken. */
int join_add(struct join *join, const char *name, struct err *err);

/* Returns what is known of a piece, from 0.  It is valid until the next one is taken. */
const struct join_result *join_piece(const struct join *join, uint32_t number);
uint32_t join_count(const struct join *join);

/* Packs what is true behind the last piece, and unpacks it into a join that has just begun: that
 * goes on behind a piece of which nothing else is known.  join_restore: |in| fails if the bytes
 * cannot be right. */
struct unpack;
int join_save(const struct join *join, struct buf *out);
int join_restore(struct join *join, struct unpack *in, struct err *err);

#endif
