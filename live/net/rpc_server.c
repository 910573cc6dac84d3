/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_server.c
 *
 * From a message to its program: the judgements of RFC 5531 s9 in its order (version of RPC,
 * authentication, program, version, procedure).  Contract: rpc_server.h.
 */
#include "net/rpc_server_parts.h"

#include <stdlib.h>

enum { RPC_VERSION = 2 };

/* --- judgements */

/* Whether a call may come in.  AUTH_SYS must have its form (RFC 5531 appendix A), and a verifier of
 * AUTH_NONE; bodies of AUTH_NONE are undefined (s10.1), so they may be anything. */
static enum rpc_auth_stat judge_auth(const struct rpc_header *h)
{
    if (h->credential.flavor != RPC_AUTH_NONE && h->credential.flavor != RPC_AUTH_SYS)
        return RPC_AUTH_REJECTEDCRED;
    if (!h->credential.valid)
        return RPC_AUTH_BADCRED;
    if (h->verifier.flavor != RPC_AUTH_NONE)
        return RPC_AUTH_BADVERF;
    return RPC_AUTH_OK;
}

/* The program of a call; else why there is none, with the versions there are in |detail|. */
static const struct rpc_program *find_program(const struct rpc_server *server,
                                              const struct rpc_header *h, enum rpc_status *why,
                                              uint32_t detail[2])
{
    *why = RPC_PROG_UNAVAIL;
    for (uint32_t i = 0; i < server->program_count; i++) {
        const struct rpc_program *p = &server->programs[i];
        bool first = *why == RPC_PROG_UNAVAIL;

        if (p->program != h->program)
            continue;
        if (h->version >= p->low && h->version <= p->high)
            return p;
        *why = RPC_PROG_MISMATCH;
        detail[0] = first || p->low < detail[0] ? p->low : detail[0];
        detail[1] = first || p->high > detail[1] ? p->high : detail[1];
    }
    return NULL;
}

static int call_program(const struct rpc_program *program, struct rpc_call *call, struct err *err)
{
    struct rpc_server *server = call->server;
    int result;

    server->current = call;
    result = program->call(program->ctx, call, err);
    server->current = NULL;
    if (!call->parts.answered)
        server->counts.unanswered++;
    return result;
}

static int serve(struct rpc_call *call, struct err *err)
{
    struct rpc_server *server = call->server;
    enum rpc_auth_stat auth = judge_auth(&call->header);
    const struct rpc_program *program;
    enum rpc_status why;

    if (auth != RPC_AUTH_OK)
        return rpc_reply_auth_error(call, auth, err);
    program = find_program(server, &call->header, &why, server->header.detail);
    if (!program)
        return rpc_reply_refuse(call, why, NULL, err);
    if (call->header.procedure == 0) { /* with any arguments, as Linux's server */
        server->counts.null_calls++;
        rpc_reply_begin(call);
        return rpc_reply_end(call, NULL, err);
    }
    if (call->header.procedure >= program->procedures)
        return rpc_reply_refuse(call, RPC_PROC_UNAVAIL, NULL, err);
    return call_program(program, call, err);
}

/* A call of another version of RPC: the header is known up to there. */
static bool is_other_version(const struct rpc_call *call, enum rpc_result result)
{
    const struct rpc_header *h = &call->header;

    return result == RPC_NOT && h->direction == RPC_CALL && call->message.len >= 12 &&
           h->rpc_version != RPC_VERSION;
}

int rpc_server_take(struct rpc_server *server, struct rpc_call *call, struct bytes data,
                    struct err *err)
{
    enum rpc_result result = rpc_parse(data.data, data.len, data.len, &call->header);

    call->server = server;
    call->message = data;
    call->owner = NULL;
    call->arrived = loop_now(server->loop);
    call->parts.detached = call->parts.answered = false;
    if (result == RPC_OK && call->header.direction != RPC_CALL) {
        server->counts.not_a_call++;
        return 1;
    }
    if (result != RPC_OK && !is_other_version(call, result)) {
        server->counts.not_rpc++;
        return 1;
    }
    server->counts.calls++;
    server->counts.udp_calls += call->transport == RPC_UDP;
    call->body = (struct bytes){ data.data + call->header.body, call->header.body_len };
    if (result != RPC_OK) {
        server->header.detail[0] = server->header.detail[1] = RPC_VERSION;
        return rpc_reply_refuse(call, RPC_MISMATCH, NULL, err);
    }
    if (server->tap.call)
        server->tap.call(server->tap.ctx, call);
    return serve(call, err);
}

/* --- owners */

int rpc_server_add(struct rpc_server *server, const struct rpc_program *program, struct err *err)
{
    if (server->program_count == RPC_SERVER_PROGRAMS)
        return err_set(err, ERR_USAGE, "more than %d RPC programs", RPC_SERVER_PROGRAMS);
    for (uint32_t i = 0; i < server->program_count; i++) {
        const struct rpc_program *p = &server->programs[i];

        if (p->program == program->program && p->low <= program->high && program->low <= p->high)
            return err_set(err, ERR_USAGE, "RPC program %u: versions %u to %u are served already",
                           p->program, p->low, p->high);
    }
    server->programs[server->program_count++] = *program;
    return 0;
}

const struct rpc_server_counts *rpc_server_counts(const struct rpc_server *server)
{
    return &server->counts;
}

const struct listen_counts *rpc_server_listen_counts(const struct rpc_server *server)
{
    return listeners_counts(server->listeners);
}

void rpc_server_datagram_counts(const struct rpc_server *server, struct datagram_counts *sum)
{
    *sum = (struct datagram_counts){ 0 };
    for (uint32_t i = 0; i < server->socket_count; i++) {
        const struct datagram_counts *counts = datagram_counts(server->sockets[i].socket);

        sum->received += counts->received;
        sum->sent += counts->sent;
        sum->too_long += counts->too_long;
        sum->failed += counts->failed;
        sum->dropped += counts->dropped;
        sum->lost += counts->lost;
    }
}

void rpc_server_each(const struct rpc_server *server,
                     void (*each)(void *ctx, uint64_t number, const struct datagram_ends *ends),
                     void *ctx)
{
    for (const struct rpc_connection *c = server->connections; c; c = c->next)
        each(ctx, c->number, &c->ends);
}
