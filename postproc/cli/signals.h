/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/signals.h
 *
 * SIGINT, SIGTERM and SIGHUP: a thread waits for them, undoes what is half made (base/cleanup.h),
 * says a word, and has the process end by the same signal, so that whoever waits for it sees that.
 * Signals that are ignored when the program begins stay ignored.
 */
#ifndef NFSDIGEST_CLI_SIGNALS_H
#define NFSDIGEST_CLI_SIGNALS_H

#include "base/err.h"

/* Before there are other threads: these inherit that the signals are not theirs. */
int signals_begin(struct err *err);

/* Before the process ends by itself: from now on it ends so, or has been ended by a signal. */
void signals_end(void);

#endif
