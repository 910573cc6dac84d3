/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/local_socket.h
 *
 * Unix sockets by which a program lets others of the same user in: streams, mode 0600.
 */
#ifndef NFSDIGEST_NET_LOCAL_SOCKET_H
#define NFSDIGEST_NET_LOCAL_SOCKET_H

#include "net/loop.h"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

struct local_socket {
    struct sockaddr_un address;
    dev_t device; /* of our socket, */
    ino_t number; /* whoever has its path now */
};

/* Sets the address alone.  -ERR_USAGE: the length of |path| is wrong. */
int local_socket_name(struct local_socket *local, const char *path, struct err *err);

/* Listens on |path|, non-blocking.  An existing socket is replaced if no process listens on it.
 * Returns the file descriptor, which the caller owns.  -ERR_USAGE: a process listens, the path is
 * not a socket, or its length is wrong. */
int local_socket_listen(struct local_socket *local, const char *path, int backlog, struct err *err);
/* Removes the socket from its folder, if it is still the own one. */
void local_socket_remove(const struct local_socket *local);

/* Who is connected to may hang.  Waiting for it ends with -ERR_SYSTEM after |patience| s, and when
 * a signal is there for |loop| (loop_await; NULL: signals do not matter). */

/* Connects to |path|, blocking; sending and receiving give up after |patience| s.  Returns the file
 * descriptor.  After an error, errno is EAGAIN if nobody was let in, and EINTR after a signal. */
int local_socket_connect(const char *path, const struct loop *loop, int patience, struct err *err);
/* Waits until |fd| can be read. */
int local_socket_await(int fd, const struct loop *loop, int patience, struct err *err);

#endif
