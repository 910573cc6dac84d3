/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/shadow_refuse.h"
#include "effect/effect.h"
#include "net/bound_call.h"
#include "wire/nfs3_structs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CREATE = 8, REMOVE = 12, READDIR = 16, LIST_BYTES = 8192, MARKER_MAX = 48 };

/* One question at a time, with the loop until it is answered. */
struct asking {
    struct loop *loop;
    const struct target *target;
    struct rpc_client *client;
    struct bound_call call;
    bool answered;
    char problem[BOUND_CALL_TEXT];
    uint32_t status;
    uint32_t entries; /* READDIR: without "." and ".." */
    char entry[64];
};

static int count_entry(void *ctx, const struct effect_entry *entry)
{
    struct asking *a = ctx;
    struct bytes name = entry->name;

    if (name.len <= 2 && memcmp(name.data, "..", name.len) == 0)
        return 0;
    if (!a->entries++)
        snprintf(a->entry, sizeof(a->entry), "%.*s", (int)name.len, (const char *)name.data);
    return 0;
}

static void count_entries(struct asking *a, const struct bound_call *call, struct bytes body)
{
    struct effect e = { .procedure = call->table, .result_body = body };

    effect_decode_reply(&e);
    effect_entries(&e, count_entry, a);
}

static int on_done(struct bound_call *call, const struct bound_answer *answer, struct err *err)
{
    struct asking *a = (struct asking *)(void *)((char *)call - offsetof(struct asking, call));

    (void)err;
    a->answered = true;
    loop_stop(a->loop);
    if (answer->problem) {
        snprintf(a->problem, sizeof(a->problem), "%s", answer->problem);
        return 0;
    }
    a->status = load_be32(answer->body.data);
    if (call->procedure == READDIR && !a->status)
        count_entries(a, call, answer->body);
    return 0;
}

static int ask(struct asking *a, uint32_t procedure, const void *arguments, struct err *err)
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

static int open_client(struct asking *a, struct loop *loop, const struct target *target,
                       struct err *err)
{
    struct rpc_client_setup setup = { .server = target->nfs,
                                      .from = target->from,
                                      .limits = rpc_client_defaults };
    const struct rpc_client_host host = { .ctx = a };

    *a = (struct asking){ .loop = loop, .target = target };
    setup.limits.timeout = INT64_C(30000000000);
    a->client = rpc_client_new(loop, &setup, &host, err);
    return a->client ? 0 : -err->code;
}

static struct bytes root_of(const struct target *t)
{
    return (struct bytes){ t->root, t->root_len };
}

static int refuse_full(struct asking *sut, struct err *err)
{
    const struct READDIR3args args = { .dir = root_of(sut->target), .count = LIST_BYTES };

    if (ask(sut, READDIR, &args, err) < 0)
        return -err->code;
    if (sut->status)
        return err_set(err, ERR_USAGE, "--sut: its export cannot be listed");
    if (!sut->entries)
        return 0;
    return err_set(
        err, ERR_USAGE,
        "--sut: the export is not empty, \"%s\" is there: with --overwrite, all that the "
        "reference does not have is removed",
        sut->entry);
}

/* Makes a file on the SUT and looks for it on the reference. */
static int refuse_same(struct asking *sut, struct asking *reference, struct err *err)
{
    char name[MARKER_MAX];
    int length = snprintf(name, sizeof(name), ".nfstee-check-%ld", (long)getpid());
    const struct bytes marker = { (const uint8_t *)name, (uint32_t)length };
    const struct CREATE3args make = { .where = { root_of(sut->target), marker },
                                      .how = { .mode = GUARDED } };
    const struct LOOKUP3args find = { .what = { root_of(reference->target), marker } };
    const struct REMOVE3args drop = { .object = { root_of(sut->target), marker } };
    bool is_there;

    if (ask(sut, CREATE, &make, err) < 0)
        return -err->code;
    if (sut->status)
        return err_set(
            err, ERR_USAGE,
            "--sut: root may not make files there: export it with no_root_squash, or see "
            "--sync-uid");
    if (ask(reference, NFSPROC3_LOOKUP, &find, err) < 0)
        return -err->code;
    is_there = reference->status == NFS3_OK;
    if (ask(sut, REMOVE, &drop, err) < 0)
        return -err->code;
    return is_there ? err_set(err, ERR_USAGE,
                              "--sut: that is the reference itself: what is made there shows up "
                              "behind the relay")
                    : 0;
}

int shadow_refuse(struct loop *loop, const struct target *reference, const struct target *sut,
                  bool overwrite, struct err *err)
{
    struct asking of_reference = { .client = NULL }, of_sut = { .client = NULL };
    int result = open_client(&of_sut, loop, sut, err);

    if (result == 0)
        result = open_client(&of_reference, loop, reference, err);
    if (result == 0)
        result = refuse_same(&of_sut, &of_reference, err);
    if (result == 0 && !overwrite)
        result = refuse_full(&of_sut, err);
    rpc_client_free(of_sut.client);
    rpc_client_free(of_reference.client);
    return result;
}
