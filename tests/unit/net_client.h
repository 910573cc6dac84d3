/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/net_client.h
 *
 * A client for tests of RPC calls: ends of calls become words of |text|, events words of |events|.
 */
#ifndef NFSDIGEST_UNIT_NET_CLIENT_H
#define NFSDIGEST_UNIT_NET_CLIENT_H

#include "net_server.h"
#include "net/rpc_client.h"

#include <stdio.h>
#include <string.h>

#define TEXT(text) ((struct bytes){ (const uint8_t *)(text), sizeof(text) - 1 })

struct seen {
    struct server server;
    struct rpc_client *client;
    struct rpc_client_setup setup;
    char text[512]; /* a word for each end of a call */
    char events[512];
    uint32_t rooms;
    bool free_at_once, call_again, call_on_connect;
};

static const struct rpc_target target = { 100003, 3, 1, NULL };
static struct err err;

static inline int on_done(void *ctx, const struct rpc_answer *answer, struct err *e)
{
    static const char *const names[] = { "", "timeout", "lost", "cancelled" };
    struct seen *s = ctx;
    size_t len = strlen(s->text);

    assert_int_equal(load_be32(answer->call.data), answer->xid);
    if (answer->outcome == RPC_ANSWERED) {
        assert_int_equal(answer->header->xid, answer->xid);
        assert_true(answer->arrived >= answer->called);
        snprintf(s->text + len, sizeof(s->text) - len, "%.*s,", (int)answer->body.len,
                 (const char *)answer->body.data);
        if (answer->header->status)
            assert_int_equal(answer->body.len, 0);
    } else {
        assert_null(answer->header);
        snprintf(s->text + len, sizeof(s->text) - len, "%s,", names[answer->outcome]);
    }
    if (s->call_again) {
        s->call_again = false;
        assert_int_equal(rpc_client_call(s->client, &target, TEXT("more"), on_done, s, e), 0);
    }
    if (s->free_at_once) {
        s->free_at_once = false;
        rpc_client_free(s->client);
        s->client = NULL;
    }
    return 0;
}

static inline int on_room(void *ctx, struct err *e)
{
    struct seen *s = ctx;

    (void)e;
    s->rooms++;
    return 0;
}

static inline int on_event(void *ctx, enum rpc_client_event event, const char *text, struct err *e)
{
    struct seen *s = ctx;
    size_t len = strlen(s->events);

    if (event == RPC_CLIENT_CONNECTED && s->call_on_connect)
        assert_int_equal(rpc_client_call(s->client, &target, TEXT("more"), on_done, s, e), 0);
    snprintf(s->events + len, sizeof(s->events) - len, "%c%s%s;", "clfnog"[event],
             event == RPC_CLIENT_CONNECTED ? "" : ":", event == RPC_CLIENT_CONNECTED ? "" : text);
    return 0;
}

static inline void start(struct seen *s)
{
    struct rpc_client_host host = { on_room, on_event, s };

    s->client = rpc_client_new(s->server.loop, &s->setup, &host, &err);
    if (!s->client)
        fail_msg("%s", err.text);
}

static inline void prepare(struct seen *s, int type)
{
    *s = (struct seen){ 0 };
    server_begin(&s->server, type);
    s->setup.server = s->server.address;
    s->setup.from.local = server_own_address();
    s->setup.udp = type == SOCK_DGRAM;
    s->setup.limits = rpc_client_defaults;
    s->setup.limits.reconnect[0] = 5 * MS;
}

static inline void finish(struct seen *s)
{
    rpc_client_free(s->client);
    server_end(&s->server);
}

static inline void call(struct seen *s, const char *arguments)
{
    struct bytes bytes = { (const uint8_t *)arguments, (uint32_t)strlen(arguments) };

    if (rpc_client_call(s->client, &target, bytes, on_done, s, &err) != 0)
        fail_msg("%s", err.text);
}

#endif
