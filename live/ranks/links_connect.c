/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ranks/links_connect.c
 *
 * How ranks get connected: each one to those below it.  The contract is in links.h.
 *
 * HELLO has the format's version u32, the number of ranks u32, the rank that connects u32, and the
 * token.
 */
#include "ranks/links_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    VERSION = 1,
    HELLO = 12 + LINKS_TOKEN,
    STRANGER = 1 + HELLO,
    PROBES = 4,
    LOOK = 1000000 /* ns */
};

/* A host that is gone says nothing: TCP asks it. */
static void set_options(int fd)
{
    int on = 1, idle = LINKS_SILENCE / 5, every = LINKS_SILENCE / 5, probes = PROBES;
    unsigned silence = LINKS_SILENCE * 1000;

    /* only those that fail to be set are missed */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof(silence));
}

static int on_accepted(void *ctx, int fd, const struct net_address *peer, struct err *err)
{
    struct links *l = ctx;
    struct link *link;

    set_options(fd);
    link = links_add(l, fd, STRANGER, err); /* until it has said who it is */
    if (!link)
        return -ERR_SYSTEM;
    link->peer = *peer;
    link->next = l->unknown;
    l->unknown = link;
    return 0;
}

int links_listen(struct links *l, const struct net_address *address, struct net_address *bound,
                 struct err *err)
{
    const struct listen_limits limits = { .connections = 4 * LINKS_RANKS_MAX,
                                          .of_address = 4 * LINKS_RANKS_MAX,
                                          .pause = 100000000 };
    const struct listen_host host = { on_accepted, l };

    l->listeners = listeners_new(l->setup.loop, &limits, &host, err);
    if (!l->listeners || listeners_add(l->listeners, address, bound, err) < 0)
        return err_prefix(err, "listening for the other ranks");
    return 0;
}

/* --- HELLO */

static void connected(struct link *link, uint32_t rank)
{
    struct links *l = link->links;

    link->rank = rank;
    l->of[rank] = link;
    l->connected++;
}

static bool is_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
    uint8_t differs = 0;

    for (size_t i = 0; i < len; i++)
        differs |= a[i] ^ b[i]; /* takes as long wherever they differ */
    return !differs;
}

int links_hello(struct link *link, struct bytes body, struct err *err)
{
    struct links *l = link->links;
    struct link **at = &l->unknown;
    uint32_t rank;

    (void)err;
    if (body.len != HELLO || load_be32(body.data) != VERSION ||
        load_be32(body.data + 4) != l->setup.count ||
        !is_equal(body.data + 12, l->setup.token, LINKS_TOKEN))
        return -ERR_INPUT;
    rank = load_be32(body.data + 8);
    if (rank <= l->setup.rank || rank >= l->setup.count || l->of[rank])
        return -ERR_INPUT;
    while (*at && *at != link)
        at = &(*at)->next;
    if (*at)
        *at = link->next;
    record_stream_allow(link->stream, LINKS_MESSAGE);
    connected(link, rank);
    return 0;
}

static int say_hello(struct link *link, struct err *err)
{
    const struct links_setup *setup = &link->links->setup;
    uint8_t body[HELLO];

    store_be32(body, VERSION);
    store_be32(body + 4, setup->count);
    store_be32(body + 8, setup->rank);
    memcpy(body + 12, setup->token, LINKS_TOKEN);
    return links_send(link, LINK_HELLO, (struct bytes){ body, sizeof(body) }, err);
}

/* All ranks listen already, so this waits for the network only. */
static int connect_to(struct links *l, uint32_t rank, const struct net_address *address,
                      struct err *err)
{
    const struct timeval patience = { .tv_sec = LINKS_SILENCE };
    int fd = socket(address->family, SOCK_STREAM | SOCK_CLOEXEC, 0), code;
    char text[NET_ADDRESS_TEXT];
    struct link *link;

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (fd < 0 || connect(fd, &address->any, net_address_size(address)) < 0 ||
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0) {
        code = errno;
        if (fd >= 0)
            close(fd);
        return err_set(err, ERR_SYSTEM, "rank %u cannot be reached at %s: %s", rank,
                       net_address_text(address, text),
                       code == EINPROGRESS ? "no answer" : strerror(code));
    }
    set_options(fd);
    link = links_add(l, fd, LINKS_MESSAGE, err);
    if (!link)
        return -ERR_SYSTEM;
    connected(link, rank);
    return say_hello(link, err);
}

static int on_look(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

/* Until all have said who they are, and this rank has said it to all. */
static int wait_for_all(struct links *l, struct err *err)
{
    struct loop *loop = l->setup.loop;
    struct timer look = { .due = on_look, .ctx = loop };
    int64_t until = loop_clock() + LINKS_SILENCE * INT64_C(1000000000);
    int result = 0;

    while (result == 0 && !loop_signal(loop) && loop_clock() < until &&
           (l->connected < l->setup.count - 1 || links_sending(l))) {
        result = loop_set(loop, &look, loop_clock() + LOOK, err);
        if (result == 0)
            result = loop_run(loop, err);
    }
    loop_unset(loop, &look);
    return result;
}

int links_connect(struct links *l, const struct net_address *addresses, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < l->setup.rank && result == 0; i++)
        result = connect_to(l, i, &addresses[i], err);
    if (result == 0)
        result = wait_for_all(l, err);
    if (result == 0 && l->connected < l->setup.count - 1)
        result = err_set(err, ERR_SYSTEM, "%u of %u other ranks have not connected",
                         l->setup.count - 1 - l->connected, l->setup.count - 1);
    if (l->listeners)
        listeners_stop(l->listeners);
    while (l->unknown) /* strangers */
        links_put_out(l->unknown);
    return result;
}
