/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/janitor.h
 *
 * A child process that makes a folder, and removes it with its contents as soon as this process has
 * ended, even if it was killed, or calls janitor_stop.
 */
#ifndef NFSDIGEST_BASE_JANITOR_H
#define NFSDIGEST_BASE_JANITOR_H

#include "base/err.h"

#include <sys/types.h>

struct janitor { /* all zeros: there is none */
    pid_t pid;
    int fd; /* of a pipe; the janitor waits until it is closed */
};

/* Starts the janitor.  Call it before there are threads.  |folder| ends with XXXXXX, which become
 * the name that is free; its mode is 0700. */
int janitor_start(struct janitor *janitor, char *folder, struct err *err);
/* Lets the janitor remove the folder, and waits until it is gone. */
void janitor_stop(struct janitor *janitor);

#endif
