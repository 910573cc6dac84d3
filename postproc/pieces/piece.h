/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/piece.h
 *
 * Makes the records of a piece of a capture, on their own: NAME.nfsr, with NAME.border, which says
 * what join.h must know, NAME.state, with which a later piece can be made again, and NAME.order,
 * for the names of files (names/names.h).
 *
 * Behind the records of the piece, NAME.nfsr has the operations that still wait at its end.
 *
 * A piece is a range of bytes of an uncompressed capture file, or a whole file.  Its reader starts
 * a lead-in before the border, in the same file or at the end of the file before it.
 *
 * Memory: that of one engine.
 */
#ifndef NFSDIGEST_PIECES_PIECE_H
#define NFSDIGEST_PIECES_PIECE_H

#include "capture/progress.h"
#include "engine.h"

#define PIECE_LEAD_BYTES (UINT64_C(4) << 20)
#define PIECE_LEAD_TIME INT64_C(1000000000) /* ns */

struct piece {
    const char *path;
    uint64_t from, to;    /* bytes; 0 and UINT64_MAX: all */
    const char *before;   /* the file before it, for the lead-in; or NULL */
    const char *previous; /* the piece (NAME) whose state it continues, without a lead-in; or NULL
                           */
    bool last;            /* the capture ends with it: nothing waits any more */
    uint64_t lead_bytes;  /* the lead-in is at least so long */
    int64_t lead_time;
    const struct engine_options *options;
    const char *name; /* of the output, without .nfsr */
    const struct progress *progress;
};

struct piece_result {
    uint64_t from, to; /* bytes: where the packets begin and end */
    uint64_t lead, frames, operations, waiting;
    bool cut; /* the file is cut or damaged there; the text is in |note| */
    struct err note;
};

int piece_make(const struct piece *piece, struct piece_result *result, struct err *err);

#endif
