/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/connection.c
 *
 * The connection to the SUT: when it is made again, another server may be there, or the same one
 * without its files.  So its root is asked for first; what it answers meanwhile waits for that.
 */
#include "shadow/shadow_parts.h"
#include "wire/nfs3_structs.h"

/* It is the same server: what it answered meanwhile counts. */
static int go_on(struct shadow *s, struct err *err)
{
    s->is_checking = false;
    for (struct request *r = request_at(s, s->pending.first); r; r = request_at(s, r->next))
        if (r->is_unlearnt && send_learn(s, r, err) < 0)
            return -err->code;
    loop_idle(s->loop, &s->send);
    loop_idle(s->loop, &s->judge);
    return 0;
}

static int on_root(void *ctx, const struct rpc_answer *answer, struct err *err)
{
    struct shadow *s = ctx;
    struct GETATTR3res res = { .status = NFS3_OK };

    if (answer->outcome != RPC_ANSWERED) {
        s->is_checking = false;
        if (answer->outcome == RPC_CANCELLED || s->is_ending)
            return 0;
        return s->is_down ? 0 : send_check(s, err); /* else the next connection asks */
    }
    if (answer->header->status == RPC_SUCCESS &&
        bind_read(nfs3_binding(NFSPROC3_GETATTR)->result, answer->body, &res) == WALK_OK &&
        res.status != NFS3ERR_STALE && res.status != NFS3ERR_BADHANDLE) {
        return go_on(s, err);
    }
    s->counts.sut_anew++;
    if (send_give_up(s, true, err) < 0)
        return -err->code;
    if (!s->setup.lost_root)
        return err_set(err, ERR_INPUT, "the SUT does not know its root any more: it began anew");
    return s->setup.lost_root(s->setup.ctx, err);
}

int send_check(struct shadow *s, struct err *err)
{
    const struct rpc_target target = { NFS3_PROGRAM, NFS3_VERSION, NFSPROC3_GETATTR,
                                       s->setup.credential };
    struct xdr_put *put = s->is_checking ? NULL : rpc_client_begin(s->sut, &target);

    if (!put) /* it is full of calls that are sent again: their answers show it */
        return 0;
    xdr_put_opaque(put, (struct bytes){ s->setup.sut.root, s->setup.sut.root_len });
    s->is_checking = true;
    return rpc_client_end(s->sut, on_root, s, NULL, err);
}

int send_event(void *ctx, enum rpc_client_event event, const char *text, struct err *err)
{
    struct shadow *s = ctx;
    bool was_down = s->is_down;

    if (s->setup.tell && (event != RPC_CLIENT_CONNECTED || was_down) &&
        !(event == RPC_CLIENT_FAILED && was_down))
        s->setup.tell(s->setup.ctx, text);
    if (event == RPC_CLIENT_LOST || event == RPC_CLIENT_NONSENSE)
        s->counts.sut_lost++;
    s->is_down = event == RPC_CLIENT_OTHER_PORT ? was_down : event != RPC_CLIENT_CONNECTED;
    if (event != RPC_CLIENT_CONNECTED)
        return 0;
    s->is_given_up = false;
    return send_check(s, err); /* another server may be there */
}
