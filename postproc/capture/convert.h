/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/convert.h
 *
 * Converts captures, one after the other as if they were one, into one output.
 */
#ifndef NFSDIGEST_CAPTURE_CONVERT_H
#define NFSDIGEST_CAPTURE_CONVERT_H

#include "capture/progress.h"
#include "engine.h"

struct conversion {
    /* Called when the first input proves to be a capture.  Opens the output and sets |engine|. */
    int (*open)(void *ctx, struct engine **engine, struct err *err);
    /* Called after all inputs were read.  |cut|: one of them was cut off. */
    int (*end)(void *ctx, bool cut, struct err *err);
    void *ctx;
    const struct progress *progress; /* or NULL */
};

/* Returns 0.  Returns ERR_INPUT if an input is cut off or not a capture; |progress| reports it, and
 * the others were converted.  After a negative code there is no output. */
int convert_captures(const struct conversion *conversion, int count, char **paths, struct err *err);

#endif
