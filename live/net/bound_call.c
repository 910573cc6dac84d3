/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net/bound_call.h"
#include "wire/walk.h"

#include <stdarg.h>
#include <stdio.h>

/* "PROGRAM PROCEDURE: ..." */
static void say(const struct bound_call *call, char text[BOUND_CALL_TEXT], const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(const struct bound_call *call, char text[BOUND_CALL_TEXT], const char *format, ...)
{
    const char *program = program_name(call->program);
    int len = snprintf(text, BOUND_CALL_TEXT, "%s %s: ", program ? program : "program",
                       call->table->name);
    va_list args;

    va_start(args, format);
    vsnprintf(text + len, BOUND_CALL_TEXT - (size_t)len, format, args);
    va_end(args);
}

void bound_call_status(const struct bound_call *call, uint32_t status, char text[BOUND_CALL_TEXT])
{
    const char *name = status_name(call->table, status);

    if (name)
        say(call, text, "%s", name);
    else
        say(call, text, "status %u", status);
}

/* What is wrong with an answer from RPC's view; false: nothing. */
static bool refused(const struct bound_call *call, const struct rpc_answer *answer,
                    char text[BOUND_CALL_TEXT])
{
    const struct rpc_header *h = answer->header;

    if (answer->outcome != RPC_ANSWERED)
        say(call, text, "%s",
            answer->outcome == RPC_TIMED_OUT ? "no answer"
            : answer->outcome == RPC_LOST    ? "no connection"
                                             : "cancelled");
    else if (h->status == RPC_PROG_UNAVAIL)
        say(call, text, "the server does not have this program");
    else if (h->status == RPC_PROG_MISMATCH)
        say(call, text, "the server does not have version %u, but %u to %u", call->version,
            h->detail[0], h->detail[1]);
    else if (h->status == RPC_AUTH_ERROR)
        say(call, text, "the server refuses the credential (auth_stat %u)", h->detail[0]);
    else if (h->status != RPC_SUCCESS)
        say(call, text, "%s", rpc_status_name(h->status));
    else
        return false;
    return true;
}

static int on_answer(void *ctx, const struct rpc_answer *rpc, struct err *err)
{
    struct bound_call *call = ctx;
    struct bound_answer answer = { .rpc = rpc };
    char text[BOUND_CALL_TEXT], path[WALK_PATH_MAX];
    struct walk state;

    if (refused(call, rpc, text)) {
        answer.problem = text;
    } else if (walk(&state, call->table->result, rpc->body.data, rpc->body.len, rpc->body.len,
                    false, NULL) != WALK_OK) {
        say(call, text, "a malformed reply: %s: %s", walk_path(&state, NULL, path),
            state.problem ? state.problem : "too short");
        answer.problem = text;
    } else {
        answer.body = rpc->body;
    }
    return call->done(call, &answer, err);
}

int bound_call(struct rpc_client *client, struct bound_call *call,
               const struct wire_binding *binding, const void *arguments, struct err *err)
{
    struct rpc_target target = { call->program, call->version, call->procedure, call->credential };
    struct xdr_put *put;

    call->table = procedure_find(call->program, call->version, call->procedure);
    if (!call->table || !binding || !binding->arguments)
        return err_set(err, ERR_USAGE, "there is no table for procedure %u of version %u of %s",
                       call->procedure, call->version,
                       program_name(call->program) ? program_name(call->program) : "a program");
    put = rpc_client_begin(client, &target);
    if (!put)
        return RPC_CLIENT_FULL;
    bind_write(binding->arguments, put, arguments); /* rpc_client_end_with says what went wrong */
    if (call->tail.len && !put->problem)
        xdr_put_u32_at(put, put->to->len - sizeof(uint32_t), call->tail.len);
    return rpc_client_end_with(client, call->tail, on_answer, call, &call->xid, err);
}
