/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 8 };

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    remove(path);
    return 0; /* and go on with what can be removed */
}

/* In a session of its own, so that what ends the process from a terminal does not end this. */
static void wait_and_remove(int fd, const char *folder)
{
    char byte;

    setsid();
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    /* others wait for the ends of these */
    if (dup2(fd, STDIN_FILENO) < 0 || close_range(STDIN_FILENO + 1, ~0u, 0) < 0)
        return;
    while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
        continue;
    nftw(folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

int janitor_start(struct janitor *janitor, const char *folder, struct err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(err, ERR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL); /* or the child would have it, too */
    janitor->pid = fork();
    if (janitor->pid == 0) {
        close(ends[1]);
        wait_and_remove(ends[0], folder);
        _exit(0);
    }
    close(ends[0]);
    janitor->fd = ends[1];
    if (janitor->pid > 0)
        return 0;
    janitor->pid = 0;
    close(ends[1]);
    return err_set(err, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
}

void janitor_stop(struct janitor *janitor)
{
    if (!janitor->pid)
        return;
    close(janitor->fd);
    while (waitpid(janitor->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    janitor->pid = 0;
}
