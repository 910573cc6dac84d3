/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net/local_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

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

int local_socket_connect(const char *path, int patience, struct err *err)
{
    struct sockaddr_un address;
    const struct timeval span = { .tv_sec = patience };
    int fd;

    if (set_address(&address, path, err) < 0)
        return -ERR_USAGE;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &span, sizeof(span)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &span, sizeof(span)) < 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -ERR_SYSTEM;
    }
    return fd;
}
