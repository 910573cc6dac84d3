/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_client.c
 *
 * An NFSv3 client that costs little, for programs that load servers.  The contract is in
 * bench_client.h.
 */
#include "bench_client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

_Noreturn void bench_die(const char *what)
{
    perror(what);
    exit(4);
}

struct bytes bench_of(const struct bench_fh *fh)
{
    return (struct bytes){ fh->data, fh->len };
}

struct bytes bench_text(const char *from)
{
    return (struct bytes){ (const uint8_t *)from, (uint32_t)strlen(from) };
}

void bench_connect(struct bench_client *c, const char *address, const char *port)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    if (inet_pton(AF_INET, address, &to.sin_addr) != 1 || fd < 0 ||
        connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        bench_die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    *c = (struct bench_client){ .fd = fd, .xid = (uint32_t)getpid() * UINT32_C(2654435761) };
}

/* --- calls */

static void bench_put_call(struct bench_client *c, uint32_t program, uint32_t procedure,
                           const struct bound *bound, const void *args)
{
    struct xdr_put put = xdr_put_to(&c->out, BENCH_MESSAGE_MAX);
    size_t begun = rpc_put_record_begin(&put);
    struct rpc_header header = { .xid = ++c->xid,
                                 .direction = RPC_CALL,
                                 .rpc_version = 2,
                                 .program = program,
                                 .version = 3,
                                 .procedure = procedure,
                                 .credential = { .flavor = RPC_AUTH_SYS, .valid = true } };

    rpc_put_header(&put, &header);
    if (bind_write(bound, &put, args) < 0)
        bench_die("a call");
    rpc_put_record_end(&put, begun);
}

void bench_put(struct bench_client *c, uint32_t procedure, const void *args)
{
    bench_put_call(c, NFS3_PROGRAM, procedure, nfs3_binding(procedure)->arguments, args);
}

void bench_flush(struct bench_client *c)
{
    for (size_t sent = 0; sent < c->out.len;) {
        ssize_t n = send(c->fd, c->out.data + sent, c->out.len - sent, MSG_NOSIGNAL);

        if (n < 0)
            bench_die("send");
        sent += (size_t)n;
    }
    c->out.len = 0;
}

bool bench_next_reply(struct bench_client *c, bool wait, uint32_t *xid, struct bytes *results)
{
    for (;;) {
        size_t have = c->in.len - c->in_done;
        const uint8_t *at = c->in.data + c->in_done;
        uint32_t len = have >= 4 ? load_be32(at) & ~RPC_LAST_FRAGMENT : 0;
        struct rpc_header header;
        ssize_t n;

        if (have >= 4 && have - 4 >= len) {
            c->in_done += 4 + len;
            if (rpc_parse(at + 4, len, len, &header) != RPC_OK || header.status != RPC_SUCCESS) {
                fprintf(stderr, "bench_client: a call was refused\n");
                exit(3);
            }
            *xid = header.xid;
            *results = (struct bytes){ at + 4 + header.body, header.body_len };
            return true;
        }
        if (!wait)
            return false;
        memmove(c->in.data, at, have);
        c->in.len = have;
        c->in_done = 0;
        if (buf_reserve(&c->in, BENCH_MESSAGE_MAX) < 0)
            bench_die("memory");
        n = recv(c->fd, c->in.data + c->in.len, c->in.cap - c->in.len, 0);
        if (n <= 0)
            bench_die("recv");
        c->in.len += (size_t)n;
    }
}

void bench_call(struct bench_client *c, uint32_t procedure, const void *args, void *res)
{
    uint32_t xid;
    struct bytes results;

    bench_put(c, procedure, args);
    bench_flush(c);
    bench_next_reply(c, true, &xid, &results);
    if (bind_read(nfs3_binding(procedure)->result, results, res) != WALK_OK)
        bench_die("a reply");
}

void bench_keep(struct bench_fh *to, struct bytes handle)
{
    memcpy(to->data, handle.data, handle.len);
    to->len = handle.len;
}

void bench_mount(const char *address, const char *port, const char *export, struct bench_fh *root)
{
    struct bench_client c;
    struct MNT3args args = { bench_text(export) };
    struct auth_flavor flavors[8];
    struct mountres3 res = { .auth_flavors = { flavors, 0, 8 } };
    struct bytes results;
    uint32_t xid;

    bench_connect(&c, address, port);
    bench_put_call(&c, MOUNT_PROGRAM, 1, mount3_binding(1)->arguments, &args);
    bench_flush(&c);
    bench_next_reply(&c, true, &xid, &results);
    if (bind_read(mount3_binding(1)->result, results, &res) != WALK_OK || res.fhs_status) {
        fprintf(stderr, "bench_client: %s cannot be mounted: %u\n", export, res.fhs_status);
        exit(3);
    }
    bench_keep(root, res.fhandle);
    close(c.fd);
    buf_free(&c.in);
    buf_free(&c.out);
}
