/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ring/ring_attach.c
 *
 * A reader's side of attaching to a ring.  Contract: ring_door.h.
 */
#include "net/local_socket.h"
#include "ring/ring_door.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Receives the greeting, which comes whole.  Returns the descriptor that came with it, or -1. */
static int receive(int fd, struct ring_greeting *greeting, ssize_t *got)
{
    struct iovec vector = { greeting, sizeof(*greeting) };
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = { .msg_iov = &vector,
                              .msg_iovlen = 1,
                              .msg_control = control.space,
                              .msg_controllen = sizeof(control.space) };
    const struct cmsghdr *rights;
    int passed = -1;

    *got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    rights = *got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
        rights->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&passed, CMSG_DATA(rights), sizeof(passed));
    return passed;
}

static int map(int fd, const struct loop *loop, struct ring_reader **reader, struct err *err)
{
    struct ring_greeting greeting = { .version = 0 };
    ssize_t got;
    int passed;

    if (local_socket_await(fd, loop, RING_DOOR_PATIENCE, err) < 0)
        return -err->code;
    passed = receive(fd, &greeting, &got);
    if (got < 0)
        return err_set(err, ERR_SYSTEM, "%s", strerror(errno));
    *reader = NULL;
    if (got != sizeof(greeting) || memcmp(greeting.magic, RING_MAGIC, sizeof(greeting.magic)) != 0)
        err_set(err, ERR_INPUT, "no relay of nfstee listens there");
    else if (greeting.version != RING_VERSION)
        err_set(err, ERR_INPUT,
                "the relay's ring has version %" PRIu32 ", and this program knows version %d",
                greeting.version, RING_VERSION);
    else if (passed < 0)
        err_set(err, ERR_INPUT, "the relay passed no ring");
    else
        *reader = ring_reader_new(passed, err);
    if (passed >= 0)
        close(passed);
    if (*reader && ring_reader_identity(*reader) != greeting.identity) {
        ring_reader_free(*reader);
        *reader = NULL;
        err_set(err, ERR_INPUT, "the relay passed another ring than it said");
    }
    return *reader ? 0 : -err->code;
}

int ring_attach(const char *path, const struct loop *loop, int *fd, struct ring_reader **reader,
                struct err *err)
{
    *fd = local_socket_connect(path, loop, RING_DOOR_PATIENCE, err);
    if (*fd < 0)
        return *fd;
    if (map(*fd, loop, reader, err) < 0) {
        close(*fd);
        *fd = -1;
        return err_prefix(err, "%s", path);
    }
    return 0;
}

/* The writer ends the connection when the mark is in the ring. */
static int tell_mark(int fd, const struct loop *loop, const uint8_t *mark, struct err *err)
{
    uint8_t bytes[1 + RING_DOOR_MARK] = { RING_DOOR_MARKS };
    ssize_t got;
    char rest;

    memcpy(bytes + 1, mark, RING_DOOR_MARK);
    if (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) != sizeof(bytes) || shutdown(fd, SHUT_WR) < 0)
        return err_set(err, ERR_SYSTEM, "%s", strerror(errno));
    if (local_socket_await(fd, loop, RING_DOOR_PATIENCE, err) < 0)
        return -err->code;
    got = recv(fd, &rest, 1, MSG_DONTWAIT);
    if (got == 0)
        return 0;
    return err_set(err, ERR_SYSTEM, "%s", got > 0 ? "it says something else" : strerror(errno));
}

int ring_mark(const char *path, const struct loop *loop, const uint8_t *mark, struct err *err)
{
    struct ring_reader *reader;
    int fd, result;

    if (ring_attach(path, loop, &fd, &reader, err) < 0)
        return -err->code;
    ring_reader_free(reader);
    result = tell_mark(fd, loop, mark, err);
    close(fd);
    return result < 0 ? err_prefix(err, "%s: the relay takes no mark", path) : 0;
}

void ring_keep_mark(int fd, const uint8_t *mark)
{
    uint8_t bytes[1 + RING_DOOR_MARK] = { RING_DOOR_MARKS };

    memcpy(bytes + 1, mark, RING_DOOR_MARK);
    (void)!send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL); /* a writer that is gone keeps nothing */
}

int ring_ask(int fd, struct err *err)
{
    if (send(fd, "A", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 || errno == EAGAIN)
        return 0; /* when it waits already, another byte changes nothing */
    return err_set(err, ERR_SYSTEM, "the relay: %s", strerror(errno));
}

bool ring_orphaned(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}
