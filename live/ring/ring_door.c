/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/ring/ring_door.c
 *
 * The writer's side of attaching to a ring.  Contract: ring_door.h.
 */
#include "ring/ring_door.h"
#include "net/local_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct guest {
    struct ring_door *door;
    struct watch watch; /* fd -1: free */
    bool marks;         /* it says a mark; so much of it is here */
    bool has_mark, rests;
    uint32_t mark_len;
    uint8_t mark[RING_DOOR_MARK];
    uint8_t kept[RING_DOOR_MARK]; /* the latest whole one */
};

struct ring_door {
    struct loop *loop;
    struct watch watch;
    struct local_socket local;
    const struct ring *ring;
    struct ring_door_host host;
    struct guest guests[RING_DOOR_READERS];
    uint32_t count;
    struct timer next; /* announcement */
    int64_t last;
    struct timer rested; /* guests are read again */
    int64_t told_since;
    uint32_t told; /* marks */
};

static int on_announce(void *ctx, struct err *err)
{
    struct ring_door *door = ctx;

    (void)err;
    door->last = loop_now(door->loop);
    for (uint32_t i = 0; i < RING_DOOR_READERS; i++)
        if (door->guests[i].watch.fd >= 0 && door->guests[i].has_mark)
            door->host.mark(door->host.ctx, door->guests[i].kept);
    door->host.announce(door->host.ctx);
    return 0;
}

static int ask(struct ring_door *door, struct err *err)
{
    int64_t due = door->last + RING_DOOR_PAUSE;

    if (door->next.place)
        return 0;
    if (door->last && due > loop_now(door->loop))
        return loop_set(door->loop, &door->next, due, err);
    return on_announce(door, err);
}

static void leave(struct guest *guest)
{
    int fd = guest->watch.fd;

    if (fd < 0)
        return;
    loop_unwatch(guest->door->loop, &guest->watch);
    close(fd);
    guest->door->count--;
}

/* Returns true if it asks for an announcement. */
static bool take(struct guest *guest, struct bytes said)
{
    const struct ring_door_host *host = &guest->door->host;
    bool asks = false;

    for (uint32_t i = 0; i < said.len; i++) {
        if (!guest->marks) {
            guest->marks = said.data[i] == RING_DOOR_MARKS;
            asks |= !guest->marks;
            continue;
        }
        guest->mark[guest->mark_len++] = said.data[i];
        if (guest->mark_len < RING_DOOR_MARK)
            continue;
        guest->marks = false;
        guest->mark_len = 0;
        if (!host->mark)
            continue;
        memcpy(guest->kept, guest->mark, RING_DOOR_MARK);
        guest->has_mark = true;
        guest->door->told++;
        host->mark(host->ctx, guest->mark);
    }
    return asks;
}

/* --- marks of late */

static bool told_enough(struct ring_door *door)
{
    int64_t now = loop_now(door->loop);

    if (now >= door->told_since + RING_DOOR_PAUSE) {
        door->told_since = now;
        door->told = 0;
    }
    return door->told >= RING_DOOR_TOLD;
}

static int rest(struct guest *guest, struct err *err)
{
    struct ring_door *door = guest->door;

    if (loop_change(door->loop, &guest->watch, 0, err) < 0)
        return -err->code;
    guest->rests = true;
    return door->rested.place
               ? 0
               : loop_set(door->loop, &door->rested, door->told_since + RING_DOOR_PAUSE, err);
}

static int on_rested(void *ctx, struct err *err)
{
    struct ring_door *door = ctx;

    for (uint32_t i = 0; i < RING_DOOR_READERS; i++) {
        struct guest *guest = &door->guests[i];

        if (guest->watch.fd < 0 || !guest->rests)
            continue;
        guest->rests = false;
        if (loop_change(door->loop, &guest->watch, EPOLLIN, err) < 0)
            return -err->code;
    }
    return 0;
}

static int on_guest(void *ctx, uint32_t events, struct err *err)
{
    struct guest *guest = ctx;
    struct ring_door *door = guest->door;
    uint8_t bytes[64];
    ssize_t got;

    if (told_enough(door) && !(events & (EPOLLHUP | EPOLLERR)))
        return rest(guest, err);
    /* nobody waits for what one has said that is gone */
    got = told_enough(door) ? 0 : recv(guest->watch.fd, bytes, sizeof(bytes), 0);
    if (got > 0)
        return take(guest, (struct bytes){ bytes, (uint32_t)got }) ? ask(door, err) : 0;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    leave(guest);
    return door->watch.fd < 0 ? 0 : loop_change(door->loop, &door->watch, EPOLLIN, err);
}

/* The socket's buffer is empty: the greeting fits, or the reader is gone. */
static bool greet(const struct ring_door *door, int fd)
{
    struct ring_greeting greeting = { RING_MAGIC, RING_VERSION, 0, ring_identity(door->ring) };
    struct iovec vector = { &greeting, sizeof(greeting) };
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { { 0 } };
    struct msghdr message = { .msg_iov = &vector,
                              .msg_iovlen = 1,
                              .msg_control = control.space,
                              .msg_controllen = sizeof(control.space) };
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    int passed = ring_fd(door->ring);

    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &passed, sizeof(passed));
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(greeting);
}

static int on_listen(void *ctx, uint32_t events, struct err *err)
{
    struct ring_door *door = ctx;
    struct guest *guest = door->guests;
    int fd = accept4(door->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd < 0)
        return 0; /* gone, or there are no descriptors for now: it is tried again */
    while (guest->watch.fd >= 0)
        guest++;
    if (!greet(door, fd)) {
        close(fd);
        return 0;
    }
    *guest = (struct guest){ .door = door, .watch = { .fd = fd, .ready = on_guest, .ctx = guest } };
    if (loop_watch(door->loop, &guest->watch, EPOLLIN, err) < 0) {
        guest->watch.fd = -1;
        close(fd);
        return -ERR_SYSTEM;
    }
    door->count++;
    return loop_change(door->loop, &door->watch, door->count < RING_DOOR_READERS ? EPOLLIN : 0,
                       err);
}

int ring_door_open(struct ring_door *door, struct err *err)
{
    const struct sockaddr_un address = door->local.address;
    int fd;

    if (door->watch.fd >= 0)
        return 0;
    fd = local_socket_listen(&door->local, address.sun_path, RING_DOOR_READERS, err);
    if (fd < 0)
        return -err->code;
    door->watch = (struct watch){ .fd = fd, .ready = on_listen, .ctx = door };
    if (loop_watch(door->loop, &door->watch, door->count < RING_DOOR_READERS ? EPOLLIN : 0, err) ==
        0)
        return 0;
    door->watch.fd = -1;
    close(fd);
    local_socket_remove(&door->local);
    return -err->code;
}

struct ring_door *ring_door_new(struct loop *loop, const char *path, const struct ring *ring,
                                const struct ring_door_host *host, struct err *err)
{
    struct ring_door *door = calloc(1, sizeof(*door));

    if (!door) {
        err_memory(err, "the socket for readers of the ring");
        return NULL;
    }
    door->loop = loop;
    door->ring = ring;
    door->host = *host;
    door->next = (struct timer){ .due = on_announce, .ctx = door };
    door->rested = (struct timer){ .due = on_rested, .ctx = door };
    door->watch.fd = -1;
    for (uint32_t i = 0; i < RING_DOOR_READERS; i++)
        door->guests[i] = (struct guest){ .door = door, .watch = { .fd = -1 } };
    if (local_socket_name(&door->local, path, err) == 0 && ring_door_open(door, err) == 0)
        return door;
    free(door);
    return NULL;
}

void ring_door_shut(struct ring_door *door)
{
    int fd = door->watch.fd;

    if (fd < 0)
        return;
    loop_unwatch(door->loop, &door->watch);
    close(fd);
    local_socket_remove(&door->local);
}

void ring_door_free(struct ring_door *door)
{
    if (!door)
        return;
    for (uint32_t i = 0; i < RING_DOOR_READERS; i++)
        leave(&door->guests[i]);
    loop_unset(door->loop, &door->next);
    loop_unset(door->loop, &door->rested);
    ring_door_shut(door);
    free(door);
}

uint32_t ring_door_readers(const struct ring_door *door)
{
    return door->count;
}
