/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/hand_over.c
 *
 * Both sides of handing listening sockets over.  Contract: hand_over.h.
 */
#include "relay/hand_over.h"
#include "net/local_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct hand_over {
    struct loop *loop;
    struct watch watch;
    struct watch guest;     /* who connected last, and has not said what it wants; fd -1: nobody */
    struct watch successor; /* has copies of the sockets, and is not ready; fd -1: nobody */
    struct timer late;
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

/* Returns false if the other is gone. */
static bool say(int fd, char word)
{
    return send(fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* Ends the connection to the successor with a last |word|.  Returns false if it is gone. */
static bool dismiss(struct hand_over *h, char word)
{
    int fd = h->successor.fd;
    bool said;

    if (fd < 0)
        return false;
    loop_unset(h->loop, &h->late);
    loop_unwatch(h->loop, &h->successor);
    h->successor.fd = -1;
    said = say(fd, word);
    close(fd);
    return said;
}

static int keep(struct hand_over *h, const char *why, struct err *err)
{
    dismiss(h, HAND_OVER_NO);
    return h->host.kept(h->host.ctx, why, err);
}

static int on_late(void *ctx, struct err *err)
{
    char why[60];

    snprintf(why, sizeof(why), "it was not ready after %d s", HAND_OVER_PATIENCE);
    return keep(ctx, why, err);
}

static int on_successor(void *ctx, uint32_t events, struct err *err)
{
    struct hand_over *h = ctx;
    char word;
    ssize_t got = recv(h->successor.fd, &word, 1, 0);

    (void)events;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (got != 1 || word != HAND_OVER_READY)
        return keep(h, got == 1 ? "it said something else" : "it ended before it was ready", err);
    return dismiss(h, HAND_OVER_GO) ? h->host.given(h->host.ctx, err)
                                    : keep(h, "it ended before it knew that it serves", err);
}

static int await(struct hand_over *h, int fd, struct err *err)
{
    h->successor = (struct watch){ .fd = fd, .ready = on_successor, .ctx = h };
    if (loop_watch(h->loop, &h->successor, EPOLLIN, err) < 0) {
        h->successor.fd = -1;
        return -err->code;
    }
    return loop_set(h->loop, &h->late, loop_clock() + HAND_OVER_PATIENCE * INT64_C(1000000000),
                    err);
}

/* The successor listens on the same path, so this one must be gone before it has the message. */
static int give(struct hand_over *h, int fd, struct err *err)
{
    int sockets[HAND_OVER_SOCKETS];
    struct err why = { 0 };
    uint32_t count = 0;

    stop_listening(h);
    if (h->host.release(h->host.ctx, sockets, &count, &why) == 0 &&
        send_sockets(fd, sockets, count, &why) == 0 && await(h, fd, &why) == 0)
        return 0;
    if (h->successor.fd < 0) {
        say(fd, HAND_OVER_NO);
        close(fd);
    }
    return keep(h, why.text, err);
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

/* The guest before may have said what it wants in the same round: it is heard first. */
static int on_connection(void *ctx, uint32_t events, struct err *err)
{
    struct hand_over *h = ctx;
    int fd, result = h->guest.fd >= 0 ? on_guest(h, events, err) : 0;

    if (result < 0 || h->watch.fd < 0)
        return result;
    fd = accept4(h->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
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

int hand_over_listen(struct hand_over *h, struct err *err)
{
    const struct sockaddr_un address = h->local.address;
    int fd;

    if (h->watch.fd >= 0)
        return 0;
    fd = local_socket_listen(&h->local, address.sun_path, 1, err);
    if (fd < 0)
        return -err->code;
    h->watch = (struct watch){ .fd = fd, .ready = on_connection, .ctx = h };
    if (loop_watch(h->loop, &h->watch, EPOLLIN, err) == 0)
        return 0;
    h->watch.fd = -1;
    close(fd);
    local_socket_remove(&h->local);
    return -err->code;
}

struct hand_over *hand_over_new(struct loop *loop, const char *path,
                                const struct hand_over_host *host, struct err *err)
{
    struct hand_over *h = calloc(1, sizeof(*h));

    if (!h) {
        err_memory(err, "the socket for a successor");
        return NULL;
    }
    h->loop = loop;
    h->host = *host;
    h->late = (struct timer){ .due = on_late, .ctx = h };
    h->guest.fd = h->successor.fd = h->watch.fd = -1;
    if (local_socket_name(&h->local, path, err) == 0 && hand_over_listen(h, err) == 0)
        return h;
    free(h);
    return NULL;
}

void hand_over_free(struct hand_over *h)
{
    if (!h)
        return;
    dismiss(h, HAND_OVER_GO); /* nobody else could serve */
    stop_listening(h);
    free(h);
}

/* --- the successor's side */

/* The answer comes whole. */
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
    ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

    if (got < 0)
        return err_set(err, ERR_SYSTEM, "%s", strerror(errno));
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

static int ask(int fd, const struct loop *loop, int *sockets, struct err *err)
{
    if (send(fd, HAND_OVER_MAGIC, sizeof(HAND_OVER_MAGIC), MSG_NOSIGNAL) < 0)
        return err_set(err, ERR_SYSTEM, "%s", strerror(errno));
    if (local_socket_await(fd, loop, HAND_OVER_PATIENCE, err) < 0)
        return -err->code;
    return receive(fd, sockets, err);
}

int hand_over_take(const char *path, const struct loop *loop, int sockets[HAND_OVER_SOCKETS],
                   int *fd, struct err *err)
{
    struct stat st;
    struct err why = { 0 };
    int count;

    *fd = -1;
    if (lstat(path, &st) < 0 && errno == ENOENT)
        return 0;
    *fd = local_socket_connect(path, loop, HAND_OVER_PATIENCE, &why);
    if (*fd < 0) {
        *fd = -1;
        if (errno != EINTR && errno != EAGAIN)
            return 0; /* one that was killed left its socket; local_socket_listen says the rest */
        *err = why;
        return -err->code;
    }
    count = ask(*fd, loop, sockets, err);
    if (count >= 0)
        return count;
    close(*fd);
    *fd = -1;
    return err_prefix(err, "%s", path);
}

/* A relay that goes on says so; one that is gone cannot, and its sockets are the successor's.  One
 * that says nothing in time may still read that this one was ready: after the shutdown, it cannot
 * say HAND_OVER_GO any more, and so goes on; what it said before is still there. */
int hand_over_confirm(int fd, const struct loop *loop, struct err *err)
{
    char word = 0;
    bool waited;
    ssize_t got;

    say(fd, HAND_OVER_READY);
    waited = local_socket_await(fd, loop, HAND_OVER_PATIENCE, err) == 0;
    if (!waited)
        shutdown(fd, SHUT_RDWR);
    got = recv(fd, &word, 1, MSG_DONTWAIT);
    if (got == 1 ? word == HAND_OVER_GO : waited)
        return 0;
    if (got == 1)
        return err_set(err, ERR_SYSTEM, "the relay there goes on: this one was not ready in time");
    return err_prefix(err, "the relay there does not say that it gives its sockets");
}
