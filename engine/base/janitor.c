/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

/* In a session of its own, so that what ends the process from a terminal does not end this.  It
 * makes the folder itself: else a kill before it had begun would leave one. */
static void make_and_remove(int end, int said, char *folder)
{
    int why;
    char byte;

    setsid();
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    why = mkdtemp(folder) ? 0 : errno;
    /* if nobody is there to hear it, the end comes at once */
    if (write(said, &why, sizeof(why)) < 0 || write(said, folder, strlen(folder)) < 0)
        close(said);
    /* others wait for the ends of these */
    if (why || dup2(end, STDIN_FILENO) < 0 || close_range(STDIN_FILENO + 1, ~0u, 0) < 0)
        return;
    while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
        continue;
    nftw(folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* What was written at once is read at once. */
static bool hear(int said, void *to, size_t len)
{
    ssize_t n;

    while ((n = read(said, to, len)) < 0 && errno == EINTR)
        continue;
    return n == (ssize_t)len;
}

static int start(struct janitor *janitor, const int end[2], const int said[2], char *folder)
{
    int why;

    fflush(NULL); /* or the child would have it, too */
    janitor->pid = fork();
    if (janitor->pid < 0) {
        why = errno;
        janitor->pid = 0;
        close(end[0]);
        close(end[1]);
        close(said[1]);
        return why;
    }
    if (janitor->pid == 0) {
        close(end[1]);
        close(said[0]);
        make_and_remove(end[0], said[1], folder);
        _exit(0);
    }
    close(end[0]);
    close(said[1]);
    janitor->fd = end[1];
    if (!hear(said[0], &why, sizeof(why)) || (!why && !hear(said[0], folder, strlen(folder))))
        why = ECHILD;
    if (why)
        janitor_stop(janitor);
    return why;
}

int janitor_start(struct janitor *janitor, char *folder, struct err *err)
{
    int end[2], said[2], why;

    if (pipe2(end, O_CLOEXEC) < 0)
        return err_set(err, ERR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    if (pipe2(said, O_CLOEXEC) < 0) {
        why = errno;
        close(end[0]);
        close(end[1]);
        return err_set(err, ERR_SYSTEM, "cannot make a pipe: %s", strerror(why));
    }
    why = start(janitor, end, said, folder);
    close(said[0]);
    return why ? err_set(err, ERR_SYSTEM, "%.200s: cannot be made: %s", folder, strerror(why)) : 0;
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
