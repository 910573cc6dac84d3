/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/control.c
 *
 * The control socket and its connections.  The contract is in control.h; control_line.c runs the
 * lines.
 */
#include "net/control_parts.h"
#include "base/grow.h"
#include "net/local_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    struct control *control;
    struct watch watch; /* fd -1: free */
    char in[CONTROL_LINE_MAX + 1];
    size_t len;
    struct buf out;
    size_t sent;
    bool over; /* nothing more is read */
};

struct control {
    struct loop *loop;
    struct watch watch;
    struct local_socket local;
    struct control_commands commands;
    struct connection connections[CONTROL_CONNECTIONS];
    uint32_t connected;
};

/* --- connections */

static int listen_again(struct control *c, struct err *err)
{
    return loop_change(c->loop, &c->watch, c->connected < CONTROL_CONNECTIONS ? EPOLLIN : 0, err);
}

static void hang_up(struct connection *n)
{
    int fd = n->watch.fd;

    if (fd < 0)
        return;
    loop_unwatch(n->control->loop, &n->watch);
    close(fd);
    buf_free(&n->out);
    n->len = n->sent = 0;
    n->over = false;
    n->control->connected--;
}

/* Sends what the peer takes.  True: all of it, and the connection is still there. */
static bool send_answers(struct connection *n)
{
    while (n->sent < n->out.len) {
        ssize_t done = send(n->watch.fd, n->out.data + n->sent, n->out.len - n->sent, MSG_NOSIGNAL);

        if (done >= 0)
            n->sent += (size_t)done;
        else if (errno == EAGAIN)
            return false;
        else if (errno != EINTR) {
            hang_up(n);
            return false;
        }
    }
    buf_free(&n->out);
    n->sent = 0;
    return true;
}

static void complain(struct connection *n, const char *what)
{
    struct json answer = { .to = &n->out };

    json_object(&answer, NULL);
    json_text(&answer, "error", what);
    json_object_end(&answer);
    json_end(&answer);
    n->over = true;
    n->len = 0;
}

/* Runs whole lines while their answers are taken. */
static void run_lines(struct connection *n)
{
    char *end;

    while (n->watch.fd >= 0 && (end = memchr(n->in, '\n', n->len)) != NULL) {
        size_t len = (size_t)(end - n->in);

        *end = '\0';
        if (control_line(&n->control->commands, n->in, len, &n->out) < 0) {
            hang_up(n);
            return;
        }
        n->len -= len + 1;
        memmove(n->in, end + 1, n->len);
        if (!send_answers(n))
            return;
    }
    if (n->watch.fd >= 0 && n->len == CONTROL_LINE_MAX) {
        complain(n, "the line is too long");
        send_answers(n);
    }
}

static void read_lines(struct connection *n)
{
    ssize_t got = recv(n->watch.fd, n->in + n->len, CONTROL_LINE_MAX - n->len, 0);

    if (got > 0) {
        n->len += (size_t)got;
        run_lines(n);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        hang_up(n);
    }
}

static int on_connection(void *ctx, uint32_t events, struct err *err)
{
    struct connection *n = ctx;

    if (n->out.len == 0 && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        read_lines(n);
    else if (events & (EPOLLHUP | EPOLLERR))
        hang_up(n); /* nobody is left who reads what waits */
    else if (send_answers(n))
        run_lines(n);
    if (n->watch.fd >= 0 && n->over && n->out.len == 0)
        hang_up(n);
    if (n->watch.fd < 0)
        return listen_again(n->control, err);
    return loop_change(n->control->loop, &n->watch, n->out.len ? EPOLLOUT : EPOLLIN, err);
}

static int on_listen(void *ctx, uint32_t events, struct err *err)
{
    struct control *c = ctx;
    struct connection *n = c->connections;
    int fd = accept4(c->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd < 0)
        return 0; /* gone, or no descriptors are left for now: another program's command waits */
    while (n->watch.fd >= 0)
        n++;
    n->watch = (struct watch){ .fd = fd, .ready = on_connection, .ctx = n };
    if (loop_watch(c->loop, &n->watch, EPOLLIN, err) < 0) {
        n->watch.fd = -1;
        close(fd);
        return -ERR_SYSTEM;
    }
    c->connected++;
    return listen_again(c, err);
}

/* --- the socket */

int control_add(struct control *c, const struct control_command *commands, uint32_t count,
                void *ctx, struct err *err)
{
    struct control_commands *all = &c->commands;

    if (GROW(all->tables, all->count, all->cap) < 0)
        return err_memory(err, "commands");
    all->tables[all->count++] = (struct control_table){ commands, count, ctx };
    return 0;
}

static int open_socket(struct control *c, const char *path, struct err *err)
{
    int fd = local_socket_listen(&c->local, path, CONTROL_CONNECTIONS, err);

    if (fd < 0)
        return fd;
    c->watch = (struct watch){ .fd = fd, .ready = on_listen, .ctx = c };
    if (loop_watch(c->loop, &c->watch, EPOLLIN, err) < 0) {
        c->watch.fd = -1;
        close(fd);
        local_socket_remove(&c->local);
        return -ERR_SYSTEM;
    }
    return 0;
}

struct control *control_new(struct loop *loop, const char *path, struct err *err)
{
    struct control *c = calloc(1, sizeof(*c));

    if (!c) {
        err_memory(err, "the control socket");
        return NULL;
    }
    c->loop = loop;
    c->watch.fd = -1;
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS; i++) {
        c->connections[i].control = c;
        c->connections[i].watch.fd = -1;
    }
    if (open_socket(c, path, err) < 0) {
        control_free(c);
        return NULL;
    }
    return c;
}

void control_free(struct control *c)
{
    int fd;

    if (!c)
        return;
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS; i++)
        hang_up(&c->connections[i]);
    fd = c->watch.fd;
    if (fd >= 0) {
        loop_unwatch(c->loop, &c->watch);
        close(fd);
        local_socket_remove(&c->local);
    }
    free(c->commands.tables);
    free(c);
}
