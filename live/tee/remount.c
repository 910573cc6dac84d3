/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/remount.h"
#include "net/mount_client.h"

#include <string.h>

#define PAUSE INT64_C(1000000000) /* ns */

static int ask(struct remount *r, struct err *err);

static int on_again(void *ctx, struct err *err)
{
    struct remount *r = ctx;
    struct rpc_client *client = r->client;

    r->client = NULL;
    rpc_client_free(client);
    return ask(r, err);
}

static int on_mounted(void *ctx, const struct mount_answer *answer, struct err *err)
{
    struct remount *r = ctx;

    if (!r->client) /* freed */
        return 0;
    if (!answer->problem)
        return r->done(r->ctx, answer->handle, err);
    return loop_set(r->loop, &r->again, loop_now(r->loop) + PAUSE, err);
}

static int ask(struct remount *r, struct err *err)
{
    const char *path = r->target->address.path;
    const struct mount_question question = { .version = 3,
                                             .procedure = MOUNT_MNT,
                                             .path = { (const uint8_t *)path,
                                                       (uint32_t)strlen(path) },
                                             .credential = &r->target->credential };
    struct rpc_client_setup setup = { .server = r->target->mount,
                                      .from = r->target->from,
                                      .limits = rpc_client_defaults };
    const struct rpc_client_host host = { .ctx = r };

    setup.limits.timeout = setup.limits.connect = 10 * PAUSE;
    r->client = rpc_client_new(r->loop, &setup, &host, err);
    return r->client ? mount_call(r->client, &question, on_mounted, r, err) : -err->code;
}

void remount_init(struct remount *r)
{
    r->client = NULL;
    r->again = (struct timer){ .due = on_again, .ctx = r };
}

int remount_begin(struct remount *r, struct err *err)
{
    return loop_set(r->loop, &r->again, loop_now(r->loop), err);
}

void remount_free(struct remount *r)
{
    struct rpc_client *client = r->client;

    if (!r->loop)
        return;
    loop_unset(r->loop, &r->again);
    r->client = NULL;
    rpc_client_free(client);
}
