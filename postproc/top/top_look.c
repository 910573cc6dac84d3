/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest.h"
#include "top/top_parts.h"
#include "wire/field.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static void name_procedure(const struct record_operation *op, char *text, size_t size)
{
    const struct procedure *p = procedure_find(op->program, op->version, op->procedure);
    const char *program = program_name(op->program);

    if (p)
        snprintf(text, size, "%s %s", program ? program : "?", p->name);
    else if (op->program == PROGRAM_UNKNOWN)
        snprintf(text, size, "-"); /* the call was not captured */
    else if (program)
        snprintf(text, size, "%s v%u proc %u", program, op->version, op->procedure);
    else
        snprintf(text, size, "%u v%u proc %u", op->program, op->version, op->procedure);
}

void top_status(const struct record_operation *op, char text[TOP_STATUS])
{
    const struct procedure *p = procedure_find(op->program, op->version, op->procedure);
    const char *name = NULL;

    if (!op->reply.frame)
        name = "no reply";
    else if (op->rpc_status == STATUS_NONE)
        name = "-"; /* not captured */
    else if (op->rpc_status == 0 && op->status == STATUS_NONE)
        name = "ok"; /* a result without a status, or it was not captured */
    else if (op->rpc_status != 0)
        name = rpc_status_name((uint32_t)op->rpc_status);
    else if (p)
        name = status_name(p, (uint32_t)op->status);
    if (name)
        snprintf(text, TOP_STATUS, "%s", name);
    else
        snprintf(text, TOP_STATUS, "%lld",
                 (long long)(op->rpc_status ? op->rpc_status : op->status));
}

void top_look(const struct top *top, const struct record_operation *op, struct seen *s)
{
    const struct top_flow *flow = names_get_flow(&top->names, op->flow);
    const struct top_uid *uid = names_get_uid(&top->names, op->credential);
    const struct top_path *path = names_get_path(&top->names, op->path);

    snprintf(s->client, sizeof(s->client), "-");
    snprintf(s->server, sizeof(s->server), "-");
    if (flow) {
        address_text(&flow->client, s->client);
        address_text(&flow->server, s->server);
    }
    snprintf(s->uid, sizeof(s->uid), "-");
    if (uid && uid->known)
        snprintf(s->uid, sizeof(s->uid), "%u", uid->uid);
    name_procedure(op, s->procedure, sizeof(s->procedure));
    s->labels[TOP_CLIENT] = s->client;
    s->labels[TOP_PROCEDURE] = s->procedure;
    s->labels[TOP_UID] = s->uid;
    s->labels[TOP_PATH] = NULL;
    s->keys[TOP_EXPORT] = 0;
    s->labels[TOP_EXPORT] = "-";
    if (top_export_of(top, op, &s->export)) {
        s->keys[TOP_EXPORT] = s->export.key;
        s->labels[TOP_EXPORT] = NULL;
    }
    s->keys[TOP_CLIENT] = XXH3_64bits(s->client, strlen(s->client));
    s->keys[TOP_PROCEDURE] = XXH3_64bits(s->procedure, strlen(s->procedure));
    s->keys[TOP_UID] = XXH3_64bits(s->uid, strlen(s->uid));
    s->keys[TOP_PATH] = path ? path->hash : 0;
}

static bool matches_procedure(const struct record_operation *op, const char *wanted)
{
    const struct procedure *p = procedure_find(op->program, op->version, op->procedure);
    unsigned long number;
    char *end;

    number = strtoul(wanted, &end, 0);
    return *end ? p && strcasecmp(wanted, p->name) == 0
                : op->program != PROGRAM_UNKNOWN && op->procedure == number;
}

int top_matches(struct top *top, const struct record_operation *op, struct err *err)
{
    const struct top_filter *f = &top->setup.filter;
    const struct top_flow *flow = names_get_flow(&top->names, op->flow);
    const struct top_uid *uid = names_get_uid(&top->names, op->credential);

    if ((f->client.version && !(flow && address_equal(&flow->client, &f->client))) ||
        (f->server.version && !(flow && address_equal(&flow->server, &f->server))) ||
        (f->uid != UINT64_MAX && !(uid && uid->known && uid->uid == f->uid)) ||
        (f->procedure && !matches_procedure(op, f->procedure)))
        return 0;
    if (!f->path)
        return 1;
    for (int i = 0; i < 2; i++) {
        const char *text = names_path_text(&top->names, i ? op->path2 : op->path, err);

        if (!text)
            return -err->code;
        if (*text && strncmp(text, f->path, strlen(f->path)) == 0)
            return 1;
    }
    return 0;
}
