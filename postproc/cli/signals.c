/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/signals.h"
#include "base/cleanup.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sigset_t ours;
static _Atomic(atomic_bool *) caught; /* or NULL */

static bool was_caught(void)
{
    atomic_bool *flag = atomic_load(&caught);

    return flag && !atomic_exchange(flag, true);
}

static void *wait_for_signal(void *ctx)
{
    char text[64];
    int number, len;

    (void)ctx;
    while (sigwait(&ours, &number) != 0 || was_caught())
        continue;
    cleanup_all();
    len = snprintf(text, sizeof(text), "nfsdigest: ended by SIG%s\n", sigabbrev_np(number));
    if (write(STDERR_FILENO, text, (size_t)len) < 0)
        len = 0; /* nobody listens */
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    raise(number);
    return NULL;
}

int signals_begin(struct err *err)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction now;
    pthread_t thread;
    int failed;

    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&ours, numbers[i]);
    pthread_sigmask(SIG_BLOCK, &ours, NULL);
    failed = pthread_create(&thread, NULL, wait_for_signal, NULL);
    if (failed)
        return err_set(err, ERR_SYSTEM, "cannot start a thread: %s", strerror(failed));
    pthread_detach(thread);
    return 0;
}

void signals_catch(atomic_bool *flag)
{
    atomic_store(&caught, flag);
}

void signals_end(void)
{
    cleanup_hold();
}
