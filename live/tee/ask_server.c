/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/ask_server.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE INT64_C(30000000000) /* ns */

static int on_done(struct bound_call *call, const struct bound_answer *answer, struct err *err)
{
    struct asking *a = (struct asking *)(void *)((char *)call - offsetof(struct asking, call));

    a->answered = true;
    loop_stop(a->loop);
    if (answer->problem) {
        snprintf(a->problem, sizeof(a->problem), "%s", answer->problem);
        return 0;
    }
    a->status = load_be32(answer->body.data);
    a->body.len = 0;
    return buf_append(&a->body, answer->body.data, answer->body.len) < 0
               ? err_memory(err, "a question")
               : 0;
}

int asking_open(struct asking *a, struct loop *loop, const struct target *target, struct err *err)
{
    struct rpc_client_setup setup = { .server = target->nfs,
                                      .from = target->from,
                                      .limits = rpc_client_defaults };
    const struct rpc_client_host host = { .ctx = a };

    *a = (struct asking){ .loop = loop, .target = target };
    setup.limits.timeout = PATIENCE;
    a->client = rpc_client_new(loop, &setup, &host, err);
    return a->client ? 0 : -err->code;
}

void asking_close(struct asking *a)
{
    rpc_client_free(a->client);
    buf_free(&a->body);
}

int asking_ask(struct asking *a, uint32_t procedure, const void *arguments, struct err *err)
{
    const struct nfs3_binding *b = nfs3_binding(procedure);
    const struct wire_binding binding = { .arguments = b->arguments, .result = b->result };
    int result;

    a->call = (struct bound_call){ .done = on_done,
                                   .program = NFS3_PROGRAM,
                                   .version = NFS3_VERSION,
                                   .procedure = procedure,
                                   .credential = &a->target->credential };
    a->answered = false;
    a->problem[0] = 0;
    result = bound_call(a->client, &a->call, &binding, arguments, err);
    if (result == 0)
        result = loop_run(a->loop, err);
    if (result < 0)
        return result;
    if (!a->answered)
        return err_set(err, ERR_SYSTEM, "interrupted");
    return a->problem[0] ? err_set(err, ERR_SYSTEM, "%s: %s", a->target->address.host, a->problem)
                         : 0;
}

void asking_read(const struct asking *a, void *result)
{
    bind_read(nfs3_binding(a->call.procedure)->result,
              (struct bytes){ a->body.data, (uint32_t)a->body.len }, result);
}

int asking_attributes(struct asking *a, struct asked_file *file, struct err *err)
{
    const struct GETATTR3args args = { asked_handle(file) };
    struct GETATTR3res res;

    if (asking_ask(a, NFSPROC3_GETATTR, &args, err) < 0)
        return -err->code;
    if (a->status)
        return 0;
    asking_read(a, &res);
    file->attributes = res.obj_attributes;
    return 1;
}

int asking_find(struct asking *a, struct bytes directory, struct bytes name,
                struct asked_file *found, struct err *err)
{
    const struct LOOKUP3args args = { .what = { directory, name } };
    struct LOOKUP3res res;

    if (asking_ask(a, NFSPROC3_LOOKUP, &args, err) < 0)
        return -err->code;
    if (a->status)
        return 0;
    asking_read(a, &res);
    if (!res.object.len || res.object.len > sizeof(found->handle))
        return 0;
    memcpy(found->handle, res.object.data, res.object.len);
    found->handle_len = res.object.len;
    return 1;
}
