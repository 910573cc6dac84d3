/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/mount_client.c
 *
 * MOUNT's procedures as calls with structs (wire/mount_structs.h).  Results that are lists are
 * gathered by a walk: their elements have no fixed size, and those of EXPORT are lists again.
 */
#include "net/mount_client.h"
#include "net/bound_call.h"
#include "base/grow.h"
#include "wire/mount_structs.h"
#include "wire/nfs3_numbers.h"

#include <stdlib.h>

struct mount {
    struct bound_call call;
    mount_done *done;
    void *ctx;
};

/* The texts of a list of lists, or of pairs, as they come. */
struct gathered {
    bool pairs; /* DUMP: host and path by turns */
    struct mount_export *exports;
    struct mount_entry *entries;
    struct bytes *groups;
    uint32_t count, cap, group_count, group_cap;
    bool half; /* a host is there, its path comes next */
};

static int gather(void *ctx, const struct visit *v)
{
    struct gathered *g = ctx;
    struct bytes text = { v->data, v->len };

    if (v->field->kind != XDR_STRING)
        return 0;
    if (g->half) {
        g->entries[g->count - 1].path = text;
        g->half = false;
        return 0;
    }
    if (g->pairs) {
        if (GROW(g->entries, g->count, g->cap) < 0)
            return -1;
        g->entries[g->count++] = (struct mount_entry){ .host = text };
        g->half = true;
        return 0;
    }
    if (v->field->cls == CLASS_PATH) {
        if (GROW(g->exports, g->count, g->cap) < 0)
            return -1;
        g->exports[g->count++] = (struct mount_export){ .path = text };
        return 0;
    }
    if (GROW(g->groups, g->group_count, g->group_cap) < 0)
        return -1;
    g->groups[g->group_count++] = text;
    g->exports[g->count - 1].group_count++;
    return 0;
}

static int tell_list(struct mount *m, struct bytes body, struct mount_answer *answer,
                     struct err *err)
{
    struct gathered g = { .pairs = m->call.procedure == MOUNT_DUMP };
    struct visitor visitor = { .visit = gather, .ctx = &g };
    uint32_t group = 0;
    struct walk state;
    int result;

    if (walk(&state, m->call.table->result, body.data, body.len, body.len, false, &visitor) !=
        WALK_OK) {
        result = err_memory(err, "a server's exports");
    } else {
        for (uint32_t i = 0; g.exports && i < g.count; i++) { /* they stay where they are now */
            g.exports[i].groups = g.groups + group;
            group += g.exports[i].group_count;
        }
        answer->exports = g.exports;
        answer->export_count = g.pairs ? 0 : g.count;
        answer->entries = g.entries;
        answer->entry_count = g.pairs ? g.count : 0;
        result = m->done(m->ctx, answer, err);
    }
    free(g.exports);
    free(g.entries);
    free(g.groups);
    return result;
}

static int tell_handle(struct mount *m, struct bytes body, struct mount_answer *answer,
                       struct err *err)
{
    struct auth_flavor flavors[MOUNT_FLAVORS_MAX];
    struct mountres3 v3 = { .auth_flavors = { flavors, 0, MOUNT_FLAVORS_MAX } };
    struct fhstatus v1 = { 0 };
    uint32_t numbers[MOUNT_FLAVORS_MAX];
    char text[BOUND_CALL_TEXT];
    bool whole;

    if (m->call.version == 1) {
        whole = bind_read(mount1_binding(MOUNT_MNT)->result, body, &v1) == WALK_OK;
        answer->status = v1.status;
        answer->handle = (struct bytes){ v1.directory, sizeof(v1.directory) };
    } else {
        whole = bind_read(mount3_binding(MOUNT_MNT)->result, body, &v3) == WALK_OK;
        answer->status = v3.fhs_status;
        answer->handle = v3.fhandle;
        for (uint32_t i = 0; i < v3.auth_flavors.count; i++)
            numbers[i] = flavors[i].flavor;
        answer->flavors = numbers;
        answer->flavor_count = v3.auth_flavors.count;
    }
    if (!whole) {
        answer->problem = "MOUNT MNT: the reply has too many flavors";
    } else if (answer->status) {
        bound_call_status(&m->call, answer->status, text);
        answer->problem = text;
    }
    if (answer->problem) {
        answer->handle = (struct bytes){ 0 };
        answer->flavor_count = 0;
    }
    return m->done(m->ctx, answer, err);
}

static int on_answer(struct bound_call *call, const struct bound_answer *bound, struct err *err)
{
    struct mount *m = (struct mount *)(void *)call; /* its first member */
    struct mount_answer answer = { .problem = bound->problem };
    int result;

    if (!bound->problem && call->procedure == MOUNT_MNT)
        result = tell_handle(m, bound->body, &answer, err);
    else if (!bound->problem && (call->procedure == MOUNT_DUMP || call->procedure == MOUNT_EXPORT))
        result = tell_list(m, bound->body, &answer, err);
    else
        result = m->done(m->ctx, &answer, err);
    free(m);
    return result;
}

int mount_call(struct rpc_client *client, const struct mount_question *question, mount_done *done,
               void *ctx, struct err *err)
{
    struct MNT3args path = { question->path }; /* the same in all versions, and for UMNT */
    bool has_path = question->procedure == MOUNT_MNT || question->procedure == MOUNT_UMNT;
    const struct wire_binding *binding;
    struct mount *m;
    int result;

    wire_init();
    if (mount_structs_init(err) < 0)
        return -ERR_SYSTEM;
    if (question->version != 1 && question->version != 3)
        return err_set(err, ERR_USAGE, "MOUNT has no version %u here, but 1 and 3",
                       question->version);
    m = calloc(1, sizeof(*m));
    if (!m)
        return err_memory(err, "a call");
    *m = (struct mount){ .call = { .done = on_answer,
                                   .program = MOUNT_PROGRAM,
                                   .version = question->version,
                                   .procedure = question->procedure,
                                   .credential = question->credential },
                         .done = done,
                         .ctx = ctx };
    binding = (question->version == 1 ? mount1_binding : mount3_binding)(question->procedure);
    result = bound_call(client, &m->call, binding, has_path ? &path : NULL, err);
    if (result)
        free(m);
    return result;
}
