/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/progress.h
 *
 * Reports the progress of long work to the user.  Nothing below the command line prints; it calls
 * these functions instead.  Each of them may be NULL, and so may a whole struct progress.  Only one
 * thread at a time calls them.
 */
#ifndef NFSDIGEST_CAPTURE_PROGRESS_H
#define NFSDIGEST_CAPTURE_PROGRESS_H

#include "capture/input.h"

struct progress {
    /* Called from time to time while |input| is read.  |step| is a word for the work, or "". */
    void (*show)(void *ctx, const char *step, const struct input *input);
    /* Called when reading has ended for now. */
    void (*done)(void *ctx);
    /* Called with a message that people should read although the work goes on. */
    void (*say)(void *ctx, const char *text);
    void *ctx;
};

static inline void progress_show(const struct progress *p, const char *step,
                                 const struct input *input)
{
    if (p && p->show)
        p->show(p->ctx, step, input);
}

static inline void progress_done(const struct progress *p)
{
    if (p && p->done)
        p->done(p->ctx);
}

static inline void progress_say(const struct progress *p, const char *text)
{
    if (p && p->say)
        p->say(p->ctx, text);
}

#endif
