/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_rpc_client.c
 *
 * What a NULL call costs live/net/rpc_client: one connection on loopback to a thread with an RPC
 * server, |outstanding| calls on it, each answer makes the next call.
 *
 *     bench_rpc_client [SECONDS [OUTSTANDING...]]     each measurement; 1 s; 1 8 64 1024
 *
 * It prints ns of the client's thread a call, in all, in user mode and in the kernel.
 */
#include "net/rpc_client.h"
#include "net/rpc_server.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { PROGRAM = 100003, MOST = 65536 };

static const struct rpc_target null_call = { PROGRAM, 3, 0, NULL };

static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "bench_rpc_client: %s: %s\n", what, err->text);
    exit(4);
}

static int on_stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

/* --- the server's thread, which ends a little after the client */

struct serving {
    struct loop *loop;
    struct rpc_server *server;
    struct timer stop;
};

static void *serve(void *ctx)
{
    struct serving *s = ctx;
    struct err err = { 0 };

    if (loop_run(s->loop, &err) < 0)
        die("the server", &err);
    return NULL;
}

/* --- the client's */

struct caller {
    struct rpc_client *client;
    uint64_t answers;
};

static int on_answer(void *ctx, const struct rpc_answer *answer, struct err *err)
{
    struct caller *c = ctx;

    if (answer->outcome != RPC_ANSWERED)
        return 0;
    c->answers++;
    return rpc_client_call(c->client, &null_call, (struct bytes){ 0 }, on_answer, c, err);
}

static void measure(uint32_t outstanding, double seconds)
{
    struct rpc_program program = { PROGRAM, 3, 3, 1, NULL, NULL };
    struct rpc_client_setup setup = { .limits = rpc_client_defaults };
    struct serving serving = { 0 };
    struct caller caller = { 0 };
    struct rusage from, to;
    struct net_address at;
    struct err err = { 0 };
    struct loop *loop = loop_new(&err);
    struct timer stop = { .due = on_stop, .ctx = loop };
    int64_t end = loop_clock() + (int64_t)(seconds * 1e9);
    pthread_t thread;
    double user, system;

    serving.loop = loop_new(&err);
    serving.stop = (struct timer){ .due = on_stop, .ctx = serving.loop };
    serving.server = rpc_server_new(serving.loop, &RPC_SERVER_LIMITS, NULL, &err);
    if (!serving.server || rpc_server_add(serving.server, &program, &err) < 0 ||
        net_address_parse("127.0.0.1:0", true, &at, &err) < 0 ||
        rpc_server_listen(serving.server, RPC_TCP, &at, &setup.server, &err) < 0 ||
        loop_set(serving.loop, &serving.stop, end + 200000000, &err) < 0 ||
        pthread_create(&thread, NULL, serve, &serving) != 0)
        die("the server", &err);
    setup.limits.calls = outstanding;
    caller.client = rpc_client_new(loop, &setup, NULL, &err);
    if (!caller.client || loop_set(loop, &stop, end, &err) < 0)
        die("the client", &err);
    for (uint32_t i = 0; i < outstanding; i++)
        if (rpc_client_call(caller.client, &null_call, (struct bytes){ 0 }, on_answer, &caller,
                            &err) != 0)
            die("the client", &err);
    getrusage(RUSAGE_THREAD, &from);
    if (loop_run(loop, &err) < 0)
        die("the client", &err);
    getrusage(RUSAGE_THREAD, &to);
    user = (double)(to.ru_utime.tv_sec - from.ru_utime.tv_sec) * 1e9 +
           (double)(to.ru_utime.tv_usec - from.ru_utime.tv_usec) * 1e3;
    system = (double)(to.ru_stime.tv_sec - from.ru_stime.tv_sec) * 1e9 +
             (double)(to.ru_stime.tv_usec - from.ru_stime.tv_usec) * 1e3;
    user /= (double)caller.answers;
    system /= (double)caller.answers;
    printf("%6u outstanding: %9.0f calls/s, CPU ns a call: %7.0f, user %6.0f, kernel %6.0f\n",
           outstanding, (double)caller.answers / seconds, user + system, user, system);
    rpc_client_free(caller.client);
    loop_free(loop);
    pthread_join(thread, NULL);
    rpc_server_free(serving.server);
    loop_free(serving.loop);
}

int main(int argc, char **argv)
{
    static char *defaults[] = { "1", "8", "64", "1024" };
    char **all = argc > 2 ? argv + 2 : defaults;
    int count = argc > 2 ? argc - 2 : 4;
    double seconds = argc > 1 ? atof(argv[1]) : 1;

    for (int i = 0; i < count; i++) {
        long outstanding = atol(all[i]);

        if (outstanding < 1 || outstanding > MOST || seconds <= 0) {
            fprintf(stderr, "usage: bench_rpc_client [SECONDS [OUTSTANDING...]]\n");
            return 2;
        }
        measure((uint32_t)outstanding, seconds);
    }
    return 0;
}
