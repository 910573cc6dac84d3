/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/rpc_answers.c
 *
 * A server that has nothing and gives each kind of answer: program 100003 version 3 over TCP and
 * UDP.  It prints its address and runs for so many seconds, or until SIGTERM.
 *
 *     rpc_answers ADDR:PORT SECONDS
 */
#include "net/rpc_server.h"
#include "wire/nfs3_numbers.h"

#include <stdio.h>
#include <stdlib.h>

enum { LATER = 20000000 }; /* ns */

static struct loop *loop;

/* What each procedure gets; those not named here: SERVERFAULT. */
enum answer { FAILS, LATE, TWICE, GARBAGE, SYSTEM, WEAK, NEVER, DROPS };

static const struct {
    enum answer answer;
    uint32_t results[4], count; /* RFC 1813: of a failure, without attributes */
} answers[22] = {
    [1] = { FAILS, { NFS3ERR_STALE }, 1 },       /* GETATTR */
    [2] = { FAILS, { NFS3ERR_PERM, 0, 0 }, 3 },  /* SETATTR */
    [3] = { LATE, { NFS3ERR_NOENT, 0 }, 2 },     /* LOOKUP */
    [4] = { GARBAGE },                           /* ACCESS */
    [5] = { SYSTEM },                            /* READLINK */
    [6] = { WEAK },                              /* READ */
    [7] = { TWICE, { NFS3ERR_NOSPC, 0, 0 }, 3 }, /* WRITE */
    [8] = { NEVER },                             /* CREATE */
    [12] = { DROPS },                            /* REMOVE */
};

struct later {
    struct timer timer;
    struct rpc_call *call;
};

static int give(struct rpc_call *call, struct err *err)
{
    struct xdr_put *to = rpc_reply_begin(call);
    uint32_t procedure = call->header.procedure;

    for (uint32_t i = 0; i < answers[procedure].count; i++)
        xdr_put_u32(to, answers[procedure].results[i]);
    return rpc_reply_end(call, NULL, err);
}

static int on_later(void *ctx, struct err *err)
{
    struct later *later = ctx;
    int result = give(later->call, err);

    rpc_call_free(later->call);
    free(later);
    return result;
}

static int give_later(struct rpc_call *call, struct err *err)
{
    struct later *later = calloc(1, sizeof(*later));

    if (!later)
        return err_memory(err, "a call");
    later->timer = (struct timer){ .due = on_later, .ctx = later };
    later->call = rpc_call_detach(call);
    if (!later->call) {
        free(later);
        return err_memory(err, "a call");
    }
    return loop_set(loop, &later->timer, loop_now(loop) + LATER, err);
}

static int on_call(void *ctx, struct rpc_call *call, struct err *err)
{
    (void)ctx;
    switch (answers[call->header.procedure].answer) {
    case LATE:
        return give_later(call, err);
    case TWICE:
        return give(call, err) < 0 ? -err->code : give(call, err);
    case GARBAGE:
        return rpc_reply_status(call, RPC_GARBAGE_ARGS, NULL, err);
    case SYSTEM:
        return rpc_reply_status(call, RPC_SYSTEM_ERR, NULL, err);
    case WEAK:
        return rpc_reply_auth_error(call, RPC_AUTH_TOOWEAK, err);
    case NEVER:
        return 0;
    case DROPS:
        rpc_call_drop(call);
        return 0;
    default:
        return give(call, err);
    }
}

static int on_stop(void *ctx, struct err *err)
{
    (void)ctx;
    (void)err;
    loop_stop(loop);
    return 0;
}

static int run(struct rpc_server *server, const char *address, double seconds, struct err *err)
{
    struct rpc_program program = { NFS3_PROGRAM, NFS3_VERSION, NFS3_VERSION, 22, on_call, NULL };
    struct timer stop_timer = { .due = on_stop };
    struct net_address at;
    char text[NET_ADDRESS_TEXT];

    if (rpc_server_add(server, &program, err) < 0 ||
        net_address_parse(address, true, &at, err) < 0 ||
        rpc_server_listen_both(server, &at, &at, err) < 0 || loop_take_signals(loop, err) < 0 ||
        loop_set(loop, &stop_timer, loop_clock() + (int64_t)(seconds * 1e9), err) < 0)
        return -err->code;
    printf("%s\n", net_address_text(&at, text));
    fflush(stdout);
    return loop_run(loop, err);
}

int main(int argc, char **argv)
{
    struct rpc_server *server = NULL;
    struct err err = { 0 };
    int result = -1;

    if (argc != 3) {
        fprintf(stderr, "usage: rpc_answers ADDR:PORT SECONDS\n");
        return 2;
    }
    loop = loop_new(&err);
    if (loop)
        server = rpc_server_new(loop, &RPC_SERVER_LIMITS, NULL, &err);
    if (server)
        result = run(server, argv[1], atof(argv[2]), &err);
    rpc_server_free(server);
    loop_free(loop);
    if (result < 0)
        fprintf(stderr, "rpc_answers: %s\n", err.text);
    return result < 0 ? err.code : 0;
}
