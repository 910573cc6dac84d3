/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/ingest/follow.h
 *
 * Ingests a capture or record stream that is still being written, or a folder with rotated ones,
 * while it grows.  The database is readable meanwhile, and marked as unfinished (store_follow).  In
 * the end it has the same rows as after an ingest of the same files.
 *
 * A file of a folder is at its end when a later one is there; a pipe when its writer closes it;
 * everything when |stopped| says so, or when nothing came for |idle|.  Then what is there is still
 * read, but no further file is begun.
 *
 * Memory: that of an ingest, and one entry for each name in the folder (folder.h).
 */
#ifndef NFSDIGEST_INGEST_FOLLOW_H
#define NFSDIGEST_INGEST_FOLLOW_H

#include "ingest/ingest.h"

enum follow_end {
    FOLLOW_ENDED,   /* the writer closed the pipe */
    FOLLOW_STOPPED, /* |stopped| */
    FOLLOW_IDLE,
};

struct follow {
    const char *path; /* a file, a folder, a pipe, or "-" */
    int64_t idle;     /* ns; 0: for ever */
    bool (*stopped)(void *ctx);
    /* After each file: the result of ingest_live, with its texts. */
    void (*told)(void *ctx, const char *path, int result, const struct err *note,
                 const struct err *err);
    /* Called often; it may look at |so_far|. */
    void (*tick)(void *ctx); /* or NULL */
    void *ctx;
    const struct progress *progress;

    /* results: */
    enum follow_end end;
    struct follow_totals {
        uint64_t files, frames, operations, retransmissions;
        uint64_t cut, unusable;                /* of the files */
        uint64_t vanished, grown, other, left; /* see folder.h */
    } totals;
    struct follow_totals so_far; /* with the committed operations of the file that is being read */
    char lost[512];              /* the file that vanished or grew last, or "" */
};

/* Returns 0, also if files were cut or unusable, or a negative code: the database is unfinished
 * then. */
int follow_run(struct store *store, const struct engine_options *options, struct follow *follow,
               struct err *err);

#endif
