/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_server_reply.c
 *
 * Replies: written into the server's one buffer, then copied to the connection's output or the
 * socket's queue.  Contract: rpc_server.h.
 */
#include "net/rpc_server_parts.h"
#include "wire/rpc_put.h"

static uint32_t size_max(const struct rpc_call *call)
{
    uint32_t max = call->server->limits.reply_max;

    return call->transport == RPC_UDP && max > DATAGRAM_MAX ? DATAGRAM_MAX : max;
}

static struct xdr_put *begin(struct rpc_call *call, enum rpc_status status)
{
    struct rpc_server *server = call->server;

    server->reply.len = 0;
    server->put = xdr_put_to(&server->reply, size_max(call));
    server->header.xid = call->header.xid;
    server->header.status = status;
    rpc_put_header(&server->put, &server->header);
    return &server->put;
}

struct xdr_put *rpc_reply_begin(struct rpc_call *call)
{
    return begin(call, RPC_SUCCESS);
}

static void send_over_tcp(struct rpc_call *call, struct bytes reply)
{
    struct rpc_server *server = call->server;
    struct rpc_connection *c = call->parts.connection;
    struct iovec piece = { (void *)(uintptr_t)reply.data, reply.len };

    if (record_stream_send(c->stream, &piece, 1, NULL) < 0) {
        rpc_connection_close(c, &server->counts.broken);
        return;
    }
    server->counts.replies++;
}

static void send_over_udp(struct rpc_call *call, struct bytes reply)
{
    if (!datagram_send(call->parts.socket, &call->ends, reply))
        return; /* counted there */
    call->server->counts.replies++;
    call->server->counts.udp_replies++;
}

static void send_reply(struct rpc_call *call, struct bytes reply)
{
    struct rpc_server *server = call->server;

    call->parts.answered = true;
    if (!rpc_call_reachable(call)) {
        server->counts.late++;
        return;
    }
    if (server->tap.reply)
        server->tap.reply(server->tap.ctx, call, reply, loop_clock());
    if (call->transport == RPC_TCP)
        send_over_tcp(call, reply);
    else
        send_over_udp(call, reply);
}

/* Sends what stands in the buffer. */
static void finish(struct rpc_call *call, struct bytes *sent)
{
    struct buf *reply = &call->server->reply;
    struct bytes bytes = { reply->data, (uint32_t)reply->len };

    if (sent)
        *sent = bytes;
    send_reply(call, bytes);
}

int rpc_reply_refuse(struct rpc_call *call, enum rpc_status status, struct bytes *sent,
                     struct err *err)
{
    struct xdr_put *put = begin(call, status);

    if (put->problem) /* the first bytes of the first reply */
        return xdr_put_end(put, "an RPC reply", err);
    call->server->counts.refused[status] += status != RPC_SUCCESS;
    finish(call, sent);
    return 0;
}

/* The details of a refusal that a fault asks for: versions that there are, though the call's is one
 * of them. */
static void give_details(const struct rpc_call *call, enum rpc_status status)
{
    struct rpc_server *server = call->server;
    uint32_t *detail = server->header.detail;

    if (status == RPC_AUTH_ERROR)
        detail[0] = RPC_AUTH_TOOWEAK;
    if (status == RPC_MISMATCH)
        detail[0] = detail[1] = call->header.rpc_version;
    if (status == RPC_PROG_MISMATCH)
        detail[0] = detail[1] = call->header.version;
}

int rpc_reply_status(struct rpc_call *call, enum rpc_status status, struct bytes *sent,
                     struct err *err)
{
    if (!rpc_status_name(status))
        return err_set(err, ERR_USAGE, "RPC: a program cannot refuse with status %u", status);
    give_details(call, status);
    return rpc_reply_refuse(call, status, sent, err);
}

int rpc_reply_auth_error(struct rpc_call *call, enum rpc_auth_stat why, struct err *err)
{
    call->server->header.detail[0] = why;
    return rpc_reply_refuse(call, RPC_AUTH_ERROR, NULL, err);
}

int rpc_reply_end(struct rpc_call *call, struct bytes *sent, struct err *err)
{
    if (call->server->put.problem) {
        call->server->counts.failed_replies++;
        return rpc_reply_refuse(call, RPC_SYSTEM_ERR, sent, err);
    }
    finish(call, sent);
    return 0;
}

int rpc_reply_again(struct rpc_call *call, struct bytes sent, struct err *err)
{
    if (sent.len < 8 || load_be32(sent.data) != call->header.xid)
        return err_set(err, ERR_USAGE, "RPC: the stored reply is not one to XID 0x%08x",
                       call->header.xid);
    send_reply(call, sent);
    return 0;
}
