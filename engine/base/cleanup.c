/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cleanup.h"

#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct cleanup *latest;

void cleanup_hold(void)
{
    pthread_mutex_lock(&lock);
}

void cleanup_release(void)
{
    pthread_mutex_unlock(&lock);
}

void cleanup_enter(struct cleanup *cleanup, void (*undo)(void *ctx), void *ctx)
{
    cleanup_hold();
    *cleanup = (struct cleanup){ undo, ctx, latest, true };
    latest = cleanup;
    cleanup_release();
}

void cleanup_drop(struct cleanup *cleanup)
{
    cleanup_hold();
    for (struct cleanup **at = &latest; cleanup->entered && *at; at = &(*at)->next)
        if (*at == cleanup) {
            *at = cleanup->next;
            cleanup->entered = false;
            break;
        }
    cleanup_release();
}

void cleanup_unlink(void *ctx)
{
    unlink(ctx);
}

void cleanup_all(void)
{
    cleanup_hold();
    for (struct cleanup *at = latest; at; at = at->next)
        at->undo(at->ctx);
}
