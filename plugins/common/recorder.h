/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/recorder.h
 *
 * A statistic of tshark that passes every frame to an engine and writes a file, from its option
 * string to its exit status.  In programs other than tshark it only prints what to do instead.
 *
 * The engine works in its own thread, unless Wireshark removes the headers.
 */
#ifndef NFSDIGEST_PLUGINS_RECORDER_H
#define NFSDIGEST_PLUGINS_RECORDER_H

#include "base/output.h"
#include "options.h"

/* The recording functions of a plugin.  |state| belongs to the plugin. */
struct recorder_type {
    const struct option_set *options;
    const char *elsewhere; /* the message in a program with a window */
    const char *stream;    /* the output in words if it has no name: "the stream" */
    /* Opens |*file|, which the recorder then owns, also after an error.  Returns the plugin's
     * state, or NULL after an error. */
    void *(*open)(const struct options *options, struct output **file, struct err *err);
    struct engine *(*engine)(void *state);
    int (*flush)(void *state, struct err *err);
    int (*end)(void *state, bool input_cut, struct err *err);
    void (*summary)(void *state, const struct options *options); /* called after success; or NULL */
    void (*close)(void *state);
};

/* Adds -z NAME.  |type| must live as long as the program. */
void recorder_register(const struct recorder_type *type);

#endif
