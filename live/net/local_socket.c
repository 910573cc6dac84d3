/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/local_socket.c
 *
 * Both sides of a Unix socket: a path that one listens on, and waiting for who does.  Contract:
 * local_socket.h.
 */
#include "net/local_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
enum { AGAIN = 10000000 /* ns */ };

static int set_address(struct sockaddr_un *address, const char *path, struct err *err)
{
    if (!*path || strlen(path) >= sizeof(address->sun_path))
        return err_set(err, ERR_USAGE, "%s: a socket's path has 1 to %zu bytes", path,
                       sizeof(address->sun_path) - 1);
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, strlen(path) + 1);
    return 0;
}

int local_socket_name(struct local_socket *local, const char *path, struct err *err)
{
    return set_address(&local->address, path, err);
}

/* Removes the socket that a program has left that was killed. */
static int remove_stale(const struct sockaddr_un *address, struct err *err)
{
    const char *path = address->sun_path;
    struct stat st;
    int fd, result;

    if (lstat(path, &st) < 0)
        return 0;
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, ERR_USAGE, "%s: is there already, and is not a socket", path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    result = connect(fd, (const struct sockaddr *)address, sizeof(*address));
    if (result == 0 || errno != ECONNREFUSED)
        result = err_set(err, ERR_USAGE, "%s: %s", path,
                         result == 0 || errno == EAGAIN ? "another program listens there"
                                                        : strerror(errno));
    else
        result = unlink(path) < 0 ? err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno)) : 0;
    close(fd);
    return result;
}

int local_socket_listen(struct local_socket *local, const char *path, int backlog, struct err *err)
{
    struct stat st;
    int fd;

    if (set_address(&local->address, path, err) < 0)
        return -ERR_USAGE;
    if (remove_stale(&local->address, err) < 0)
        return -err->code;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* before there is a path: nobody else can connect in between */
    if (fd < 0 || fchmod(fd, 0600) < 0 ||
        bind(fd, (struct sockaddr *)&local->address, sizeof(local->address)) < 0 ||
        listen(fd, backlog) < 0 || lstat(path, &st) < 0) {
        err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -ERR_SYSTEM;
    }
    local->device = st.st_dev;
    local->number = st.st_ino;
    return fd;
}

void local_socket_remove(const struct local_socket *local)
{
    struct stat st;

    if (lstat(local->address.sun_path, &st) == 0 && st.st_dev == local->device &&
        st.st_ino == local->number)
        unlink(local->address.sun_path);
}

/* Sets errno, and a text for it. */
static int gave_up(enum loop_awaited why, int patience, struct err *err)
{
    if (why == LOOP_SIGNAL)
        err_set(err, ERR_SYSTEM, "interrupted by a signal");
    else
        err_set(err, ERR_SYSTEM, "no answer within %d s", patience);
    errno = why == LOOP_SIGNAL ? EINTR : EAGAIN;
    return -ERR_SYSTEM;
}

/* While the queue of who listens is full, nothing tells when it is not. */
static int connect_in_time(int fd, const struct sockaddr_un *address, const struct loop *loop,
                           int patience, struct err *err)
{
    const int64_t until = loop_clock() + patience * SECOND;
    enum loop_awaited why;

    while (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
        if (errno != EAGAIN)
            return err_set(err, ERR_SYSTEM, "%s", strerror(errno));
        if (loop_clock() >= until)
            return gave_up(LOOP_LATE, patience, err);
        why = loop_await(loop, -1, 0, loop_clock() + AGAIN);
        if (why == LOOP_SIGNAL)
            return gave_up(why, patience, err);
    }
    return 0;
}

/* From here on it blocks, for some time. */
static int set_patience(int fd, int patience, struct err *err)
{
    const struct timeval span = { .tv_sec = patience };

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &span, sizeof(span)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &span, sizeof(span)) < 0 ||
        fcntl(fd, F_SETFL, 0) < 0)
        return err_set(err, ERR_SYSTEM, "%s", strerror(errno));
    return 0;
}

int local_socket_connect(const char *path, const struct loop *loop, int patience, struct err *err)
{
    struct sockaddr_un address;
    int fd, error;

    if (set_address(&address, path, err) < 0)
        return -ERR_USAGE;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (connect_in_time(fd, &address, loop, patience, err) == 0 &&
        set_patience(fd, patience, err) == 0)
        return fd;
    error = errno;
    close(fd);
    err_prefix(err, "%s", path);
    errno = error;
    return -ERR_SYSTEM;
}

int local_socket_await(int fd, const struct loop *loop, int patience, struct err *err)
{
    enum loop_awaited why = loop_await(loop, fd, POLLIN, loop_clock() + patience * SECOND);

    return why == LOOP_READY ? 0 : gave_up(why, patience, err);
}
