/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_prepare.c
 *
 * Stands between an RPC client and the server at 127.0.0.1:PORT, and writes each call and its reply
 * to FILE (bench/prepared.h).  Prints the port at which it listens; ends when its standard input
 * does.
 *
 *     bench_prepare PORT FILE
 */
#include "base/bytes.h"
#include "bench/prepared.h"
#include "net/listen.h"
#include "net/record_stream.h"
#include "wire/rpc.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { PENDING = 1 << 16, RECORD_MAX = 4 << 20 };

struct call {
    uint8_t *data;
    uint32_t len;
};

struct peer {
    struct record_stream *client, *server;
    struct call pending[PENDING]; /* by the last bits of their XIDs */
};

static struct loop *loop;
static struct listeners *listening;
static struct net_address server;
static FILE *file;

_Noreturn static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "bench_prepare: %s: %s\n", what, err ? err->text : strerror(errno));
    exit(4);
}

static int pass(struct record_stream *to, const uint8_t *data, uint32_t len, struct err *err)
{
    struct iovec piece = { (void *)(uintptr_t)data, len };

    return to ? record_stream_send(to, &piece, 1, err) : 0;
}

static int on_call(void *ctx, const uint8_t *data, uint32_t len, struct err *err)
{
    struct peer *p = ctx;
    struct call *call;

    if (len < PREPARED_LEAST)
        return err_set(err, ERR_INPUT, "a call of %u bytes", len);
    call = &p->pending[load_be32(data) % PENDING];
    if (call->data)
        return err_set(err, ERR_INPUT, "two calls of one XID are under way");
    call->data = malloc(len);
    if (!call->data)
        return err_memory(err, "calls");
    call->len = len;
    memcpy(call->data, data, len);
    return pass(p->server, data, len, err);
}

static int on_reply(void *ctx, const uint8_t *data, uint32_t len, struct err *err)
{
    struct peer *p = ctx;
    struct call *call = len >= 4 ? &p->pending[load_be32(data) % PENDING] : NULL;
    uint32_t sizes[2];

    if (!call || !call->data || memcmp(call->data, data, 4) != 0)
        return err_set(err, ERR_INPUT, "a reply that nobody asked for");
    sizes[0] = call->len;
    sizes[1] = len;
    if (fwrite(sizes, sizeof(sizes), 1, file) != 1 || fwrite(call->data, call->len, 1, file) != 1 ||
        fwrite(data, len, 1, file) != 1)
        return err_set(err, ERR_SYSTEM, "cannot write: %s", strerror(errno));
    free(call->data);
    call->data = NULL;
    return pass(p->client, data, len, err);
}

/* Either end: the other one is closed, too. */
static int on_over(void *ctx, enum record_end end, int errno_value, struct err *err)
{
    struct peer *p = ctx;

    (void)end;
    (void)errno_value;
    (void)err;
    record_stream_free(p->client);
    record_stream_free(p->server);
    for (uint32_t i = 0; i < PENDING; i++)
        free(p->pending[i].data);
    free(p);
    return 0;
}

static int on_accepted(void *ctx, int fd, const struct net_address *from, struct err *err)
{
    const struct record_limits limits = { RECORD_MAX, UINT32_MAX };
    struct peer *p = calloc(1, sizeof(*p));
    struct record_host calls = { on_call, on_over, p }, replies = { on_reply, on_over, p };
    int one = 1, to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)ctx;
    (void)from;
    if (!p || to < 0 || connect(to, &server.any, net_address_size(&server)) < 0)
        die("the server", NULL);
    setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (fcntl(to, F_SETFL, O_NONBLOCK) < 0)
        die("the server", NULL);
    p->client = record_stream_new(loop, fd, &limits, &calls, err);
    p->server = record_stream_new(loop, to, &limits, &replies, err);
    return p->client && p->server ? 0 : -ERR_SYSTEM;
}

static int on_input(void *ctx, uint32_t events, struct err *err)
{
    char byte;

    (void)ctx;
    (void)events;
    (void)err;
    if (read(STDIN_FILENO, &byte, 1) <= 0)
        loop_stop(loop);
    return 0;
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    struct net_address at;
    struct watch input = { .fd = STDIN_FILENO, .ready = on_input };

    if (argc != 3) {
        fprintf(stderr, "usage: bench_prepare PORT FILE\n");
        return 2;
    }
    if (net_address_parse("127.0.0.1:0", true, &at, &err) < 0)
        die("the address", &err);
    server = at;
    net_address_set_port(&server, (uint16_t)atoi(argv[1]));
    file = fopen(argv[2], "wb");
    loop = loop_new(&err);
    if (!file || !loop)
        die(argv[2], err.code ? &err : NULL);
    listening =
        listeners_new(loop, &LISTEN_LIMITS, &(struct listen_host){ on_accepted, NULL }, &err);
    if (!listening || listeners_add(listening, &at, &at, &err) < 0 ||
        loop_watch(loop, &input, EPOLLIN, &err) < 0)
        die("the socket", &err);
    printf("%u\n", net_address_port(&at));
    fflush(stdout);
    if (loop_run(loop, &err) < 0)
        die("the calls", &err);
    if (fclose(file) != 0)
        die(argv[2], NULL);
    return 0;
}
