/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/range.h
 *
 * Some pieces that follow each other, as one piece: what the first one knew at its beginning, what
 * the last one and older ones know at the end, and what all of them asked of the time before.  So
 * ranges can be joined in any order, as a tree.  NAME.border can be a range, too.
 *
 * What is found of a piece holds under the condition that all pieces before it in the range are
 * right.  What needs the time before the range is left open.
 *
 * Memory: that of two borders, what was left waiting, and 450 bytes for each piece and 8 for each
 * of its unfinished operations.
 */
#ifndef NFSDIGEST_PIECES_RANGE_H
#define NFSDIGEST_PIECES_RANGE_H

#include "pieces/border.h"

enum join_verdict {
    JOIN_EXACT, /* as in one run */
    JOIN_AGAIN, /* must be made again, continuing the piece before it */
    JOIN_OPEN,  /* its border is not known: the pieces before it are missing */
};

/* What is known of a piece. */
struct join_result {
    char *name;
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

/* All zeros: no pieces. */
struct range {
    struct border first; /* the first piece, but for |past|, which is of all of them, and for */
                         /* end.flows: each connection as the first piece that knows it says; */
                         /* |faces.before| and |faces.renewed| are of all of them, too */
    struct border last;  /* the last one, without |after| and |past|; |faces.end| is what holds */
                         /* there by all of them */
    struct outline rest; /* what pieces before the last one know and it does not */
    struct join_result *pieces;
    uint32_t count, cap;
    uint64_t frames; /* of all of them */
    bool again;      /* one of them must be made again */
};

/* Makes a range of one piece.  |border| becomes the range's, also after a failure. */
int range_piece(struct range *range, const char *name, struct border *border, struct err *err);
void range_free(struct range *range);

/* Puts the pieces of |next| behind those of |range|, and empties |next|.  Returns 1 and does
 * nothing if |next| has several pieces that must be looked at one by one. */
int range_append(struct range *range, struct range *next, struct err *err);

/* Writes NAME.border; reads one of a range or of a piece. */
int range_write(const char *name, const struct range *range, struct err *err);
int range_read(const char *name, struct range *range, struct err *err);

#endif
