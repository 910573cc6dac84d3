/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/service_judge.h
 *
 * Whether a reply of ftnfsd can be one to its call: the RPC header, the refusals that RFC 5531 asks
 * for, results that the tables accept, statuses that RFC 1813 lists, lengths that the call allows,
 * handles that lead to objects.  With faults less is certain (struct judge).
 */
#ifndef NFSDIGEST_TESTS_SERVICE_JUDGE_H
#define NFSDIGEST_TESTS_SERVICE_JUDGE_H

#include "nfs3_statuses.h"
#include "net/rpc_server.h"
#include "service_calls.h"
#include "server/service.h"
#include "wire/programs.h"
#include "wire/walk.h"

#define require(good) ((good) ? (void)0 : failed(#good, __LINE__))

static void failed(const char *what, int line)
{
    fprintf(stderr, "not true (line %d): %s\n", line, what);
    abort();
}

struct judge {
    const struct service *service;
    struct maker *maker; /* gets the handles of replies */
    bool faults;         /* there were some: refusals, missing and surplus replies are possible, */
    bool malformed, statuses, handles; /* and these */
    /* Of the reply that is looked at: */
    uint32_t program, status, asked; /* |asked|: the bytes that the call allows, or UINT32_MAX */
    bool status_known, whole;
};

static const struct procedure *procedure_of(const struct rpc_header *h)
{
    uint32_t version = h->program == MOUNT_PROGRAM && h->version == 2 ? 1 : h->version;

    return procedure_find(h->program, version, h->procedure);
}

/* --- the call */

static int note_asked(void *ctx, const struct visit *visit)
{
    struct judge *j = ctx;

    if (!strcmp(visit->field->name, "maxcount") || !strcmp(visit->field->name, "count"))
        j->asked = (uint32_t)visit->value;
    return 0;
}

struct write_seen {
    uint64_t count, stable, length;
};

static int note_write(void *ctx, const struct visit *visit)
{
    struct write_seen *w = ctx;
    const char *name = visit->field->name;

    if (!strcmp(name, "count"))
        w->count = visit->value;
    else if (!strcmp(name, "stable"))
        w->stable = visit->value;
    else if (!strcmp(name, "data"))
        w->length = visit->len;
    return 0;
}

/* WRITE's count must be that of its data, and |stable| one of three. */
static bool write_is_garbage(const struct rpc_call *call)
{
    const struct procedure *p = procedure_of(&call->header);
    struct write_seen seen = { 0 };
    struct visitor visitor = { note_write, &seen, 0 };
    struct walk w;

    if (call->header.program != NFS3_PROGRAM || call->header.procedure != 7)
        return false;
    walk(&w, p->arguments, call->body.data, call->body.len, call->body.len, false, &visitor);
    return seen.count != seen.length || seen.stable > 2;
}

/* Only NFS and MOUNT are served in all their procedures. */
static bool is_whole_program(uint32_t program)
{
    return program == NFS3_PROGRAM || program == MOUNT_PROGRAM;
}

/* What RFC 5531 s9 and the arguments ask for, in its order. */
static enum rpc_status expected_status(struct judge *j, const struct rpc_call *call)
{
    static const uint32_t programs[][3] = {
        { NFS3_PROGRAM, 3, 3 },
        { MOUNT_PROGRAM, 1, 3 },
        { NFSACL_PROGRAM, 3, 3 },
        { PORTMAP_PROGRAM, 2, 4 },
    };
    const struct rpc_header *h = &call->header;
    const struct procedure *p = procedure_of(h);
    struct visitor visitor = { note_asked, j, 0 };
    struct walk w;
    unsigned i = 0;

    j->asked = UINT32_MAX;
    if (h->rpc_version != 2)
        return RPC_MISMATCH;
    if (h->credential.flavor > RPC_AUTH_SYS || !h->credential.valid || h->verifier.flavor)
        return RPC_AUTH_ERROR;
    while (i < 4 && programs[i][0] != h->program)
        i++;
    if (i == 4)
        return RPC_PROG_UNAVAIL;
    if (h->version < programs[i][1] || h->version > programs[i][2])
        return RPC_PROG_MISMATCH;
    if (h->procedure && !p)
        return RPC_PROC_UNAVAIL;
    if (h->procedure == 0 || p->arguments == &wire_void) /* with any arguments */
        return RPC_SUCCESS;
    if (walk(&w, p->arguments, call->body.data, call->body.len, call->body.len, false, &visitor) !=
        WALK_OK)
        return RPC_GARBAGE_ARGS;
    return RPC_SUCCESS;
}

/* --- the reply */

static int note_result(void *ctx, const struct visit *visit)
{
    struct judge *j = ctx;
    struct bytes handle = { visit->data, visit->len };
    const struct export *export;
    uint32_t object;

    if (visit->field->role & ROLE_STATUS && !j->status_known) {
        j->status = (uint32_t)visit->value;
        j->status_known = true;
    }
    if (visit->field->cls == CLASS_DATA)
        require(visit->len <= j->asked);
    if (visit->field->cls != CLASS_HANDLE)
        return 0;
    require(handle.len <= POOL_HANDLE);
    require(j->handles || service_find(j->service, handle, &export, &object) == NFS3_OK);
    pool_handle(j->maker, handle);
    return 0;
}

static void judge_status(const struct judge *j, const struct rpc_header *call)
{
    if (!j->status_known || j->statuses)
        return;
    if (call->program == NFS3_PROGRAM && !status_is_listed(call->procedure, j->status)) {
        fprintf(stderr, "procedure %u has status %u\n", call->procedure, j->status);
        require(!"a status that is listed");
    }
    if (call->program == MOUNT_PROGRAM) /* s5.1.5 */
        require(!j->status || j->status == NFS3ERR_NOENT || j->status == NFS3ERR_NOTDIR ||
                j->status == NFS3ERR_ACCES || j->status == NFS3ERR_NAMETOOLONG);
}

static void judge_results(struct judge *j, const struct rpc_header *call, struct bytes body)
{
    const struct procedure *p = procedure_of(call);
    struct visitor visitor = { note_result, j, 0 };
    struct walk w;
    bool listing =
        call->program == NFS3_PROGRAM && (call->procedure == 16 || call->procedure == 17);

    j->status_known = false;
    if (call->procedure == 0) {
        require(!body.len || j->malformed);
        return;
    }
    j->whole = walk(&w, p->result, body.data, body.len, body.len, false, &visitor) == WALK_OK;
    if (!j->whole && !j->malformed) {
        char path[WALK_PATH_MAX];

        fprintf(stderr, "%s: %s\n", walk_path(&w, NULL, path), w.problem ? w.problem : "cut");
        require(!"a result of the tables");
    }
    judge_status(j, call);
    if (listing && j->status_known && !j->status)
        require(body.len - 4 <= j->asked || j->malformed);
}

/* Looks at a reply; |j|->status is then that of its result. */
static void judge_reply(struct judge *j, const struct rpc_call *call, struct bytes reply)
{
    enum rpc_status expected = expected_status(j, call);
    struct rpc_header h;
    bool other, garbage;

    require(rpc_parse(reply.data, reply.len, reply.len, &h) == RPC_OK);
    require(h.direction == RPC_REPLY && h.xid == call->header.xid);
    require(!h.verifier.flavor && !h.verifier.body.len);
    garbage = h.status == RPC_SUCCESS && write_is_garbage(call);
    other = j->faults || (h.status == RPC_GARBAGE_ARGS && write_is_garbage(call)) ||
            (h.status == RPC_PROC_UNAVAIL && !is_whole_program(call->header.program)) ||
            (h.status == RPC_SYSTEM_ERR && call->header.program == MOUNT_PROGRAM); /* too long */
    if (h.status != expected && !other) {
        fprintf(stderr, "program %u procedure %u: RPC status %u, not %u\n", call->header.program,
                call->header.procedure, h.status, expected);
        require(!"the RPC status of RFC 5531");
    }
    j->program = call->header.program;
    j->status_known = false;
    if (h.status == RPC_SUCCESS)
        judge_results(j, &call->header, (struct bytes){ reply.data + h.body, h.body_len });
    if (garbage) /* it may have found another error first */
        require((j->status_known && j->status) || j->faults);
}

#endif
