/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/live.h
 *
 * Reads a file that another program is still writing, or a pipe, as one that has no end yet: where
 * there is nothing more to read, it waits.  Files are polled, since that works on every file
 * system.  Whoever reads may ask to be called when the engine has consumed all that was read, so
 * that it can commit or print.
 *
 * All functions are called from the thread that reads.
 */
#ifndef NFSDIGEST_CAPTURE_LIVE_H
#define NFSDIGEST_CAPTURE_LIVE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    LIVE_POLL_MS = 100,   /* between two looks at a file that does not grow */
    LIVE_QUIET_MS = 500,  /* once it is ending, a pipe without data for so long is at its end */
    LIVE_DRAIN_MS = 5000, /* and so is every pipe after this time */
};

struct live {
    /* Called from time to time while there is nothing to read.  Returns 1 to wait, 0 if no more is
     * expected, or a negative code.  What is there already is still read after 0. */
    int (*still)(void *ctx, struct err *err);
    /* Returns true if the user wants to end: only what is there is then read.  Called often. */
    bool (*stopped)(void *ctx);
    /* Returns true if |rest| is wanted now.  Called often. */
    bool (*due)(void *ctx);
    /* Called when the engine has consumed all frames so far, so that it and its sink can be used.
     */
    int (*rest)(void *ctx, struct err *err);
    /* Bytes were read. */
    void (*came)(void *ctx);
    void *ctx;

    /* Set while an engine works in another thread: waits until it has consumed all frames. */
    int (*drain)(void *worker, struct err *err);
    void *worker;
};

/* Calls |rest| if it is due.  Returns 0 or a negative code. */
int live_rest(struct live *live, struct err *err);

/* The reading of one input.  Begin with all zeros, |live| and |fd|. */
struct live_read {
    struct live *live;
    int fd;
    bool ending;    /* |still| has said 0, |stopped| true, or live_end was called */
    uint64_t at;    /* bytes read */
    uint64_t limit; /* of a file that is ending: its size at that moment */
    int64_t ends;   /* of a pipe that is ending: when at the latest, ms */
};

/* As read(2), but waits.  Returns 0 at the end, which is final.  -ERR_SYSTEM: errno is set. */
ssize_t live_read(struct live_read *read, void *data, size_t len, struct err *err);

/* From now on only what is there is read. */
void live_end(struct live_read *read);

#endif
