/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/rpc_put.h"

enum { MSG_ACCEPTED = 0, MSG_DENIED = 1 };
enum { REJECT_RPC_MISMATCH = 0, REJECT_AUTH_ERROR = 1 };
enum { SYS_MACHINE_MAX = 255 };

/* RFC 5531 appendix A */
static void put_sys(struct xdr_put *p, const struct rpc_auth *auth)
{
    if (auth->machine.len > SYS_MACHINE_MAX || auth->gid_count > RPC_GIDS_MAX) {
        xdr_put_fail(p, XDR_PUT_BAD);
        return;
    }
    xdr_put_u32(p, auth->stamp);
    xdr_put_opaque(p, auth->machine);
    xdr_put_u32(p, auth->uid);
    xdr_put_u32(p, auth->gid);
    xdr_put_u32(p, auth->gid_count);
    for (uint32_t i = 0; i < auth->gid_count; i++)
        xdr_put_u32(p, auth->gids[i]);
}

/* RFC 2203 s5.2.2; RFC 5403 and RFC 7861 have the same. */
static void put_gss(struct xdr_put *p, const struct rpc_auth *auth)
{
    xdr_put_u32(p, auth->gss_version);
    xdr_put_u32(p, auth->gss_procedure);
    xdr_put_u32(p, auth->gss_sequence);
    xdr_put_u32(p, auth->gss_service);
    xdr_put_opaque(p, auth->gss_context);
}

void rpc_put_auth(struct xdr_put *p, const struct rpc_auth *auth)
{
    size_t begun;

    xdr_put_u32(p, auth->flavor);
    begun = xdr_put_opaque_begin(p);
    if (auth->flavor == RPC_AUTH_SYS && auth->valid)
        put_sys(p, auth);
    else if (auth->flavor == RPC_GSS && auth->valid && auth->gss_version)
        put_gss(p, auth);
    else
        xdr_put_bytes(p, auth->body.data, auth->body.len);
    if (p->to->len - begun > RPC_AUTH_BODY_MAX)
        xdr_put_fail(p, XDR_PUT_BAD);
    xdr_put_opaque_end(p, begun);
}

void rpc_put_target(struct xdr_put *p, const struct rpc_header *h)
{
    xdr_put_u32(p, h->rpc_version);
    xdr_put_u32(p, h->program);
    xdr_put_u32(p, h->version);
    xdr_put_u32(p, h->procedure);
}

void rpc_put_reply_state(struct xdr_put *p, const struct rpc_header *h,
                         const struct rpc_auth *verifier)
{
    if (h->status == RPC_MISMATCH || h->status == RPC_AUTH_ERROR) {
        xdr_put_u32(p, MSG_DENIED);
        xdr_put_u32(p, h->status == RPC_MISMATCH ? REJECT_RPC_MISMATCH : REJECT_AUTH_ERROR);
        xdr_put_u32(p, h->detail[0]);
        if (h->status == RPC_MISMATCH)
            xdr_put_u32(p, h->detail[1]);
        return;
    }
    if (h->status > RPC_SYSTEM_ERR)
        xdr_put_fail(p, XDR_PUT_BAD);
    xdr_put_u32(p, MSG_ACCEPTED);
    rpc_put_auth(p, verifier);
    xdr_put_u32(p, h->status);
    if (h->status == RPC_PROG_MISMATCH) {
        xdr_put_u32(p, h->detail[0]);
        xdr_put_u32(p, h->detail[1]);
    }
}

void rpc_put_header(struct xdr_put *p, const struct rpc_header *h)
{
    xdr_put_u32(p, h->xid);
    xdr_put_u32(p, h->direction);
    if (h->direction == RPC_REPLY) {
        rpc_put_reply_state(p, h, &h->verifier);
        return;
    }
    if (h->direction != RPC_CALL)
        xdr_put_fail(p, XDR_PUT_BAD);
    rpc_put_target(p, h);
    rpc_put_auth(p, &h->credential);
    rpc_put_auth(p, &h->verifier);
}

size_t rpc_put_record_begin(struct xdr_put *p)
{
    xdr_put_u32(p, 0);
    return p->to->len;
}

void rpc_put_record_end(struct xdr_put *p, size_t begun)
{
    size_t len = p->to->len - begun;

    if (p->problem)
        return;
    if (len > RPC_RECORD_MAX)
        xdr_put_fail(p, XDR_PUT_TOO_LONG);
    xdr_put_u32_at(p, begun - 4, RPC_LAST_FRAGMENT | (uint32_t)len);
}
