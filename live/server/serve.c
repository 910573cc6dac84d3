/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/serve.c
 *
 * From an RPC call to its reply.  One struct request goes through it; a call whose reply is late is
 * detached and waits for a timer with it.
 */
#include "server/serve.h"
#include "server/serve_parts.h"
#include "wire/mount_structs.h"
#include "wire/nfs3_structs.h"
#include "wire/nfsacl_structs.h"
#include "wire/portmap_structs.h"

#include <stdlib.h>

/* --- the end of a call */

static void count(const struct request *q, const struct outcome *o, bool answered)
{
    struct rpc_call *call = q->call;
    struct stats_call stat = {
        .program = q->row->stats,
        .procedure = call->header.procedure,
        .client = &call->ends.peer,
        .export = o->export,
        .failed = !answered || o->status != 0,
        .bytes = o->data,
        .ns = loop_clock() - call->arrived,
    };

    stats_add(&q->server->stats, &stat);
}

static struct bytes written(const struct xdr_put *to)
{
    return (struct bytes){ to->to->data, (uint32_t)to->to->len };
}

/* Sends what was written, as the faults want it.  |sent| is what was sent, or would have been. */
static int send_results(struct request *q, struct xdr_put *to, struct bytes *sent, struct err *err)
{
    int result;

    if (fault_has(&q->effects, FAULT_MALFORMED) && !to->problem && to->to->len > q->header)
        to->to->len -= 4;
    if (fault_has(&q->effects, FAULT_DROP)) {
        *sent = written(to);
        return 0;
    }
    result = rpc_reply_end(q->call, sent, err);
    if (result == 0 && fault_has(&q->effects, FAULT_TWICE))
        result = rpc_reply_again(q->call, *sent, err);
    return result;
}

static int execute(struct request *q, struct err *err)
{
    struct outcome outcome = { 0 };
    struct xdr_put *to = rpc_reply_begin(q->call);
    struct bytes sent = { NULL, 0 };
    enum rpc_status status;
    int result;

    q->header = to->to->len;
    status = q->row->answer(q, to, &outcome);
    result = status == RPC_SUCCESS ? send_results(q, to, &sent, err)
                                   : rpc_reply_status(q->call, status, &sent, err);

    if (q->slot && result == 0 && !fault_has(&q->effects, FAULT_FORGET))
        replies_keep(q->server->replies, q->slot, sent);
    else if (q->slot)
        replies_drop(q->server->replies, q->slot);
    count(q, &outcome, status == RPC_SUCCESS);
    return result;
}

/* --- faults: what happens between the peers */

static bool find_faults(struct request *q)
{
    struct rpc_call *call = q->call;
    const struct rpc_auth *credential = &call->header.credential;
    struct fault_request request = {
        .program = call->header.program,
        .procedure = call->header.procedure,
        .client = &call->ends.peer.any,
        .has_uid = credential->flavor == RPC_AUTH_SYS,
        .uid = credential->uid,
    };
    struct buf path = { 0 };
    bool found;

    if (!faults_concern(q->server->faults, request.program, request.procedure))
        return false;
    if (serve_path(q, &path, &request.object) == 0) {
        request.path = (const char *)path.data;
        request.path_len = (uint32_t)path.len;
    }
    found = faults_apply(q->server->faults, &request, &q->effects);
    buf_free(&path);
    return found;
}

static void forget(struct request *q)
{
    if (q->slot)
        replies_drop(q->server->replies, q->slot);
    q->slot = 0;
}

/* A call whose answer is late. */
struct serve_late {
    struct serve_late *next, **self;
    struct timer timer;
    struct request request;
};

static void free_late(struct serve_late *late)
{
    *late->self = late->next;
    if (late->next)
        late->next->self = late->self;
    rpc_call_free(late->request.call);
    free(late);
}

static int late_due(void *ctx, struct err *err)
{
    struct serve_late *late = ctx;
    int result = execute(&late->request, err);

    free_late(late);
    return result;
}

static void keep_late(struct request *q, struct serve_late *late, struct rpc_call *kept)
{
    struct server *server = q->server;

    late->request = *q;
    late->request.call = kept;
    late->timer.due = late_due;
    late->timer.ctx = late;
    late->next = server->late;
    if (late->next)
        late->next->self = &late->next;
    late->self = &server->late;
    server->late = late;
}

/* It is executed when it is due: like a server that is slow. */
static int delay(struct request *q, struct err *err)
{
    struct serve_late *late = calloc(1, sizeof(*late));
    struct rpc_call *kept = late ? rpc_call_detach(q->call) : NULL;
    int64_t at = loop_now(q->server->loop) + (int64_t)q->effects.value[FAULT_DELAY];

    if (!kept) {
        free(late);
        forget(q);
        return rpc_reply_status(q->call, RPC_SYSTEM_ERR, NULL, err);
    }
    keep_late(q, late, kept);
    return loop_set(q->server->loop, &late->timer, at, err);
}

/* 1: it goes on; else the call has ended. */
static int between_peers(struct request *q, struct err *err)
{
    const struct fault_effects *effects = &q->effects;
    struct outcome none = { 0 };
    bool ignored = fault_has(effects, FAULT_IGNORE), closed = fault_has(effects, FAULT_CLOSE);

    if (!ignored && !closed && !fault_has(effects, FAULT_RPC_STATUS))
        return 1;
    forget(q);
    count(q, &none, false);
    if (closed)
        rpc_call_drop(q->call);
    if (!ignored && !closed)
        return rpc_reply_status(q->call, (enum rpc_status)effects->value[FAULT_RPC_STATUS], NULL,
                                err);
    return 0;
}

/* --- the beginning of a call */

static int check_credential(struct rpc_call *call, struct err *err)
{
    const struct rpc_auth *credential = &call->header.credential;

    if (credential->flavor != RPC_AUTH_NONE && credential->flavor != RPC_AUTH_SYS)
        return rpc_reply_auth_error(call, RPC_AUTH_REJECTEDCRED, err);
    if (!credential->valid)
        return rpc_reply_auth_error(call, RPC_AUTH_BADCRED, err);
    return 1;
}

/* 1: it is to be done. */
static int find_reply(struct request *q, struct err *err)
{
    struct rpc_call *call = q->call;
    const struct procedure *procedure =
        procedure_find(call->header.program, call->header.version, call->header.procedure);
    struct replies_request request = { &call->header, call->body, &call->ends.peer.any,
                                       call->transport == RPC_UDP };
    struct bytes known;

    if (!procedure || procedure->action < ACTION_WRITE)
        return 1;
    switch (
        replies_begin(q->server->replies, &request, loop_now(q->server->loop), &q->slot, &known)) {
    case REPLIES_DONE:
        return rpc_reply_again(call, known, err);
    case REPLIES_UNDER_WAY:
        return 0;
    case REPLIES_FULL:
        q->slot = 0;
        return 1;
    default:
        return 1;
    }
}

static int take_call(void *ctx, struct rpc_call *call, struct err *err)
{
    const struct serve_program *program = ctx;
    struct request q = { .server = program->server, .row = program->row, .call = call };
    int result = check_credential(call, err);

    if (result == 1)
        result = find_reply(&q, err);
    if (result != 1)
        return result;
    if (find_faults(&q)) {
        result = between_peers(&q, err);
        if (result != 1)
            return result;
    }
    if (fault_has(&q.effects, FAULT_DELAY))
        return delay(&q, err);
    return execute(&q, err);
}

/* --- the whole */

static const struct serve_row rows[] = {
    { NFS3_PROGRAM, 3, 3, 22, STATS_NFS, serve_nfs3 },
    { MOUNT_PROGRAM, 1, 2, 7, STATS_MOUNT, serve_mount1 },
    { MOUNT_PROGRAM, 3, 3, 6, STATS_MOUNT, serve_mount3 },
    { NFSACL_PROGRAM, 3, 3, 4, STATS_NFSACL, serve_nfsacl },
    { PORTMAP_PROGRAM, 2, 4, 13, STATS_PORTMAP, serve_portmap },
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == SERVE_PROGRAMS, "one for each row");

static int bind_structs(struct err *err)
{
    int result = nfs3_structs_init(err);

    if (result == 0)
        result = mount_structs_init(err);
    if (result == 0)
        result = portmap_structs_init(err);
    return result < 0 ? result : nfsacl_structs_init(err);
}

int serve_begin(struct server *server, struct rpc_server *rpc, uint64_t fault_seed, struct err *err)
{
    static const struct replies_limits limits = { REPLIES_ENTRIES, REPLIES_BYTES,
                                                  REPLIES_SECONDS * INT64_C(1000000000) };
    int result = bind_structs(err);

    server->rpc = rpc;
    if (result == 0)
        result = stats_init(&server->stats, err);
    if (result < 0)
        return result;
    server->replies = replies_new(&limits, err);
    server->faults = faults_new(fault_seed, err);
    if (!server->replies || !server->faults)
        return -ERR_SYSTEM;
    for (unsigned i = 0; i < SERVE_PROGRAMS && result == 0; i++) {
        const struct serve_row *row = &rows[i];

        if (row->stats == STATS_PORTMAP && !server->portmap_port)
            continue;

        server->programs[i] = (struct serve_program){ server, row };
        result = rpc_server_add(rpc,
                                &(struct rpc_program){ row->program, row->low, row->high,
                                                       row->procedures, take_call,
                                                       &server->programs[i] },
                                err);
    }
    return result;
}

void serve_end(struct server *server)
{
    while (server->late) {
        struct serve_late *late = server->late;

        loop_unset(server->loop, &late->timer);
        forget(&late->request);
        free_late(late);
    }
    replies_free(server->replies);
    faults_free(server->faults);
    mounts_free(&server->mounts);
    stats_free(&server->stats);
    service_free(&server->service);
}
