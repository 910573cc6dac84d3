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
    /* Called when the first of the inputs turns out to be a capture: opens the output and sets
     * |engine|. */
    int (*open)(void *ctx, struct engine **engine, struct err *err);
    /* All were read; |cut|: one of them not to its end. */
    int (*end)(void *ctx, bool cut, struct err *err);
    void *ctx;
    const struct progress *progress; /* or NULL */
};

/* Returns 0; ERR_INPUT if one of them is cut off or not a capture (|progress| reports it, and the
 * others were converted); or a negative code: there is no output. */
int convert_captures(const struct conversion *conversion, int count, char **paths, struct err *err);

#endif
