/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "columns/known.h"
#include "base/escape.h"
#include "base/grow.h"
#include "store/row_text.h"
#include "wire/rpc.h"

#include <stdlib.h>

void known_init(struct known *known, unsigned wants)
{
    *known = (struct known){ .wants = wants,
                             .flows = { .what = "flow", .direct = true },
                             .credentials = { .what = "credential", .direct = true },
                             .objects = { .what = "object", .direct = true },
                             .paths = { .what = "path", .direct = true } };
}

void known_free(struct known *known)
{
    ids_free(&known->flows);
    ids_free(&known->credentials);
    ids_free(&known->objects);
    ids_free(&known->paths);
    hosts_free(&known->hosts);
    buf_free(&known->path_text);
    free(known->paths_at);
    free(known->uids);
    free(known->frames);
    buf_free(&known->text);
    buf_free(&known->text2);
}

int known_source(struct known *known, uint64_t frames, struct err *err)
{
    if (GROW(known->frames, known->source_count, known->source_cap) < 0)
        return err_memory(err, "sources");
    known->frames[known->source_count++] = frames;
    return 0;
}

int64_t known_source_of(const struct known *known, uint64_t *frame)
{
    uint32_t i = known->source_count - 1;

    while (i > 0 && *frame <= known->frames[i])
        i--;
    *frame -= known->frames[i];
    return (int64_t)i + 1;
}

struct bytes known_path(const struct known *known, uint32_t id)
{
    const struct known_text *text = &known->paths_at[id - 1];

    return (struct bytes){ known->path_text.data + text->at, text->len };
}

/* Checks that |id| is known, or 0. */
static int check(const struct ids *ids, uint64_t id, struct err *err)
{
    uint32_t unused;

    return ids_get(ids, id, &unused, err);
}

/* The next id of a kind: 1 if it was there before, which only objects may be. */
static int next(struct ids *ids, uint64_t id, bool again, struct err *err)
{
    int fresh = ids_check(ids, id, err);

    if (fresh < 0)
        return fresh;
    if (!fresh)
        return again ? 1
                     : err_set(err, ERR_INPUT, "%s %llu comes twice", ids->what,
                               (unsigned long long)id);
    return ids_add(ids, (uint32_t)id, err);
}

static int learn_path(struct known *k, const struct record_path *path, struct err *err)
{
    struct bytes parent = { NULL, 0 };
    struct known_text *at;

    if (check(&k->paths, path->parent, err) < 0 || check(&k->objects, path->object, err) < 0)
        return err_prefix(err, "path %u", path->id);
    if (next(&k->paths, path->id, false, err) < 0)
        return -err->code;
    if (!(k->wants & WANTS_PATHS))
        return 0;
    if (path->parent)
        parent = known_path(k, path->parent);
    k->text.len = k->text2.len = 0;
    if (escape_name(path->name, !path->parent && !path->object, &k->text) < 0 ||
        row_path_text(path->parent ? &parent : NULL, (uint32_t)path->object,
                      (struct bytes){ k->text.data, (uint32_t)k->text.len }, &k->text2) < 0 ||
        GROW(k->paths_at, k->path_count, k->path_cap) < 0)
        return err_memory(err, "a path");
    k->name_bytes += k->text.len + 1;
    if (k->path_text.len + k->text2.len > KNOWN_PATHS + KNOWN_DEPTH * k->name_bytes)
        return err_set(err, ERR_INPUT, "path %u: too many paths are too deep", path->id);
    at = &k->paths_at[k->path_count++];
    *at = (struct known_text){ k->path_text.len, (uint32_t)k->text2.len };
    if (buf_append(&k->path_text, k->text2.data, k->text2.len) < 0)
        return err_memory(err, "a path");
    return 0;
}

static int learn_credential(struct known *k, const struct record_credential *credential,
                            struct err *err)
{
    if (next(&k->credentials, credential->id, false, err) < 0)
        return -err->code;
    if (!(k->wants & WANTS_UIDS))
        return 0;
    if (GROW(k->uids, k->uid_count, k->uid_cap) < 0)
        return err_memory(err, "credentials");
    k->uids[k->uid_count++] =
        credential->valid && credential->flavor == RPC_AUTH_SYS ? (int64_t)credential->uid : -1;
    return 0;
}

static int learn_flow(struct known *k, const struct record_flow *flow, struct err *err)
{
    if (next(&k->flows, flow->id, false, err) < 0)
        return -err->code;
    return k->wants & WANTS_HOSTS ? hosts_add_flow(&k->hosts, flow, err) : 0;
}

static int check_operation(const struct known *k, const struct record_operation *op,
                           struct err *err)
{
    const struct {
        const struct ids *ids;
        uint64_t id;
    } ids[] = {
        { &k->flows, op->flow },     { &k->credentials, op->credential },
        { &k->objects, op->object }, { &k->objects, op->object2 },
        { &k->paths, op->path },     { &k->objects, op->new_object },
        { &k->paths, op->path2 },
    };

    if (!op->id || op->id > INT64_MAX || !op->flow || (!op->call.frame && !op->reply.frame))
        return err_set(err, ERR_INPUT,
                       "operation %llu has no id, no flow, or neither call nor reply",
                       (unsigned long long)op->id);
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
        if (check(ids[i].ids, ids[i].id, err) < 0)
            return err_prefix(err, "operation %llu", (unsigned long long)op->id);
    return 0;
}

int known_record(struct known *k, const struct record *r, struct err *err)
{
    switch (r->kind) {
    case RECORD_FLOW:
        return learn_flow(k, &r->flow, err);
    case RECORD_CREDENTIAL:
        return learn_credential(k, &r->credential, err);
    case RECORD_OBJECT:
        return next(&k->objects, r->object.id, true, err);
    case RECORD_PATH:
        return learn_path(k, &r->path, err);
    case RECORD_NAME:
        if (check(&k->objects, r->name.parent, err) < 0 ||
            check(&k->objects, r->name.object, err) < 0)
            return err_prefix(err, "a name of operation %llu",
                              (unsigned long long)r->name.operation);
        return 0;
    case RECORD_OPERATION:
        return check_operation(k, &r->operation, err);
    case RECORD_REPEAT:
        if (!r->repeat.flow || !r->repeat.sighting.frame)
            return err_set(err, ERR_INPUT,
                           "a retransmission of operation %llu has no flow or frame",
                           (unsigned long long)r->repeat.operation);
        return check(&k->flows, r->repeat.flow, err);
    case RECORD_PROBLEM:
        return check(&k->flows, r->problem.flow, err);
    case RECORD_CONNECTION_EVENT:
        return check(&k->flows, r->connection_event.flow, err);
    }
    return 0;
}
