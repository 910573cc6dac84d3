/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/feed.h
 *
 * Feeds a capture file to an engine, which works in its own thread.  The caller must not use the
 * engine, or the sink behind it, until this returns.  If the input is live, its struct live is
 * called in the meantime.
 */
#ifndef NFSDIGEST_CAPTURE_FEED_H
#define NFSDIGEST_CAPTURE_FEED_H

#include "capture/progress.h"
#include "engine.h"

struct feed {
    uint64_t frames;          /* given to the engine */
    bool cut;                 /* the file is cut or damaged after these; |err| says where */
    struct unopened unopened; /* what the engine has seen since its last pause */
};

/* Writes into |note| a text about the encapsulations, if there are any. */
void feed_note_unopened(const struct unopened *unopened, const char *name, struct err *note);

/* Gives all frames to the engine, numbered from |base| + 1.  |progress| may be NULL.  Returns 0,
 * also if the file was cut.  Returns a negative code if the file is not a capture or the engine
 * failed. */
int feed_capture(struct input *input, struct engine *engine, uint64_t base,
                 const struct progress *progress, struct feed *feed, struct err *err);

#endif
