/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_client_udp.c
 *
 * Datagrams of an RPC client.  Nothing says that one was lost, so a call is sent again until its
 * answer is there: first after |resend|[0], then after twice as long, and so on.  All datagrams of
 * a round leave in as few system calls as possible.
 */
#include "net/rpc_client_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { AT_ONCE = 64, INPUT = 65536 };

void udp_close(struct rpc_client *c)
{
    int fd = c->datagrams.fd;

    loop_unidle(c->loop, &c->flush);
    c->queue_count = 0;
    if (fd < 0)
        return;
    loop_unwatch(c->loop, &c->datagrams);
    close(fd);
}

void udp_forget(struct rpc_client *c, struct slot *slot)
{
    loop_unset(c->loop, &slot->again);
    for (uint32_t i = 0; slot->queued && i < c->queue_count; i++)
        if (c->queue[i] == slot)
            c->queue[i] = NULL;
    slot->queued = false;
}

/* --- input */

static int on_datagrams(void *ctx, uint32_t events, struct err *err)
{
    struct rpc_client *c = ctx;
    int result = 0;

    (void)events;
    client_enter(c);
    for (int i = 0; i < AT_ONCE && result >= 0 && !c->dead; i++) {
        ssize_t got = recv(c->datagrams.fd, c->input, INPUT, 0);

        if (got >= 0) {
            if ((size_t)got > c->setup.limits.reply_max)
                c->stats.garbage++;
            else
                result = client_message(c, c->input, (uint32_t)got, err);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            c->stats.not_sent++; /* an ICMP message: the call is sent again later */
        }
    }
    return client_leave(c, result < 0 ? result : 0);
}

/* --- output */

static int on_flush(void *ctx, struct err *err)
{
    static const uint8_t zeros[3];
    struct rpc_client *c = ctx;
    uint32_t at = 0;

    (void)err;
    while (at < c->queue_count) {
        struct mmsghdr messages[AT_ONCE];
        struct iovec pieces[AT_ONCE][3];
        uint32_t count = 0, done = 0;

        memset(messages, 0, sizeof(messages));
        for (; at < c->queue_count && count < AT_ONCE; at++) {
            struct slot *slot = c->queue[at];

            if (!slot)
                continue;
            slot->queued = false;
            pieces[count][0] = (struct iovec){ slot->message.data, slot->message.len };
            pieces[count][1] = (struct iovec){ (void *)slot->tail.data, slot->tail.len };
            pieces[count][2] = (struct iovec){ (void *)zeros, -slot->tail.len & 3u };
            messages[count].msg_hdr.msg_iov = pieces[count];
            messages[count++].msg_hdr.msg_iovlen = slot->tail.len ? 3 : 1;
            c->stats.bytes_out += slot->message.len + slot->tail.len;
            client_show_call(c, slot);
        }
        while (done < count) {
            int sent = sendmmsg(c->datagrams.fd, messages + done, count - done, MSG_NOSIGNAL);

            if (sent < 0 && errno == EINTR)
                continue;
            c->stats.not_sent += sent <= 0;
            c->stats.writes += sent > 0;
            done += sent <= 0 ? 1 : (uint32_t)sent; /* it is sent again anyway */
        }
    }
    c->queue_count = 0;
    return 0;
}

static int queue(struct rpc_client *c, struct slot *slot, struct err *err)
{
    if (!slot->queued) {
        if (c->queue_count == c->setup.limits.calls)
            on_flush(c, err); /* full of calls that ended in this round */
        slot->queued = true;
        c->queue[c->queue_count++] = slot;
        loop_idle(c->loop, &c->flush);
    }
    return loop_set(c->loop, &slot->again, loop_now(c->loop) + slot->wait, err);
}

static int on_again(void *ctx, struct err *err)
{
    struct slot *slot = ctx;
    struct rpc_client *c = slot->client;
    int64_t most = c->setup.limits.resend[1];

    slot->wait = slot->wait > most / 2 ? (slot->wait > most ? slot->wait : most) : 2 * slot->wait;
    slot->resent++;
    c->stats.resent++;
    return queue(c, slot, err);
}

static int open_socket(struct rpc_client *c, struct err *err)
{
    int fd, error;

    c->queue = c->queue ? c->queue : calloc(c->setup.limits.calls, sizeof(*c->queue));
    c->input = c->input ? c->input : malloc(INPUT);
    if (!c->queue || !c->input)
        return err_memory(err, "an RPC client");
    if (source_port_connect(&c->setup.from, &c->setup.server, SOCK_DGRAM, &fd, &error, err) < 0)
        return -ERR_SYSTEM;
    datagram_keep_waiting(fd);
    c->datagrams = (struct watch){ .fd = fd, .ready = on_datagrams, .ctx = c };
    if (loop_watch(c->loop, &c->datagrams, EPOLLIN, err) < 0) {
        c->datagrams.fd = -1;
        close(fd);
        return -ERR_SYSTEM;
    }
    c->flush = (struct idle){ .run = on_flush, .ctx = c };
    c->has_port = net_address_of_socket(fd, &c->setup.from.local, NULL) == 0;
    c->own = c->setup.from.local;
    c->stats.connects++;
    return 0;
}

int udp_send(struct rpc_client *c, struct slot *slot, struct err *err)
{
    if (c->datagrams.fd < 0 && open_socket(c, err) < 0)
        return -ERR_SYSTEM;
    slot->again = (struct timer){ .due = on_again, .ctx = slot };
    slot->wait = c->setup.limits.resend[0];
    return queue(c, slot, err);
}
