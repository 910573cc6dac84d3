/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/child.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The loop has blocked signals here, and ignores SIGPIPE. */
static int spawn(pid_t *pid, const char *const *argv, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, broken_pipe;
    int result;

    sigemptyset(&none);
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    result = posix_spawn_file_actions_init(&files);
    if (result)
        return result;
    result = posix_spawnattr_init(&how);
    if (result == 0) {
        posix_spawnattr_setsigmask(&how, &none);
        posix_spawnattr_setsigdefault(&how, &broken_pipe);
        result = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (result == 0 && out >= 0)
            result = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
        if (result == 0) /* which does not change the words */
            result = posix_spawn(pid, "/proc/self/exe", &files, &how, (char *const *)argv, environ);
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
    return result;
}

static int wait_for(struct child *child)
{
    int status = 0;

    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    child->pid = 0;
    if (child->watch.fd >= 0) {
        int fd = child->watch.fd;

        loop_unwatch(child->loop, &child->watch);
        close(fd);
    }
    return status;
}

static int on_end(void *ctx, uint32_t events, struct err *err)
{
    struct child *child = ctx;
    int status = wait_for(child);
    char how[80];

    (void)events;
    if (WIFEXITED(status)) {
        snprintf(how, sizeof(how), "ended with exit code %d", WEXITSTATUS(status));
        return child->ended(child->ctx, WEXITSTATUS(status), how, err);
    }
    snprintf(how, sizeof(how), "was ended by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
    return child->ended(child->ctx, ERR_SYSTEM, how, err);
}

int child_start(struct child *child, const char *const *argv, int out, struct err *err)
{
    pid_t pid;
    int result = spawn(&pid, argv, out);

    if (result)
        return err_set(err, ERR_SYSTEM, "a process for \"%s\": %s", argv[1], strerror(result));
    child->pid = pid;
    child->watch = (struct watch){
        .fd = (int)syscall(SYS_pidfd_open, pid, 0),
        .ready = on_end,
        .ctx = child,
    };
    if (child->watch.fd < 0)
        return err_set(err, ERR_SYSTEM, "pidfd_open: %s", strerror(errno));
    return loop_watch(child->loop, &child->watch, EPOLLIN, err);
}

void child_signal(const struct child *child, int signal)
{
    if (child->pid)
        kill(child->pid, signal);
}

void child_kill(struct child *child)
{
    if (!child->pid)
        return;
    kill(child->pid, SIGKILL);
    wait_for(child);
}
