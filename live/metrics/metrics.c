/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/metrics/metrics.c
 *
 * libmicrohttpd keeps its sockets in an epoll descriptor of its own; that descriptor is one of our
 * loop's, and each time it is ready, or a time-out of libmicrohttpd's is over, MHD_run does all
 * that there is to do without waiting.
 */
#include "metrics/metrics.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { IDLE_SECONDS = 10, CONNECTION_BYTES = 16384, BACKLOG = 16 };

struct metrics {
    struct loop *loop;
    struct metrics_setup setup;
    struct MHD_Daemon *daemon;
    struct watch watch;
    struct timer timer;
    int listening;
};

int metrics_address(void *to, const char *text, struct err *err)
{
    char full[NET_ADDRESS_TEXT];

    if (*text && strlen(text) < 20 && text[strspn(text, "0123456789")] == '\0') {
        snprintf(full, sizeof(full), "127.0.0.1:%s", text);
        text = full;
    }
    return net_address_parse(text, true, to, err);
}

int metrics_known_address(void *to, const char *text, struct err *err)
{
    int result = metrics_address(to, text, err);

    return result < 0 || net_address_port(to)
               ? result
               : err_set(err, ERR_USAGE,
                         "port 0 would be one that nobody knows: say which, such as 9100");
}

/* --- requests */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, struct buf *text,
                              const char *type)
{
    /* the response frees the text */
    struct MHD_Response *response =
        MHD_create_response_from_buffer(text->len, text->data, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result result;

    if (!response) {
        buf_free(text);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
    struct buf copy = { 0 };

    if (buf_append(&copy, text, strlen(text)) < 0 || buf_append(&copy, "\n", 1) < 0) {
        buf_free(&copy);
        return MHD_NO;
    }
    return answer(connection, status, &copy, "text/plain; charset=utf-8");
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    struct metrics *m = ctx;
    struct metrics_page page = { .table = m->setup.table, .count = m->setup.count };
    struct err err = { 0 };
    int result;

    (void)version;
    (void)upload;
    if (!*state) { /* the header alone: the answer comes at the request's end */
        *state = m;
        return MHD_YES;
    }
    if (*upload_size) {
        *upload_size = 0;
        return MHD_YES;
    }
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD only");
    if (strcmp(url, "/metrics") != 0)
        return refuse(connection, MHD_HTTP_NOT_FOUND, "the metrics are at /metrics");
    result = m->setup.collect(m->setup.ctx, &page, &err);
    if (result == 0)
        result = metrics_page_end(&page, &err);
    if (result < 0) {
        buf_free(&page.text);
        return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, err.text);
    }
    return answer(connection, MHD_HTTP_OK, &page.text, "text/plain; version=0.0.4; charset=utf-8");
}

/* --- the loop */

static int run(struct metrics *m, struct err *err)
{
    MHD_UNSIGNED_LONG_LONG ms;

    if (MHD_run(m->daemon) != MHD_YES)
        return err_set(err, ERR_SYSTEM, "metrics: libmicrohttpd failed");
    if (MHD_get_timeout(m->daemon, &ms) == MHD_YES)
        return loop_set(m->loop, &m->timer, loop_clock() + (int64_t)ms * 1000000, err);
    loop_unset(m->loop, &m->timer);
    return 0;
}

static int on_ready(void *ctx, uint32_t events, struct err *err)
{
    (void)events;
    return run(ctx, err);
}

static int on_timer(void *ctx, struct err *err)
{
    return run(ctx, err);
}

/* --- begin and end */

static int open_socket(const struct net_address *address, struct err *err)
{
    char text[NET_ADDRESS_TEXT];
    int one = 1;
    int fd = socket(address->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
        bind(fd, &address->any, net_address_size(address)) < 0 || listen(fd, BACKLOG) < 0) {
        err_set(err, ERR_SYSTEM, "metrics: %s: %s", net_address_text(address, text),
                strerror(errno));
        if (fd >= 0)
            close(fd);
        return -ERR_SYSTEM;
    }
    return fd;
}

static int start(struct metrics *m, struct err *err)
{
    const union MHD_DaemonInfo *info;

    m->listening = open_socket(&m->setup.address, err);
    if (m->listening < 0)
        return -ERR_SYSTEM;
    m->daemon = MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, on_request, m, MHD_OPTION_LISTEN_SOCKET, m->listening,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)METRICS_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_END);
    info = m->daemon ? MHD_get_daemon_info(m->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info) {
        if (!m->daemon)
            close(m->listening);
        return err_set(err, ERR_SYSTEM, "metrics: libmicrohttpd does not start");
    }
    m->watch = (struct watch){ .fd = info->epoll_fd, .ready = on_ready, .ctx = m };
    if (loop_watch(m->loop, &m->watch, EPOLLIN, err) < 0) {
        m->watch.fd = -1;
        return -ERR_SYSTEM;
    }
    return 0;
}

struct metrics *metrics_new(struct loop *loop, const struct metrics_setup *setup, struct err *err)
{
    struct metrics *m;

    if (metrics_check(setup->table, setup->count, err) < 0)
        return NULL;
    m = calloc(1, sizeof(*m));
    if (!m) {
        err_memory(err, "metrics");
        return NULL;
    }
    m->loop = loop;
    m->setup = *setup;
    m->watch.fd = m->listening = -1;
    m->timer = (struct timer){ .due = on_timer, .ctx = m };
    if (start(m, err) < 0) {
        metrics_free(m);
        return NULL;
    }
    return m;
}

void metrics_free(struct metrics *m)
{
    if (!m)
        return;
    loop_unset(m->loop, &m->timer);
    loop_unwatch(m->loop, &m->watch);
    if (m->daemon)
        MHD_stop_daemon(m->daemon); /* closes its sockets, also the one that listens */
    free(m);
}

int metrics_listens(const struct metrics *m, struct net_address *to, struct err *err)
{
    return net_address_of_socket(m->listening, to, err);
}
