/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/datagram.c
 *
 * UDP for rpc_server.  Contract: datagram.h.  Input is one batch of recvmmsg, delivered message by
 * message; what an owner that holds the delivery has not seen of it is kept for later.  Output is
 * one buffer of bytes and a list of the datagrams in it, emptied by sendmmsg.
 */
#include "net/datagram.h"
#include "base/grow.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { BATCHES = 8 }; /* of a round, so that connections have their turn */

/* Room for IP_PKTINFO or IPV6_PKTINFO. */
union control {
    struct cmsghdr header;
    uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

struct outgoing {
    struct datagram_ends ends;
    size_t at; /* in |out_bytes| */
    uint32_t len;
};

struct datagram_socket {
    struct loop *loop;
    struct datagram_limits limits;
    struct datagram_host host;
    struct datagram_counts counts;
    struct net_address bound;
    struct watch watch;
    struct idle flush;
    /* input: */
    uint8_t *in_bytes; /* DATAGRAM_BATCH times |size_max| */
    struct mmsghdr in[DATAGRAM_BATCH];
    struct iovec in_at[DATAGRAM_BATCH];
    struct sockaddr_storage in_peers[DATAGRAM_BATCH];
    union control in_control[DATAGRAM_BATCH];
    int in_count, in_next;
    /* output: */
    struct buf out_bytes;
    struct outgoing *out;
    uint32_t out_count, out_cap, out_next;
    uint32_t busy;
    bool held, dead;
};

/* --- input */

/* Where it was sent to: the address to answer from. */
static void find_local(const struct datagram_socket *s, struct msghdr *m, struct net_address *local)
{
    *local = s->bound;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;

            /* not ipi_addr, which may be a broadcast address */
            memcpy(&info, CMSG_DATA(c), sizeof(info));
            local->v4.sin_addr = info.ipi_spec_dst;
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;

            memcpy(&info, CMSG_DATA(c), sizeof(info));
            local->v6.sin6_addr = info.ipi6_addr;
            if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
                local->v6.sin6_scope_id = info.ipi6_ifindex;
        }
    }
}

/* How many came; 0: none. */
static int receive(struct datagram_socket *s)
{
    for (int i = 0; i < DATAGRAM_BATCH; i++) {
        s->in_at[i] =
            (struct iovec){ s->in_bytes + (size_t)i * s->limits.size_max, s->limits.size_max };
        s->in[i].msg_hdr = (struct msghdr){ .msg_name = &s->in_peers[i],
                                            .msg_namelen = sizeof(s->in_peers[i]),
                                            .msg_iov = &s->in_at[i],
                                            .msg_iovlen = 1,
                                            .msg_control = &s->in_control[i],
                                            .msg_controllen = sizeof(s->in_control[i]) };
    }
    s->in_next = 0;
    s->in_count = recvmmsg(s->watch.fd, s->in, DATAGRAM_BATCH, MSG_DONTWAIT, NULL);
    if (s->in_count >= 0)
        return s->in_count;
    s->in_count = 0;
    s->counts.failed += errno != EAGAIN && errno != EINTR;
    return 0;
}

static int deliver(struct datagram_socket *s, struct err *err)
{
    int result = 0;

    while (result == 0 && !s->held && !s->dead && s->in_next < s->in_count) {
        struct mmsghdr *m = &s->in[s->in_next];
        struct bytes data = { s->in_at[s->in_next].iov_base, m->msg_len };
        struct datagram_ends ends;

        if (m->msg_hdr.msg_flags & MSG_TRUNC) {
            s->counts.too_long++;
        } else {
            s->counts.received++;
            net_address_from(&ends.peer, &s->in_peers[s->in_next]);
            find_local(s, &m->msg_hdr, &ends.local);
            result = s->host.received(s->host.ctx, data, &ends, err);
        }
        s->in_next++;
    }
    return result;
}

/* --- output */

static int set_events(struct datagram_socket *s, struct err *err)
{
    uint32_t events = (s->held ? 0 : EPOLLIN) | (s->out_next < s->out_count ? EPOLLOUT : 0);

    return loop_change(s->loop, &s->watch, events, err);
}

static void put_local(struct msghdr *m, union control *control, const struct net_address *local)
{
    struct cmsghdr *c = &control->header;

    m->msg_control = control;
    if (local->family == AF_INET) {
        struct in_pktinfo info = { .ipi_spec_dst = local->v4.sin_addr };

        *c = (struct cmsghdr){ CMSG_LEN(sizeof(info)), IPPROTO_IP, IP_PKTINFO };
        memcpy(CMSG_DATA(c), &info, sizeof(info));
        m->msg_controllen = CMSG_SPACE(sizeof(info));
    } else {
        struct in6_pktinfo info = { local->v6.sin6_addr, local->v6.sin6_scope_id };

        *c = (struct cmsghdr){ CMSG_LEN(sizeof(info)), IPPROTO_IPV6, IPV6_PKTINFO };
        memcpy(CMSG_DATA(c), &info, sizeof(info));
        m->msg_controllen = CMSG_SPACE(sizeof(info));
    }
}

/* One system call; how many datagrams went, or -1 with errno. */
static int send_batch(struct datagram_socket *s)
{
    struct mmsghdr messages[DATAGRAM_BATCH] = { 0 };
    struct iovec at[DATAGRAM_BATCH];
    union control control[DATAGRAM_BATCH] = { 0 };
    unsigned count = 0;

    for (uint32_t i = s->out_next; i < s->out_count && count < DATAGRAM_BATCH; i++, count++) {
        struct outgoing *o = &s->out[i];
        struct msghdr *m = &messages[count].msg_hdr;

        at[count] = (struct iovec){ s->out_bytes.data + o->at, o->len };
        *m = (struct msghdr){ .msg_name = &o->ends.peer,
                              .msg_namelen = net_address_size(&o->ends.peer),
                              .msg_iov = &at[count],
                              .msg_iovlen = 1 };
        put_local(m, &control[count], &o->ends.local);
    }
    return sendmmsg(s->watch.fd, messages, count, MSG_NOSIGNAL);
}

static int flush(struct datagram_socket *s, struct err *err)
{
    while (s->out_next < s->out_count) {
        int sent = send_batch(s);

        if (sent > 0) {
            s->out_next += (uint32_t)sent;
            s->counts.sent += (uint64_t)sent;
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) { /* this one cannot go, or an ICMP error came: not worth more */
            s->counts.failed++;
            s->out_next++;
        }
    }
    if (s->out_next == s->out_count) {
        s->out_next = s->out_count = 0;
        s->out_bytes.len = 0;
    }
    return set_events(s, err);
}

bool datagram_send(struct datagram_socket *s, const struct datagram_ends *ends, struct bytes data)
{
    uint64_t queued = s->out_bytes.len + (uint64_t)s->out_count * DATAGRAM_ENDS_SIZE;

    if (data.len > DATAGRAM_MAX || queued + data.len + DATAGRAM_ENDS_SIZE > s->limits.queue_max ||
        GROW(s->out, s->out_count, s->out_cap) < 0 ||
        buf_append(&s->out_bytes, data.data, data.len) < 0) {
        s->counts.dropped++;
        return false;
    }
    s->out[s->out_count++] = (struct outgoing){ *ends, s->out_bytes.len - data.len, data.len };
    loop_idle(s->loop, &s->flush);
    return true;
}

/* --- the loop */

static void dispose(struct datagram_socket *s)
{
    free(s->in_bytes);
    free(s->out);
    buf_free(&s->out_bytes);
    free(s);
}

static int leave(struct datagram_socket *s, int result)
{
    if (--s->busy == 0 && s->dead)
        dispose(s);
    return result;
}

static int on_ready(void *ctx, uint32_t events, struct err *err)
{
    struct datagram_socket *s = ctx;
    int result = 0;

    if (events & EPOLLOUT)
        loop_idle(s->loop, &s->flush);
    s->busy++;
    for (int i = 0; i < BATCHES && result == 0 && !s->held && !s->dead; i++) {
        if (s->in_next == s->in_count && receive(s) == 0)
            break;
        result = deliver(s, err);
    }
    return leave(s, result);
}

static int on_flush(void *ctx, struct err *err)
{
    struct datagram_socket *s = ctx;
    int result;

    s->busy++;
    result = flush(s, err);
    if (result == 0 && s->in_next < s->in_count) /* held, and resumed */
        result = deliver(s, err);
    return leave(s, result);
}

void datagram_hold(struct datagram_socket *s)
{
    s->held = true;
    loop_idle(s->loop, &s->flush);
}

void datagram_resume(struct datagram_socket *s)
{
    s->held = false;
    loop_idle(s->loop, &s->flush);
}

/* --- owners */

void datagram_keep_waiting(int fd)
{
    int size = DATAGRAM_WAITING;

    /* the first needs a privilege, the second takes at most net.core.rmem_max */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

static int open_at(const struct net_address *address, struct err *err)
{
    char text[NET_ADDRESS_TEXT];
    int one = 1, fd = socket(address->family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool v6 = address->family == AF_INET6;

    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", net_address_text(address, text), strerror(errno));
    /* no SO_REUSEADDR: over UDP it would share the port with another server */
    if ((v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) < 0) ||
        setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_RECVPKTINFO : IP_PKTINFO, &one,
                   sizeof(one)) < 0 ||
        bind(fd, &address->any, net_address_size(address)) < 0) {
        err_set(err, ERR_SYSTEM, "cannot listen at %s (UDP): %s", net_address_text(address, text),
                strerror(errno));
        close(fd);
        return -ERR_SYSTEM;
    }
    datagram_keep_waiting(fd);
    return fd;
}

struct datagram_socket *datagram_open(struct loop *loop, const struct net_address *address,
                                      const struct datagram_limits *limits,
                                      const struct datagram_host *host, struct err *err)
{
    struct datagram_socket *s = calloc(1, sizeof(*s));

    if (!s) {
        err_memory(err, "a UDP socket");
        return NULL;
    }
    s->loop = loop;
    s->limits = *limits;
    s->host = *host;
    s->flush = (struct idle){ .run = on_flush, .ctx = s };
    s->watch = (struct watch){ .fd = -1, .ready = on_ready, .ctx = s };
    s->in_bytes = malloc((size_t)DATAGRAM_BATCH * limits->size_max);
    if (!s->in_bytes) {
        err_memory(err, "a UDP socket");
        dispose(s);
        return NULL;
    }
    s->watch.fd = open_at(address, err);
    if (s->watch.fd < 0) {
        dispose(s);
        return NULL;
    }
    if (net_address_of_socket(s->watch.fd, &s->bound, err) < 0 ||
        loop_watch(loop, &s->watch, EPOLLIN, err) < 0) {
        close(s->watch.fd);
        dispose(s);
        return NULL;
    }
    return s;
}

void datagram_free(struct datagram_socket *s)
{
    int fd;

    if (!s)
        return;
    fd = s->watch.fd;
    loop_unidle(s->loop, &s->flush);
    loop_unwatch(s->loop, &s->watch);
    close(fd);
    s->dead = true;
    if (!s->busy)
        dispose(s);
}

const struct net_address *datagram_address(const struct datagram_socket *s)
{
    return &s->bound;
}

const struct datagram_counts *datagram_counts(struct datagram_socket *s)
{
    uint32_t info[SK_MEMINFO_VARS];
    socklen_t len = sizeof(info);

    if (getsockopt(s->watch.fd, SOL_SOCKET, SO_MEMINFO, info, &len) == 0)
        s->counts.lost = info[SK_MEMINFO_DROPS];
    return &s->counts;
}
