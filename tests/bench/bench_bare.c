/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_bare.c
 *
 *     bench_bare PORT
 *
 * What no relay can do without: a loop that passes bytes on between each client and a server at
 * 127.0.0.1:PORT with three system calls a message, and does nothing else.  No copies, no pressure,
 * no half-closed connections.  Prints the port at which it listens.  For part_relay.py.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, CHUNK = 128 << 10 };

struct end {
    int fd;
    struct end *other;
};

static int loop;
static uint8_t chunk[CHUNK];

static void need(bool fine, const char *what)
{
    if (fine)
        return;
    perror(what);
    exit(4);
}

static struct sockaddr_in at(uint16_t port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons(port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int listen_at_any(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = at(0);
    socklen_t len = sizeof(address);

    need(fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, EVENTS) == 0 &&
             getsockname(fd, (struct sockaddr *)&address, &len) == 0,
         "listen");
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void watch(struct end *end)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = end };
    const int one = 1;

    setsockopt(end->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    need(epoll_ctl(loop, EPOLL_CTL_ADD, end->fd, &event) == 0, "epoll");
}

static void take(int listener, uint16_t server)
{
    struct end *ends = calloc(2, sizeof(*ends)); /* few, and never freed */
    struct sockaddr_in address = at(server);

    need(ends, "memory");
    ends[0] = (struct end){ accept(listener, NULL, NULL), ends + 1 };
    ends[1] = (struct end){ socket(AF_INET, SOCK_STREAM, 0), ends };
    need(ends[0].fd >= 0 && ends[1].fd >= 0 &&
             connect(ends[1].fd, (struct sockaddr *)&address, sizeof(address)) == 0,
         "connect");
    watch(ends);
    watch(ends + 1);
}

/* Passes on what is there.  Returns false at the end of a connection. */
static bool pass_on(struct end *from)
{
    ssize_t got;

    do {
        got = recv(from->fd, chunk, CHUNK, MSG_DONTWAIT);
        if (got < 0)
            return errno == EAGAIN;
        for (ssize_t sent = 0, now; sent < got; sent += now) {
            now = send(from->other->fd, chunk + sent, (size_t)(got - sent), MSG_NOSIGNAL);
            if (now < 0)
                return false;
        }
    } while (got == CHUNK);
    return got > 0;
}

int main(int argc, char **argv)
{
    uint16_t server = (uint16_t)(argc == 2 ? atoi(argv[1]) : 0);
    struct end listener = { 0 };
    struct epoll_event events[EVENTS], event = { .events = EPOLLIN, .data.ptr = &listener };

    if (!server)
        return 2;
    listener.fd = listen_at_any();
    loop = epoll_create1(0);
    need(loop >= 0 && epoll_ctl(loop, EPOLL_CTL_ADD, listener.fd, &event) == 0, "epoll");
    for (;;) {
        int ready = epoll_wait(loop, events, EVENTS, -1);

        for (int i = 0; i < ready; i++) {
            struct end *end = events[i].data.ptr;

            if (end == &listener) {
                take(listener.fd, server);
            } else if (end->fd >= 0 && (!pass_on(end) || events[i].events & EPOLLRDHUP)) {
                close(end->fd);
                close(end->other->fd);
                end->fd = end->other->fd = -1;
            }
        }
    }
}
