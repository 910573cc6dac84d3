/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/common/run.h
 *
 * A run of tshark in which one or several plugins record.  All recorders share one listener on the
 * "frame" tap and one exit handler.  They also share the choice of what Wireshark dissects:
 * nothing, unless one of them needs what is behind IP headers.
 *
 * Plugins know nothing of each other.  The first recorder starts the run, and makes it known
 * through GLib to plugins of the same version.  The run calls a recorder through its functions,
 * which are those of its own plugin.
 *
 * The run ends in two steps.  libwireshark calls the tap's draw callback when the capture was read
 * to its end, but not when the user interrupted it.  Only tshark's exit status says whether that
 * end was clean.  So outputs are finished in an exit handler.  It also sets the exit status if a
 * plugin has an error.  (A plugin stays loaded until then: see -z nodelete.)
 */
#ifndef NFSDIGEST_PLUGINS_RUN_H
#define NFSDIGEST_PLUGINS_RUN_H

#include "base/err.h"
#include "link/frame.h"

/* How tshark's work ended. */
struct run_end {
    int status;       /* its own exit status */
    bool any_frame;   /* false: it has read nothing */
    bool read_to_end; /* false: interrupted */
};

/* The beginning of a recorder.  Its functions report their errors themselves. */
struct run_member {
    const char *name; /* of the statistic */
    const char *out;  /* FILE, or "-" */
    bool decap_wireshark;
    struct err err; /* its error */
    /* Takes a frame.  With decap_wireshark only |payloads| count.  Returns 0 or a negative code. */
    int (*frame)(struct run_member *member, const struct frame *frame,
                 const struct ip_payload *payloads, unsigned count);
    /* Writes out what is there, because a live capture waits for packets. */
    int (*pause)(struct run_member *member);
    /* Completes the output.  Returns the exit status for the run: |end->status| after success. */
    int (*finish)(struct run_member *member, const struct run_end *end);
    void (*free)(struct run_member *member);
    /* only the run uses these */
    struct run_member *next;
    bool failed;
};

/* Makes sure that an incomplete file is removed if a signal ends the process before tshark handles
 * signals itself.  Call it before a file is made. */
void run_catch_signals(void);

/* Checks if a recorder with this name and output may start.  -ERR_USAGE if there is one already. */
int run_admits(const char *name, const char *out, struct err *err);
/* Adds a recorder, before the capture is read.  After 0 the run owns |member|. */
int run_join(struct run_member *member, struct err *err);

/* Returns true if a run is on.  The tree mode is then off. */
bool run_is_on(void);

/* Prints a message of the statistic |name| on standard error. */
void run_say(const char *name, const char *text);

#endif
