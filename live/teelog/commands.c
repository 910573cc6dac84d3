/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/teelog/commands.c
 *
 * Runs the user's command for the first difference of each kind, one at a time, in a process group
 * of its own.  Nobody waits for it: a descriptor of the process tells the loop of its end.
 */
#include "teelog/teelog_parts.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { VARIABLES = 9, VARIABLE_MAX = 320 };

static void run_next(struct teelog *log);

static int ended(void *ctx, uint32_t events, struct err *err)
{
    struct teelog *log = ctx;
    int fd = log->command.watch.fd;

    (void)events, (void)err;
    loop_unwatch(log->loop, &log->command.watch);
    close(fd);
    waitpid(log->command.pid, NULL, WNOHANG);
    log->command.pid = 0;
    run_next(log);
    return 0;
}

static void describe(const struct teelog *log, const struct teelog_group *g,
                     char text[VARIABLES][VARIABLE_MAX])
{
    int i = 0;

    snprintf(text[i++], VARIABLE_MAX, "NFSTEE_LOG=%s", log->dir);
    snprintf(text[i++], VARIABLE_MAX, "NFSTEE_KIND=%s", teelog_kind_name(g->kind));
    snprintf(text[i++], VARIABLE_MAX, "NFSTEE_OPERATION=%s",
             g->procedure ? g->procedure->name : "");
    snprintf(text[i++], VARIABLE_MAX, "NFSTEE_FIELD=%s", g->field);
    snprintf(text[i++], VARIABLE_MAX, "NFSTEE_DIFFERENCE=%s", g->what);
    snprintf(text[i++], VARIABLE_MAX, "NFSTEE_REFERENCE=%s", g->text[REF]);
    snprintf(text[i++], VARIABLE_MAX, "NFSTEE_SUT=%s", g->text[SUT]);
    snprintf(text[i++], VARIABLE_MAX, "NFSTEE_PATH=%s", g->path);
    snprintf(text[i++], VARIABLE_MAX, "NFSTEE_TIME=%lld.%09lld", (long long)(g->time / 1000000000),
             (long long)(g->time % 1000000000));
}

/* The child gets no signals blocked and none ignored. */
static int attributes(posix_spawnattr_t *a)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawnattr_init(a) != 0)
        return -1;
    posix_spawnattr_setsigmask(a, &none);
    posix_spawnattr_setsigdefault(a, &all);
    posix_spawnattr_setpgroup(a, 0);
    posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                    POSIX_SPAWN_SETPGROUP);
    return 0;
}

static char **environment(char text[VARIABLES][VARIABLE_MAX])
{
    size_t count = 0;
    char **all;

    while (environ[count])
        count++;
    all = calloc(count + VARIABLES + 1, sizeof(*all));
    if (!all)
        return NULL;
    for (int i = 0; i < VARIABLES; i++)
        all[i] = text[i]; /* the first one of a name counts */
    memcpy(all + VARIABLES, environ, count * sizeof(*all));
    return all;
}

static bool spawn(struct teelog *log, const struct teelog_group *g)
{
    char shell[] = "sh", option[] = "-c", *command = strdup(log->options.on_mismatch);
    char *arguments[] = { shell, option, command, NULL };
    char text[VARIABLES][VARIABLE_MAX];
    posix_spawnattr_t how;
    bool ok = false;
    char **all;

    describe(log, g, text);
    all = environment(text);
    if (command && all && attributes(&how) == 0) {
        ok = posix_spawn(&log->command.pid, "/bin/sh", NULL, &how, arguments, all) == 0;
        posix_spawnattr_destroy(&how);
    }
    free(all);
    free(command);
    return ok;
}

static void run_next(struct teelog *log)
{
    struct err err;

    while (!log->command.pid && log->command.count) {
        const struct teelog_group *g = &log->groups[log->command.waiting[0]];
        int fd;

        memmove(log->command.waiting, log->command.waiting + 1,
                --log->command.count * sizeof(log->command.waiting[0]));
        if (!spawn(log, g)) {
            log->command.pid = 0;
            log->counts.commands_left++;
            continue;
        }
        log->counts.commands++;
        fd = (int)syscall(SYS_pidfd_open, log->command.pid, 0);
        log->command.watch = (struct watch){ .fd = fd, .ready = ended, .ctx = log };
        if (fd >= 0 && loop_watch(log->loop, &log->command.watch, EPOLLIN, &err) == 0)
            return;
        if (fd >= 0)
            close(fd);
        log->command.watch.fd = -1;
        return; /* its end cannot be known: no further command */
    }
}

void tee_command(struct teelog *log, uint32_t group)
{
    if (!log->options.on_mismatch)
        return;
    if (log->command.count == COMMANDS_WAITING) {
        log->counts.commands_left++;
        return;
    }
    log->command.waiting[log->command.count++] = group;
    run_next(log);
}

/* What runs goes on. */
void tee_command_free(struct teelog *log)
{
    int fd = log->command.watch.fd;

    if (fd < 0)
        return;
    loop_unwatch(log->loop, &log->command.watch);
    close(fd);
}
