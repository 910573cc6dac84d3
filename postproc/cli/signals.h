/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/signals.h
 *
 * SIGINT, SIGTERM and SIGHUP.  A thread waits for them.  It undoes what is unfinished
 * (base/cleanup.h), prints a message, and ends the process by the same signal, so that the parent
 * process sees it.  Signals that are ignored when the program begins stay ignored.
 */
#ifndef NFSDIGEST_CLI_SIGNALS_H
#define NFSDIGEST_CLI_SIGNALS_H

#include "base/err.h"

#include <stdatomic.h>

/* Call this before other threads exist: they inherit the mask that keeps the signals from them. */
int signals_begin(struct err *err);

/* From now on the first signal only sets *|flag|, for a command that ends in its own time; the
 * second one ends the process. */
void signals_catch(atomic_bool *flag);

/* Call this before the process ends by itself.  After it, signals no longer end the process. */
void signals_end(void);

#endif
