/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/child.h
 *
 * Another command of this program as a process of its own, whose end a loop sees.  It goes on if
 * this process is killed.
 */
#ifndef NFSDIGEST_TEE_CHILD_H
#define NFSDIGEST_TEE_CHILD_H

#include "net/loop.h"

#include <sys/types.h>

struct child {
    struct loop *loop;
    /* It has ended.  |code|: its exit code, or ERR_SYSTEM if a signal ended it.  |how|: in words,
     * valid until it returns. */
    int (*ended)(void *ctx, int code, const char *how, struct err *err);
    void *ctx;
    pid_t pid; /* 0: it does not run */
    struct watch watch;
};

/* Starts it.  The first three members are set.  |argv| ends with NULL.  |out|: its standard output;
 * -1: this process's. */
int child_start(struct child *child, const char *const *argv, int out, struct err *err);
void child_signal(const struct child *child, int signal); /* nothing if it does not run */
/* Kills it if it runs, and waits for it; |ended| is not called. */
void child_kill(struct child *child);

#endif
