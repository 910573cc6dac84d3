/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/hand_over.c
 *
 * Both sides of handing listening sockets over.  Contract: hand_over.h.
 */
#include "relay/hand_over.h"
#include "net/local_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE = 30 /* s */ };

struct hand_over {
    struct loop *loop;
    struct watch watch;
    struct watch guest; /* who connected last, and has not said what it wants; fd -1: nobody */
    struct local_socket local;
    struct hand_over_host host;
};

/* Room for the descriptors of one message. */
union rights {
    char space[CMSG_SPACE(HAND_OVER_SOCKETS * sizeof(int))];
    struct cmsghdr align;
};

/* --- the relay's side */

static int send_sockets(int fd, const int *sockets, uint32_t count, struct err *err)
{
    struct hand_over_message text = { HAND_OVER_MAGIC, count, 0 };
    struct iovec vector = { &text, sizeof(text) };
    union rights rights = { { 0 } };
    struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
    size_t size = count * sizeof(int);

    if (count) {
        struct cmsghdr *head;

        message.msg_control = rights.space;
        message.msg_controllen = CMSG_SPACE(size);
        head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(head), sockets, size);
    }
    if (sendmsg(fd, &message, MSG_NOSIGNAL) != sizeof(text))
        return err_set(err, ERR_SYSTEM, "handing the sockets over: %s", strerror(errno));
    return 0;
}

/* Returns its descriptor, or -1. */
static int take_guest(struct hand_over *h)
{
    int fd = h->guest.fd;

    if (fd >= 0)
        loop_unwatch(h->loop, &h->guest);
    h->guest.fd = -1;
    return fd;
}

static void drop_guest(struct hand_over *h)
{
    int fd = take_guest(h);

    if (fd >= 0)
        close(fd);
}

static void stop_listening(struct hand_over *h)
{
    int fd = h->watch.fd;

    drop_guest(h);
    if (fd < 0)
        return;
    loop_unwatch(h->loop, &h->watch);
    close(fd);
    local_socket_remove(&h->local);
}

/* The successor listens on the same path, so this one must be gone before it has the message. */
static int give(struct hand_over *h, int fd, struct err *err)
{
    int sockets[HAND_OVER_SOCKETS];
    int result;

    stop_listening(h);
    result = send_sockets(fd, sockets, h->host.release(h->host.ctx, sockets), err);
    close(fd);
    return result < 0 ? result : h->host.given(h->host.ctx, err);
}

static int on_guest(void *ctx, uint32_t events, struct err *err)
{
    struct hand_over *h = ctx;
    char text[sizeof(HAND_OVER_MAGIC)];
    ssize_t got = recv(h->guest.fd, text, sizeof(text), 0);

    (void)events;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (got == sizeof(text) && memcmp(text, HAND_OVER_MAGIC, sizeof(text)) == 0)
        return give(h, take_guest(h), err);
    drop_guest(h);
    return 0;
}

static int on_connection(void *ctx, uint32_t events, struct err *err)
{
    struct hand_over *h = ctx;
    int fd = accept4(h->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd < 0)
        return 0; /* gone */
    drop_guest(h);
    h->guest = (struct watch){ .fd = fd, .ready = on_guest, .ctx = h };
    if (loop_watch(h->loop, &h->guest, EPOLLIN, err) == 0)
        return 0;
    h->guest.fd = -1;
    close(fd);
    return -err->code;
}

struct hand_over *hand_over_new(struct loop *loop, const char *path,
                                const struct hand_over_host *host, struct err *err)
{
    struct hand_over *h = calloc(1, sizeof(*h));
    int fd;

    if (!h) {
        err_memory(err, "the socket for a successor");
        return NULL;
    }
    h->loop = loop;
    h->host = *host;
    fd = local_socket_listen(&h->local, path, 1, err);
    h->guest.fd = -1;
    h->watch = (struct watch){ .fd = fd, .ready = on_connection, .ctx = h };
    if (fd >= 0 && loop_watch(loop, &h->watch, EPOLLIN, err) == 0)
        return h;
    if (fd >= 0) {
        close(fd);
        local_socket_remove(&h->local);
    }
    free(h);
    return NULL;
}

void hand_over_free(struct hand_over *h)
{
    if (!h)
        return;
    stop_listening(h);
    free(h);
}

/* --- the successor's side */

static int receive(int fd, int *sockets, struct err *err)
{
    struct hand_over_message text = { .count = 0 };
    struct iovec vector = { &text, sizeof(text) };
    union rights rights;
    struct msghdr message = { .msg_iov = &vector,
                              .msg_iovlen = 1,
                              .msg_control = rights.space,
                              .msg_controllen = sizeof(rights.space) };
    const struct cmsghdr *head;
    uint32_t count = 0;
    ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);

    if (got < 0)
        return err_set(err, ERR_SYSTEM, "%s",
                       errno == EAGAIN ? "no answer within 30 s" : strerror(errno));
    head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        count = (uint32_t)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(sockets, CMSG_DATA(head), count * sizeof(int));
    }
    if (got == sizeof(text) && memcmp(text.magic, HAND_OVER_MAGIC, sizeof(text.magic)) == 0 &&
        text.count == count)
        return (int)count;
    for (uint32_t i = 0; i < count; i++)
        close(sockets[i]);
    return err_set(err, ERR_INPUT, "no relay of nfstee listens there");
}

int hand_over_take(const char *path, int sockets[HAND_OVER_SOCKETS], struct err *err)
{
    struct stat st;
    struct err why = { 0 };
    int count, fd;

    if (lstat(path, &st) < 0 && errno == ENOENT)
        return 0;
    fd = local_socket_connect(path, PATIENCE, &why);
    if (fd < 0) /* a relay that was killed leaves its socket; local_socket_listen says the rest */
        return 0;
    count = send(fd, HAND_OVER_MAGIC, sizeof(HAND_OVER_MAGIC), MSG_NOSIGNAL) < 0
                ? err_set(err, ERR_SYSTEM, "%s", strerror(errno))
                : receive(fd, sockets, err);
    close(fd);
    return count < 0 ? err_prefix(err, "%s", path) : count;
}
