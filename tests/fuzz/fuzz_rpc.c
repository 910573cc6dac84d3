/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_rpc.c
 *
 * Any bytes as an RPC message.  Held to: all that is pointed to lies within the captured bytes, a
 * message that is cut is truncated or, behind its header, the same; a shorter one is none.
 *
 * Input: bytes cut off the capture (2), bytes more on the wire (2), a reply's call credential is
 * RPCSEC_GSS with this procedure (1) and service (1), message.
 */
#include "wire/rpc.h"

#include <stdlib.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_inside(struct bytes bytes, const uint8_t *data, uint32_t cap)
{
    if (!bytes.data)
        require(bytes.len == 0);
    else
        require(bytes.data >= data && bytes.len <= cap && bytes.data <= data + (cap - bytes.len));
}

static void check_auth(const struct rpc_auth *auth, const uint8_t *data, uint32_t cap)
{
    require_inside(auth->body, data, cap);
    require_inside(auth->machine, data, cap);
    require_inside(auth->gss_context, data, cap);
    require(auth->body.len <= RPC_AUTH_BODY_MAX);
    require(!auth->body.data || auth->body.data == data + auth->offset);
    require(auth->gid_count <= RPC_GIDS_MAX);
    require(auth->machine.len <= 255);
    if (!auth->valid)
        require(!auth->gid_count && !auth->gss_version && !auth->machine.data);
}

static void check_body(const struct rpc_header *h, uint32_t wire)
{
    require(h->body <= wire && h->body_len <= wire - h->body);
}

static void check(const uint8_t *data, uint32_t cap, uint32_t wire, const struct rpc_auth *call,
                  struct rpc_header *h, enum rpc_result *result)
{
    *result = rpc_parse(data, cap, wire, h);
    check_auth(&h->credential, data, cap);
    check_auth(&h->verifier, data, cap);
    require(*result == RPC_OK || h->body <= cap);
    require(*result != RPC_TRUNCATED || cap < wire);
    check_body(h, wire);
    if (*result == RPC_OK && h->direction == RPC_REPLY) {
        struct rpc_header clear = *h;

        require(rpc_status_name(h->status) != NULL);
        rpc_reply_in_clear(data, cap, call, &clear);
        check_body(&clear, wire);
        require(clear.body == h->body || clear.body == h->body + 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rpc_auth call = { .flavor = RPC_GSS, .valid = true };
    struct rpc_header whole, cut;
    enum rpc_result whole_result, cut_result;
    uint32_t len, cap, wire;

    if (size < 6)
        return 0;
    len = (uint32_t)(size - 6);
    cap = len - load_be16(data) % (len + 1);
    wire = len + load_be16(data + 2);
    call.gss_procedure = data[4];
    call.gss_service = data[5];
    data += 6;

    check(data, len, len, &call, &whole, &whole_result);
    require(whole_result != RPC_TRUNCATED);
    check(data, cap, wire, &call, &cut, &cut_result);
    check(data, cap, len, &call, &cut, &cut_result);
    if (whole_result == RPC_OK) {
        require(cut_result != RPC_NOT);
        require(cut_result == RPC_OK || cut.body <= whole.body);
        if (cut_result == RPC_OK)
            require(cut.xid == whole.xid && cut.status == whole.status &&
                    cut.credential.body.len == whole.credential.body.len &&
                    (cut.body_protected || cut.body == whole.body));
        else if (cut.body >= 24 && cut.direction == RPC_CALL)
            require(cut.program == whole.program && cut.procedure == whole.procedure);
        check(data, cap, cap, &call, &cut, &cut_result);
        require(cut_result == RPC_NOT || cap >= whole.body - 8);
    }
    return 0;
}
