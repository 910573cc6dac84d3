/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/listen.c
 *
 * Sockets that listen, for servers of any protocol.  Contract: listen.h.  How many connections a
 * client address has stands in a hash table, keyed against clients that choose their addresses.
 */
#include "net/listen.h"
#include "base/digest.h"
#include "base/pool.h"
#include "base/table.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

enum { ACCEPTS = 64 }; /* of one socket and round */

struct client {
    uint32_t connections;
    struct net_address address;
};

struct listening {
    struct listeners *all;
    struct watch watch;
};

struct listeners {
    struct loop *loop;
    struct listen_limits limits;
    struct listen_host host;
    struct listen_counts counts;
    struct listening sockets[LISTEN_SOCKETS];
    uint32_t socket_count, connections;
    struct timer rest;
    struct pool clients;
    struct table by_address;
    uint64_t key;
    bool paused;
};

/* --- connections of each address */

static uint64_t hash_of(const struct listeners *all, const struct net_address *a)
{
    if (a->family == AF_INET)
        return XXH3_64bits_withSeed(&a->v4.sin_addr, sizeof(a->v4.sin_addr), all->key);
    if (a->family == AF_INET6)
        return XXH3_64bits_withSeed(&a->v6.sin6_addr, sizeof(a->v6.sin6_addr), all->key);
    return all->key;
}

static uint32_t find(const struct listeners *all, uint64_t hash, const struct net_address *peer)
{
    uint32_t at, slot;

    for (slot = table_first(&all->by_address, hash, &at); slot != TABLE_NONE;
         slot = table_next(&all->by_address, hash, &at)) {
        const struct client *client = pool_at(&all->clients, slot);

        if (net_address_same_host(&client->address, peer))
            return slot;
    }
    return TABLE_NONE;
}

/* Counts one more; returns which of |all->counts| grows. */
static uint64_t *admit(struct listeners *all, const struct net_address *peer)
{
    uint64_t hash = hash_of(all, peer);
    uint32_t slot = find(all, hash, peer);
    struct client *client;

    if (all->connections >= all->limits.connections)
        return &all->counts.refused_all;
    if ((slot == TABLE_NONE ? 0 : ((struct client *)pool_at(&all->clients, slot))->connections) >=
        all->limits.of_address)
        return &all->counts.refused_address;
    if (slot == TABLE_NONE) {
        slot = pool_new(&all->clients);
        if (!slot)
            return &all->counts.failed;
        if (table_add(&all->by_address, hash, slot) < 0) {
            pool_give(&all->clients, slot);
            return &all->counts.failed;
        }
    }
    client = pool_at(&all->clients, slot);
    client->address = *peer;
    client->connections++;
    all->connections++;
    return &all->counts.accepted;
}

void listeners_left(struct listeners *all, const struct net_address *peer)
{
    uint64_t hash = hash_of(all, peer);
    uint32_t slot = find(all, hash, peer);
    struct client *client;

    if (slot == TABLE_NONE)
        return;
    all->connections--;
    client = pool_at(&all->clients, slot);
    if (--client->connections)
        return;
    table_remove(&all->by_address, hash, slot);
    pool_give(&all->clients, slot);
}

/* --- accepting */

static int watch_all(struct listeners *all, uint32_t events, struct err *err)
{
    for (uint32_t i = 0; i < all->socket_count; i++)
        if (loop_change(all->loop, &all->sockets[i].watch, events, err) < 0)
            return -ERR_SYSTEM;
    return 0;
}

static int rest(struct listeners *all, struct err *err)
{
    all->counts.pauses++;
    if (watch_all(all, 0, err) < 0)
        return -ERR_SYSTEM;
    return loop_set(all->loop, &all->rest, loop_clock() + all->limits.pause, err);
}

static int on_rested(void *ctx, struct err *err)
{
    return watch_all(ctx, EPOLLIN, err);
}

int listeners_pause(struct listeners *all, struct err *err)
{
    all->paused = true; /* this round may have told of connections already */
    loop_unset(all->loop, &all->rest);
    return watch_all(all, 0, err);
}

int listeners_go_on(struct listeners *all, struct err *err)
{
    all->paused = false;
    return watch_all(all, EPOLLIN, err);
}

static int take(struct listeners *all, int fd, const struct net_address *peer, struct err *err)
{
    uint64_t *count = admit(all, peer);

    ++*count;
    if (count != &all->counts.accepted) {
        close(fd);
        return 0;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    return all->host.accepted(all->host.ctx, fd, peer, err);
}

/* accept(2): all but these are errors of the one connection, which is gone. */
static bool must_rest(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static int on_ready(void *ctx, uint32_t events, struct err *err)
{
    struct listening *l = ctx;
    struct listeners *all = l->all;
    int result = 0;

    (void)events;
    for (int i = 0; i < ACCEPTS && result == 0 && !all->paused; i++) {
        struct sockaddr_storage storage = { 0 };
        socklen_t len = sizeof(storage);
        struct net_address peer;
        int fd =
            accept4(l->watch.fd, (struct sockaddr *)&storage, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0 && errno == EAGAIN)
            break;
        if (fd < 0) {
            if (must_rest(errno))
                return rest(all, err);
            all->counts.failed += errno != EINTR;
            continue;
        }
        net_address_from(&peer, &storage);
        result = take(all, fd, &peer, err);
    }
    return result;
}

/* --- owners */

struct listeners *listeners_new(struct loop *loop, const struct listen_limits *limits,
                                const struct listen_host *host, struct err *err)
{
    struct listeners *all = calloc(1, sizeof(*all));

    if (!all || !pool_init(&all->clients, sizeof(struct client))) {
        err_memory(err, "listeners");
        if (all)
            pool_free(&all->clients);
        free(all);
        return NULL;
    }
    all->loop = loop;
    all->limits = *limits;
    all->host = *host;
    all->rest = (struct timer){ .due = on_rested, .ctx = all };
    if (getrandom(&all->key, sizeof(all->key), GRND_NONBLOCK) < 0)
        all->key = (uint64_t)loop_clock();
    return all;
}

void listeners_stop(struct listeners *all)
{
    loop_unset(all->loop, &all->rest);
    for (uint32_t i = 0; i < all->socket_count; i++) {
        int fd = all->sockets[i].watch.fd;

        loop_unwatch(all->loop, &all->sockets[i].watch);
        close(fd);
    }
    all->socket_count = 0;
}

uint32_t listeners_sockets(const struct listeners *all, int *fds)
{
    for (uint32_t i = 0; i < all->socket_count; i++)
        fds[i] = all->sockets[i].watch.fd;
    return all->socket_count;
}

void listeners_free(struct listeners *all)
{
    if (!all)
        return;
    listeners_stop(all);
    table_free(&all->by_address);
    pool_free(&all->clients);
    free(all);
}

static int open_at(const struct net_address *address, struct net_address *bound, struct err *err)
{
    char text[NET_ADDRESS_TEXT];
    int one = 1, fd = socket(address->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", net_address_text(address, text), strerror(errno));
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
        (address->family == AF_INET6 &&
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) < 0) ||
        bind(fd, &address->any, net_address_size(address)) < 0 || listen(fd, SOMAXCONN) < 0) {
        err_set(err, ERR_SYSTEM, "cannot listen at %s (TCP): %s", net_address_text(address, text),
                strerror(errno));
        close(fd);
        return -ERR_SYSTEM;
    }
    if (bound && net_address_of_socket(fd, bound, err) < 0) {
        close(fd);
        return -ERR_SYSTEM;
    }
    return fd;
}

int listeners_adopt(struct listeners *all, int fd, struct err *err)
{
    struct listening *l = &all->sockets[all->socket_count];

    if (all->socket_count == LISTEN_SOCKETS) {
        close(fd);
        return err_set(err, ERR_USAGE, "more than %d addresses to listen at", LISTEN_SOCKETS);
    }
    *l = (struct listening){ all, { .fd = fd, .ready = on_ready, .ctx = l } };
    if (loop_watch(all->loop, &l->watch, EPOLLIN, err) < 0) {
        close(fd);
        return -ERR_SYSTEM;
    }
    all->socket_count++;
    return 0;
}

int listeners_add(struct listeners *all, const struct net_address *address,
                  struct net_address *bound, struct err *err)
{
    int fd = open_at(address, bound, err);

    return fd < 0 ? fd : listeners_adopt(all, fd, err);
}

const struct listen_counts *listeners_counts(const struct listeners *all)
{
    return &all->counts;
}

uint32_t listeners_connections(const struct listeners *all)
{
    return all->connections;
}
