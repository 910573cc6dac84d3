/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/janitor.h
 *
 * A child process that removes a folder, with all that is in it, as soon as this process has ended
 * or says so: also when it was killed.
 */
#ifndef NFSDIGEST_BASE_JANITOR_H
#define NFSDIGEST_BASE_JANITOR_H

#include "base/err.h"

#include <sys/types.h>

struct janitor { /* all zeros: there is none */
    pid_t pid;
    int fd; /* of a pipe, whose end it waits for */
};

/* Before there are threads.  After an error the folder is the caller's to remove. */
int janitor_start(struct janitor *janitor, const char *folder, struct err *err);
/* Returns when the folder is gone. */
void janitor_stop(struct janitor *janitor);

#endif
