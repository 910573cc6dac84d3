/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_server_kept.c
 *
 * Detached calls: copies on a list of their connection, or of the server once it is gone, and the
 * bounds on them.  A bound never refuses a call that was read: it stops the reading.  Reading goes
 * on when an eighth is free again, so that it does not stop at each call.  Contract: rpc_server.h.
 */
#include "net/rpc_server_parts.h"

#include <stdlib.h>

static uint64_t charge_of(const struct rpc_call *call)
{
    return sizeof(*call) + call->message.len;
}

static uint64_t below(uint64_t limit)
{
    return limit - limit / 8;
}

static void link_to(struct rpc_call **list, struct rpc_call *call)
{
    call->parts.next = *list;
    if (call->parts.next)
        call->parts.next->parts.self = &call->parts.next;
    call->parts.self = list;
    *list = call;
}

static void unlink_call(struct rpc_call *call)
{
    *call->parts.self = call->parts.next;
    if (call->parts.next)
        call->parts.next->parts.self = call->parts.self;
}

static void keep(struct rpc_call *call)
{
    struct rpc_server *server = call->server;
    struct rpc_connection *c = call->parts.connection;
    const struct rpc_server_limits *limits = &server->limits;

    link_to(c ? &c->kept : &server->loose, call);
    server->kept_count++;
    server->kept_bytes += charge_of(call);
    server->counts.detached++;
    if (c && ++c->kept_count >= limits->connection_calls && !c->held) {
        c->held = true;
        record_stream_hold(c->stream);
    }
    if (!server->full &&
        (server->kept_count >= limits->calls || server->kept_bytes >= limits->call_bytes)) {
        server->full = true;
        server->counts.holds++;
        rpc_server_hold(server);
    }
}

struct rpc_call *rpc_call_detach(struct rpc_call *call)
{
    uint32_t len = call->message.len;
    struct rpc_call *kept = malloc(sizeof(*kept) + len);
    uint8_t *copy;

    if (!kept)
        return NULL;
    copy = (uint8_t *)(kept + 1);
    memcpy(copy, call->message.data, len);
    *kept = *call;
    kept->message = (struct bytes){ copy, len };
    kept->body.data = copy + (call->body.data - call->message.data);
    rpc_parse(copy, len, len, &kept->header); /* its pointers lead into the copy now */
    kept->parts.detached = true;
    call->parts.answered = true;
    keep(kept);
    return kept;
}

void rpc_call_free(struct rpc_call *call)
{
    struct rpc_server *server;
    struct rpc_connection *c;

    if (!call)
        return;
    server = call->server;
    c = call->parts.connection;
    unlink_call(call);
    server->kept_count--;
    server->kept_bytes -= charge_of(call);
    free(call);
    if (c && --c->kept_count <= below(server->limits.connection_calls) && c->held) {
        c->held = false;
        if (!server->full)
            record_stream_resume(c->stream, NULL);
    }
    if (server->full && server->kept_count <= below(server->limits.calls) &&
        server->kept_bytes <= below(server->limits.call_bytes)) {
        server->full = false;
        rpc_server_resume(server);
    }
}

bool rpc_call_reachable(const struct rpc_call *call)
{
    return call->transport == RPC_UDP || call->parts.connection;
}

void rpc_call_drop(struct rpc_call *call)
{
    call->parts.answered = true;
    if (call->parts.connection)
        rpc_connection_close(call->parts.connection, &call->server->counts.dropped);
}

void rpc_kept_loosen(struct rpc_connection *c)
{
    struct rpc_server *server = c->server;

    while (c->kept) {
        struct rpc_call *call = c->kept;

        unlink_call(call);
        call->parts.connection = NULL;
        link_to(&server->loose, call);
    }
    if (server->current && server->current->parts.connection == c)
        server->current->parts.connection = NULL;
}
