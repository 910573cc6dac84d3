/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/fits.h"
#include "wire/body.h"

static enum fit fits_body(const struct type *type, struct captured t, const struct rpc_header *h)
{
    struct captured body = rpc_body(t.data, t.cap_len, h);
    struct walk w;

    if (rpc_body_walk(&w, type, &body, NULL) != WALK_MALFORMED)
        return FIT_WELL;
    return w.surplus ? FIT_SURPLUS : FIT_NOT;
}

enum fit fits_call(struct captured call)
{
    const struct procedure *procedure;
    struct rpc_header h;

    if (!call.data || rpc_parse(call.data, call.cap_len, call.wire_len, &h) != RPC_OK ||
        h.body_protected || h.body > call.cap_len)
        return FIT_WELL;
    procedure = procedure_find(h.program, h.version, h.procedure);
    return procedure ? fits_body(procedure->arguments, call, &h) : FIT_WELL;
}

enum fit fits_result(const struct procedure *procedure, const struct rpc_auth *credential,
                     struct captured reply)
{
    struct rpc_header h;

    if (!procedure || !reply.data ||
        rpc_parse(reply.data, reply.cap_len, reply.wire_len, &h) != RPC_OK)
        return FIT_WELL;
    rpc_reply_in_clear(reply.data, reply.cap_len, credential, &h);
    if (h.body_protected || h.status != RPC_SUCCESS || h.body > reply.cap_len)
        return FIT_WELL;
    return fits_body(procedure->result, reply, &h);
}

enum fit fits_reply(struct captured call, struct captured reply)
{
    struct rpc_header h;

    if (!call.data || rpc_parse(call.data, call.cap_len, call.wire_len, &h) != RPC_OK)
        return FIT_WELL;
    return fits_result(procedure_find(h.program, h.version, h.procedure), &h.credential, reply);
}
