/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_floor.c
 *
 * What no client can do without: sends the calls of FILE (bench/prepared.h) as they are, and reads
 * the replies, of which it looks at nothing but the record marks.
 *
 *     bench_floor FILE PORT CONNECTIONS OUTSTANDING
 *
 * Makes as many calls at a time as bench_libnfs and nfsreplay do, on CONNECTIONS to 127.0.0.1:PORT
 * with OUTSTANDING calls on each; each round, one write and one read a connection.  Prints the
 * number of calls, CPU in ns for each (user, system), calls a second, and 0, for failed calls.
 */
#include "base/bytes.h"
#include "bench/prepared.h"
#include "net/address.h"
#include "wire/rpc.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { READ_AT_ONCE = 256 << 10, MARK = 4 };

struct peer {
    int fd;
    uint32_t outstanding;
    uint8_t *out;
    size_t out_at, out_len, out_cap;
    uint32_t left; /* bytes of the reply that is being read */
    uint8_t mark[MARK];
    uint32_t mark_len;
};

static struct prepared prepared;
static uint32_t made, ended, most;
static uint8_t input[READ_AT_ONCE];

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "bench_floor: %s: %s\n", what, strerror(errno));
    exit(4);
}

/* Copies the next call behind what is to be sent. */
static void put_call(struct peer *p)
{
    const struct prepared_entry *e = &prepared.entries[made++];
    size_t need = p->out_len + MARK + e->call_len;

    if (need > p->out_cap) {
        p->out_cap = 2 * need;
        p->out = realloc(p->out, p->out_cap);
        if (!p->out)
            die("no memory");
    }
    store_be32(p->out + p->out_len, e->call_len | RPC_LAST_FRAGMENT);
    memcpy(p->out + p->out_len + MARK, e->call, e->call_len);
    p->out_len = need;
    p->outstanding++;
}

static void send_calls(struct peer *p)
{
    ssize_t sent;

    if (p->out_at == p->out_len)
        p->out_at = p->out_len = 0;
    while (p->outstanding < most && made < prepared.count)
        put_call(p);
    if (p->out_at == p->out_len)
        return;
    sent = send(p->fd, p->out + p->out_at, p->out_len - p->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0)
        p->out_at += (size_t)sent;
    else if (errno != EAGAIN)
        die("sending");
}

/* Counts the replies that end in |len| bytes. */
static void count(struct peer *p, const uint8_t *data, uint32_t len)
{
    while (len) {
        uint32_t part = p->left < len ? p->left : len;

        if (!part) {
            p->mark[p->mark_len++] = *data++;
            len--;
            if (p->mark_len < MARK)
                continue;
            p->left = load_be32(p->mark) & ~RPC_LAST_FRAGMENT;
            p->mark_len = 0;
            continue;
        }
        p->left -= part;
        data += part;
        len -= part;
        if (p->left)
            continue;
        p->outstanding--;
        ended++;
    }
}

static void read_replies(struct peer *p)
{
    ssize_t got = recv(p->fd, input, sizeof(input), MSG_DONTWAIT);

    if (got > 0)
        count(p, input, (uint32_t)got);
    else if (got == 0 || errno != EAGAIN)
        die("reading");
}

static void go_round(struct peer *peers, struct pollfd *polls, uint32_t peer_count)
{
    for (uint32_t i = 0; i < peer_count; i++) {
        send_calls(&peers[i]);
        polls[i].events = (short)(POLLIN | (peers[i].out_at < peers[i].out_len ? POLLOUT : 0));
    }
    if (poll(polls, peer_count, -1) < 0)
        die("poll");
    for (uint32_t i = 0; i < peer_count; i++)
        if (polls[i].revents & ~POLLOUT)
            read_replies(&peers[i]);
}

static int connect_to(const char *port)
{
    struct net_address to;
    struct err err = { 0 };
    char text[32];
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(text, sizeof(text), "127.0.0.1:%s", port);
    if (fd < 0 || net_address_parse(text, true, &to, &err) < 0 ||
        connect(fd, &to.any, net_address_size(&to)) < 0)
        die("a connection");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

static double ns(struct timeval t)
{
    return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

int main(int argc, char **argv)
{
    uint32_t peer_count = argc == 5 ? (uint32_t)atoi(argv[3]) : 0;
    struct peer *peers = calloc(peer_count + 1, sizeof(*peers));
    struct pollfd *polls = calloc(peer_count + 1, sizeof(*polls));
    struct rusage from, to;
    struct timespec begun, over;

    if (!peer_count || !peers || !polls) {
        fprintf(stderr, "usage: bench_floor FILE PORT CONNECTIONS OUTSTANDING\n");
        return 2;
    }
    prepared_open(&prepared, argv[1], true);
    most = (uint32_t)atoi(argv[4]);
    for (uint32_t i = 0; i < peer_count; i++)
        polls[i].fd = peers[i].fd = connect_to(argv[2]);
    getrusage(RUSAGE_SELF, &from);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    while (ended < prepared.count)
        go_round(peers, polls, peer_count);
    clock_gettime(CLOCK_MONOTONIC, &over);
    getrusage(RUSAGE_SELF, &to);
    printf("%u %.1f %.1f %.0f 0\n", ended, (ns(to.ru_utime) - ns(from.ru_utime)) / ended,
           (ns(to.ru_stime) - ns(from.ru_stime)) / ended,
           ended / ((double)(over.tv_sec - begun.tv_sec) +
                    (double)(over.tv_nsec - begun.tv_nsec) / 1e9));
    return 0;
}
