/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_responder.c
 *
 * Answers calls on 127.0.0.1 from a file of bench_prepare: a server that costs next to nothing,
 * whose replies are those of a real one.
 *
 *     bench_responder FILE [any-credential] [spoil]
 *
 * any-credential: calls may come with other credentials than those of the file.  spoil: the last
 * byte of every hundredth reply of more than 1000 bytes is another one; whoever compares must find
 * that.
 *
 * Prints its port; ends when its standard input does, and then prints how many calls it has
 * answered, how many it had no reply for (they get SYSTEM_ERR), how many replies it has spoiled,
 * and its CPU in ns since its first connection, without that of waiting.
 *
 * It sleeps only when nothing has come for a while: a client should not have to wake it up for each
 * batch of calls, which costs a virtual machine as much as ten calls do.
 */
#include "base/bytes.h"
#include "bench/prepared.h"
#include "net/address.h"
#include "wire/rpc.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    ROOM = 8 << 20,
    PEERS_MAX = 256,
    SPOIL_EACH = 100,
    SPOIL_LEAST = 1000,
    AHEAD = 16,    /* calls that are looked at before they are answered */
    STEP_EACH = 4, /* calls between two steps of prepared_expect */
    QUIET = 2000,  /* looks in vain before it sleeps: about a millisecond */
};

struct peer {
    int fd;
    uint8_t *in, *out;
    size_t in_len, out_len, out_at;
};

struct call {
    const uint8_t *data;
    uint32_t len;
    uint64_t key;
};

static struct prepared prepared;
static struct peer peers[PEERS_MAX];
static int peer_count;
static bool spoil;
static uint64_t answered, unknown, spoiled, long_ones, cpu_before, cpu_waited;

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "bench_responder: %s: %s\n", what, strerror(errno));
    exit(4);
}

/* Returns false if there is no room for the reply. */
static bool answer(struct peer *p, const struct call *call)
{
    static const uint8_t error[24] = { [7] = RPC_REPLY, [23] = RPC_SYSTEM_ERR };
    const struct prepared_entry *found;
    uint8_t *to = p->out + p->out_len;
    uint32_t size;

    if (ROOM - p->out_len < ROOM / 2) /* longer than any reply */
        return false;
    found = prepared_find(&prepared, call->key);
    size = found ? found->reply_len : sizeof(error);
    store_be32(to, size | RPC_LAST_FRAGMENT);
    memcpy(to + 4, found ? found->reply : error, size);
    memcpy(to + 4, call->data, 4);
    p->out_len += 4 + (size_t)size;
    if (spoil && size > SPOIL_LEAST && ++long_ones % SPOIL_EACH == 0) {
        to[4 + size - 1] ^= 1;
        spoiled++;
    }
    answered++;
    unknown += !found;
    return true;
}

/* The next whole call; false: there is none. */
static bool next_call(const struct peer *p, size_t *at, struct call *to)
{
    size_t left = p->in_len - *at;
    uint32_t len;

    if (left < 4)
        return false;
    len = load_be32(p->in + *at) & ~RPC_LAST_FRAGMENT;
    if (len < 4 || len > ROOM - 4)
        die("a call of impossible length");
    if (left - 4 < len)
        return false;
    *to = (struct call){ p->in + *at + 4, len, 0 };
    to->key = prepared_key(&prepared, to->data, len);
    *at += 4 + (size_t)len;
    return true;
}

static void answer_all(struct peer *p)
{
    struct call calls[AHEAD]; /* a ring: those from |first| to |end| were looked at */
    uint32_t first = 0, end = 0;
    size_t seen = 0, at = 0;

    for (;;) {
        while (end - first < AHEAD && next_call(p, &seen, &calls[end % AHEAD])) {
            for (uint32_t i = 0; i < PREPARED_STEPS && end - first >= i * STEP_EACH; i++)
                prepared_expect(&prepared, calls[(end - i * STEP_EACH) % AHEAD].key, (int)i);
            end++;
        }
        if (first == end || !answer(p, &calls[first % AHEAD]))
            break;
        at += 4 + (size_t)calls[first++ % AHEAD].len;
    }
    if (at)
        memmove(p->in, p->in + at, p->in_len - at);
    p->in_len -= at;
}

static uint64_t cpu_now(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static void leave(struct peer *p)
{
    close(p->fd);
    p->fd = -1;
    p->in_len = p->out_len = p->out_at = 0;
}

static void serve(struct peer *p)
{
    ssize_t got;

    if (p->fd < 0)
        return;
    got = recv(p->fd, p->in + p->in_len, ROOM - p->in_len, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        leave(p);
        return;
    }
    if (got > 0)
        p->in_len += (size_t)got;
    answer_all(p);
    got = p->out_len
              ? send(p->fd, p->out + p->out_at, p->out_len - p->out_at, MSG_DONTWAIT | MSG_NOSIGNAL)
              : 0;
    if (got > 0)
        p->out_at += (size_t)got;
    if (p->out_at == p->out_len)
        p->out_at = p->out_len = 0;
}

static void take_peer(int listening, int epoll)
{
    struct epoll_event event = { .events = EPOLLIN };
    struct peer *p = peers;
    int one = 1;

    while (p < peers + peer_count && p->fd >= 0)
        p++;
    if (p == peers + PEERS_MAX)
        die("too many connections");
    if (!peer_count)
        cpu_before = cpu_now();
    if (p == peers + peer_count) {
        peer_count++;
        p->in = malloc(ROOM);
        p->out = malloc(ROOM);
    }
    p->fd = accept(listening, NULL, NULL);
    if (p->fd < 0 || !p->in || !p->out)
        die("a connection");
    setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    event.data.ptr = p;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, p->fd, &event) < 0)
        die("epoll");
}

static int listen_somewhere(void)
{
    struct net_address at;
    struct err err = { 0 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || net_address_parse("127.0.0.1:0", true, &at, &err) < 0 ||
        bind(fd, &at.any, net_address_size(&at)) < 0 || listen(fd, PEERS_MAX) < 0 ||
        net_address_of_socket(fd, &at, &err) < 0)
        die("the socket");
    printf("%u\n", net_address_port(&at));
    fflush(stdout);
    return fd;
}

/* Nothing came, or something: |quiet| counts looks in vain. */
static void note_wait(bool came, uint32_t *quiet)
{
    static uint64_t since; /* CPU; 0: before the first call */

    if (!came && !(*quiet)++)
        since = cpu_now();
    if (!came || !*quiet)
        return;
    cpu_waited += since ? cpu_now() - since : 0;
    *quiet = 0;
}

static void respond(void)
{
    static uint8_t listener, input;
    struct epoll_event events[PEERS_MAX];
    int listening = listen_somewhere(), epoll = epoll_create1(EPOLL_CLOEXEC);
    uint32_t quiet = QUIET;
    bool waits = false;

    epoll_ctl(epoll, EPOLL_CTL_ADD, listening,
              &(struct epoll_event){ .events = EPOLLIN, .data.ptr = &listener });
    epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO,
              &(struct epoll_event){ .events = EPOLLIN, .data.ptr = &input });
    for (;;) {
        int ready = epoll_wait(epoll, events, PEERS_MAX, waits || quiet < QUIET ? 0 : -1);

        if (ready > 0 || !waits)
            note_wait(ready > 0, &quiet);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.ptr == &input)
                return;
            if (events[i].data.ptr == &listener)
                take_peer(listening, epoll);
            else
                serve(events[i].data.ptr);
        }
        waits = false;
        for (int i = 0; i < peer_count; i++) {
            if (peers[i].out_len)
                serve(&peers[i]);
            waits = waits || peers[i].out_len;
        }
    }
}

int main(int argc, char **argv)
{
    bool any_credential = false;

    if (argc < 2) {
        fprintf(stderr, "usage: bench_responder FILE [any-credential] [spoil]\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        any_credential = any_credential || strcmp(argv[i], "any-credential") == 0;
        spoil = spoil || strcmp(argv[i], "spoil") == 0;
    }
    prepared_open(&prepared, argv[1], any_credential);
    respond();
    printf("%llu %llu %llu %llu\n", (unsigned long long)answered, (unsigned long long)unknown,
           (unsigned long long)spoiled,
           (unsigned long long)(peer_count ? cpu_now() - cpu_before - cpu_waited : 0));
    return 0;
}
