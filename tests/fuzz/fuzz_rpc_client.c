/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_rpc_client.c
 *
 * Bytes of a server for an RPC client with three calls outstanding, of the XIDs 1 to 3.  The first
 * byte says in pieces of which length they come.  Each call ends exactly once, and every message is
 * counted.
 */
#include "net/rpc_client_parts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 3 };

static int on_done(void *ctx, const struct rpc_answer *answer, struct err *err)
{
    uint8_t *done = ctx;

    (void)err;
    if (answer->xid < 1 || answer->xid > CALLS || done[answer->xid]++)
        abort();
    if (answer->outcome == RPC_ANSWERED) {
        if (answer->header->xid != answer->xid ||
            answer->body.len > answer->message.len - 8 * (answer->body.len > 0))
            abort();
        for (uint32_t i = 0; i < answer->body.len; i++) /* for the sanitizer */
            done[0] ^= answer->body.data[i];
    } else if (answer->outcome != RPC_CANCELLED) {
        abort();
    }
    return 0;
}

static int on_stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

static void run(struct loop *loop)
{
    struct idle stop = { .run = on_stop, .ctx = loop };
    struct err err;

    for (int i = 0; i < 2; i++) { /* an idle work may ask for another one */
        loop_idle(loop, &stop);
        if (loop_run(loop, &err) < 0)
            abort();
    }
}

static void feed(struct loop *loop, int fd, const uint8_t *data, size_t size)
{
    size_t step = size ? (size_t)(*data % 64 + 1) * (*data & 64 ? 64 : 1) : 1;

    step = step < size / 32 ? size / 32 : step; /* each piece is a round of the loop */

    for (size_t at = 1; at < size; at += step) {
        size_t left = size - at;

        if (send(fd, data + at, left < step ? left : step, MSG_NOSIGNAL) < 0)
            break; /* the client has closed */
        run(loop);
    }
    shutdown(fd, SHUT_WR);
    run(loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rpc_client_setup setup = { .limits = rpc_client_defaults };
    struct sockaddr_in *server = &setup.server.v4;
    struct rpc_target target = { 100003, 3, 0, NULL };
    struct rpc_client_stats stats;
    struct rpc_client *client;
    struct err err = { 0 };
    struct loop *loop = loop_new(&err);
    uint8_t done[CALLS + 1] = { 0 };
    int pair[2];

    server->sin_family = AF_INET;
    server->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->sin_port = htons(9); /* never connected to: */
    setup.limits.reconnect[0] = setup.limits.reconnect[1] = INT64_C(3600000000000);
    setup.limits.reply_max = 4096;
    client = loop ? rpc_client_new(loop, &setup, NULL, &err) : NULL;
    if (!client || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        abort();
    client->failures = 1;
    client->next_xid = 1;
    if (tcp_take(client, pair[0], &err) < 0)
        abort();
    for (int i = 0; i < CALLS; i++)
        if (rpc_client_call(client, &target, (struct bytes){ 0 }, on_done, done, &err) != 0)
            abort();
    run(loop);
    feed(loop, pair[1], data, size);
    stats = rpc_client_stats(client);
    if (stats.answers + stats.outstanding != CALLS || stats.late || stats.garbage > 1)
        abort();
    rpc_client_free(client);
    for (int i = 1; i <= CALLS; i++)
        if (done[i] != 1)
            abort();
    loop_free(loop);
    close(pair[1]);
    return 0;
}
