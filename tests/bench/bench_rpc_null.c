/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_rpc_null.c
 *
 * What a NULL call costs live/net/rpc_server: one connection on loopback, a client thread that
 * keeps |outstanding| calls on it, the server in this thread.  Beside it a bare loop of recv and
 * send that moves the same bytes in the same portions: the difference is our own.
 *
 *     bench_rpc_null [SECONDS [OUTSTANDING...]]     each measurement; 1 s; 1 8 64 1024
 *
 * It prints ns of the server's thread a call, in all, in user mode and in the kernel.
 */
#include "net/rpc_server.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CALL = 44, REPLY = 28, PROGRAM = 100003, MOST = 65536, ROOM = 1 << 20 };

struct client {
    int fd;
    uint32_t outstanding;
    struct net_address server;
};

__attribute__((noreturn)) static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "bench_rpc_null: %s: %s\n", what, err ? err->text : "failed");
    exit(4);
}

/* Calls of NULL: they differ in the XID, which nobody looks at here. */
static uint8_t *make_calls(uint32_t count)
{
    static const uint32_t words[] = { 0x80000000 | 40, 1, 0, 2, PROGRAM, 3, 0, 0, 0, 0, 0 };
    uint8_t *calls = malloc((size_t)count * CALL);

    if (!calls)
        die("calls", NULL);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t w = 0; w < 11; w++)
            store_be32(calls + (size_t)i * CALL + 4 * w, w == 1 ? i : words[w]);
    return calls;
}

/* As many calls as there were replies, in one write, until the server is gone. */
static void *run_client(void *ctx)
{
    struct client *c = ctx;
    uint8_t *calls = make_calls(c->outstanding), *in = malloc(ROOM);
    size_t left = 0;
    ssize_t got;

    for (uint32_t due = c->outstanding; in;) {
        if (due && send(c->fd, calls, (size_t)due * CALL, MSG_NOSIGNAL) < 0)
            break;
        got = recv(c->fd, in, ROOM, 0);
        if (got <= 0)
            break;
        left += (size_t)got;
        due = (uint32_t)(left / REPLY);
        left %= REPLY;
    }
    close(c->fd);
    free(calls);
    free(in);
    return NULL;
}

static pthread_t start_client(struct client *c)
{
    pthread_t thread;

    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, &c->server.any, net_address_size(&c->server)) < 0 ||
        pthread_create(&thread, NULL, run_client, c) != 0)
        die("the client", NULL);
    return thread;
}

/* --- the server's thread */

struct cost {
    double user, system; /* ns */
};

static struct cost cost_now(void)
{
    struct rusage r;

    getrusage(RUSAGE_THREAD, &r);
    return (struct cost){ (double)r.ru_utime.tv_sec * 1e9 + (double)r.ru_utime.tv_usec * 1e3,
                          (double)r.ru_stime.tv_sec * 1e9 + (double)r.ru_stime.tv_usec * 1e3 };
}

static void print(const char *what, uint32_t outstanding, uint64_t calls, double seconds,
                  struct cost from)
{
    struct cost to = cost_now();
    double user = (to.user - from.user) / (double)calls;
    double system = (to.system - from.system) / (double)calls;

    printf("%-10s %6u outstanding: %9.0f calls/s, CPU ns a call: %7.0f, user %6.0f, kernel %6.0f\n",
           what, outstanding, (double)calls / seconds, user + system, user, system);
}

static int on_stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

static void serve(uint32_t outstanding, double seconds)
{
    struct rpc_program program = { PROGRAM, 3, 3, 1, NULL, NULL };
    struct err err;
    struct loop *loop = loop_new(&err);
    struct rpc_server *server = loop ? rpc_server_new(loop, &RPC_SERVER_LIMITS, NULL, &err) : NULL;
    struct timer stop = { .due = on_stop, .ctx = loop };
    struct client client = { .outstanding = outstanding };
    struct net_address at;
    struct cost from;
    pthread_t thread;

    if (!server || rpc_server_add(server, &program, &err) < 0 ||
        net_address_parse("127.0.0.1:0", true, &at, &err) < 0 ||
        rpc_server_listen(server, RPC_TCP, &at, &client.server, &err) < 0 ||
        loop_set(loop, &stop, loop_clock() + (int64_t)(seconds * 1e9), &err) < 0)
        die("the server", &err);
    thread = start_client(&client);
    from = cost_now();
    if (loop_run(loop, &err) < 0)
        die("the server", &err);
    print("rpc_server", outstanding, rpc_server_counts(server)->calls, seconds, from);
    rpc_server_free(server);
    loop_free(loop);
    pthread_join(thread, NULL);
}

/* The same system calls, and nothing else. */
static void serve_bare(uint32_t outstanding, double seconds)
{
    struct client client = { .outstanding = outstanding };
    struct err err;
    struct net_address at;
    struct epoll_event event = { .events = EPOLLIN };
    int fd, listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), epoll = epoll_create1(0);
    int64_t end = loop_clock() + (int64_t)(seconds * 1e9);
    uint8_t *in = malloc(ROOM), *out = calloc(1, ROOM);
    uint64_t bytes = 0, calls = 0;
    struct cost from;
    pthread_t thread;

    if (!in || !out || net_address_parse("127.0.0.1:0", true, &at, &err) < 0 ||
        bind(listening, &at.any, net_address_size(&at)) < 0 || listen(listening, 1) < 0 ||
        net_address_of_socket(listening, &client.server, &err) < 0)
        die("the bare server", NULL);
    thread = start_client(&client);
    fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK);
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    from = cost_now();
    while (loop_clock() < end) {
        ssize_t got = 0;
        uint64_t due;

        if (epoll_wait(epoll, &event, 1, -1) == 1)
            got = recv(fd, in, RECORD_READ, 0);
        if (got <= 0)
            break;
        bytes += (uint64_t)got;
        due = bytes / CALL - calls;
        calls += due;
        if (due && send(fd, out, due * REPLY, MSG_NOSIGNAL) != (ssize_t)(due * REPLY))
            die("the bare server's send", NULL);
    }
    print("bare", outstanding, calls, seconds, from);
    close(fd);
    pthread_join(thread, NULL);
    close(listening);
    close(epoll);
    free(in);
    free(out);
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
            fprintf(stderr, "usage: bench_rpc_null [SECONDS [OUTSTANDING...]]\n");
            return 2;
        }
        serve((uint32_t)outstanding, seconds);
        serve_bare((uint32_t)outstanding, seconds);
    }
    return 0;
}
