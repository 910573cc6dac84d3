/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/judged.c
 *
 * Makes effects of the engine's operations, as postproc/plan/effects.c does of rows, and keeps what
 * lint finds, for show.c.  A call is judged with its reply; only |mark| is kept in between.  The
 * contract is in judged.h.
 */
#include "judged.h"

#include "base/digest.h"
#include "base/grow.h"
#include "wire/rpc.h"

#include <stdlib.h>
#include <string.h>

struct kept { /* a finding */
    uint32_t operation, earlier;
    uint32_t next; /* of the same operation: a place, counted from 1 */
    enum lint_id rule;
    uint64_t text; /* where it begins in |texts| */
};

struct state { /* of an operation */
    uint32_t mark;
    uint32_t found; /* its first finding: a place, counted from 1 */
};

struct judged {
    struct lint *lint;
    struct lint_rules rules;
    struct state *states; /* by operation */
    uint32_t state_cap;
    struct hosts {
        uint32_t client, server;
    } *flows; /* by flow */
    uint32_t flow_cap;
    struct kept *kept;
    uint32_t kept_count, kept_cap;
    struct buf texts;
};

static int keep(void *ctx, const struct lint_finding *f, struct err *err)
{
    struct judged *j = ctx;
    uint32_t operation =
        f->effect->id > 0 && f->effect->id < UINT32_MAX ? (uint32_t)f->effect->id : 0;
    uint32_t *at;

    if (!operation || operation >= j->state_cap)
        return 0;
    if (GROW(j->kept, j->kept_count, j->kept_cap) < 0 ||
        buf_append(&j->texts, f->text, strlen(f->text) + 1) < 0)
        return err_memory(err, "findings");
    j->kept[j->kept_count++] =
        (struct kept){ .operation = operation,
                       .earlier =
                           f->earlier > 0 && f->earlier < UINT32_MAX ? (uint32_t)f->earlier : 0,
                       .rule = f->rule,
                       .text = j->texts.len - strlen(f->text) - 1 };
    for (at = &j->states[operation].found; *at; at = &j->kept[*at - 1].next)
        ;
    *at = j->kept_count;
    return 0;
}

struct judged *judged_new(struct err *err)
{
    struct judged *j = calloc(1, sizeof(*j));
    struct lint_options options = { .finding = keep, .ctx = j };

    if (!j) {
        err_memory(err, "findings");
        return NULL;
    }
    options.rules = &j->rules;
    wire_init();
    if (lint_rules_load(&j->rules, err) == 0)
        j->lint = lint_new(&options, err);
    if (!j->lint) {
        judged_free(j);
        return NULL;
    }
    return j;
}

void judged_free(struct judged *j)
{
    if (!j)
        return;
    lint_free(j->lint);
    lint_rules_free(&j->rules);
    free(j->states);
    free(j->flows);
    free(j->kept);
    buf_free(&j->texts);
    free(j);
}

/* A number for a host: by its address, so that all its flows have the same. */
static uint32_t host_number(const struct address *a)
{
    return (uint32_t)XXH3_64bits(a->bytes, address_len(a)) | 1;
}

int judged_flow(struct judged *j, const struct record_flow *flow, struct err *err)
{
    if (GROW_ZERO(j->flows, (uint64_t)flow->id + 1, j->flow_cap) < 0)
        return err_memory(err, "flows");
    j->flows[flow->id] = (struct hosts){ host_number(&flow->client), host_number(&flow->server) };
    return 0;
}

static uint32_t as_id(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : 0;
}

/* Of contents that are all there. */
static void take_digest(struct effect *e, const struct record_operation *op)
{
    uint32_t flags = op->call.flags & SIGHTING_DATA ? op->call.flags : op->reply.flags;

    if (!(flags & SIGHTING_DATA) || flags & (SIGHTING_PARTIAL | SIGHTING_MALFORMED))
        return;
    e->has_digest = true;
    memcpy(e->digest, op->data_digest, sizeof(e->digest));
    e->blocks = op->block_digests;
}

static struct effect effect_of(const struct judged *j, const struct record_operation *op,
                               bool answered)
{
    bool called = op->call.frame != 0;
    int64_t reply = answered ? op->reply.time : TIME_NONE;
    int64_t call = called ? op->call.time : reply;
    struct effect e = { .id = (int64_t)op->id,
                        .call_time = call,
                        .done_time = reply > call ? reply : call,
                        .timed = called && call != TIME_NONE && reply != TIME_NONE,
                        .pairing = PAIRED,
                        .program = op->program,
                        .version = op->version,
                        .call_flags = op->call.flags,
                        .reply_flags = op->reply.flags,
                        .rpc_status = op->rpc_status,
                        .status = op->status,
                        .object = as_id(op->object),
                        .parent2 = as_id(op->object2),
                        .new_object = as_id(op->new_object),
                        .credential = op->credential,
                        .flow = op->flow,
                        .xid = op->xid,
                        .arguments_body = op->arguments,
                        .result_body = op->result,
                        .arguments_length = op->arguments_wire,
                        .result_length = op->result_wire };

    if (!answered)
        e.timed = call != TIME_NONE; /* the reply will tell */
    if (called)
        e.procedure = procedure_find(op->program, op->version, op->procedure);
    if (op->flow < j->flow_cap) {
        e.client_number = j->flows[op->flow].client;
        e.server_number = j->flows[op->flow].server;
    }
    take_digest(&e, op);
    effect_decode(&e);
    return e;
}

int judged_message(struct judged *j, const struct engine_message *m, struct err *err)
{
    const struct record_operation *op = m->operation;
    struct effect e;
    int result = 0;

    if (m->repeat || !op->id || op->id >= UINT32_MAX)
        return 0;
    if (GROW_ZERO(j->states, op->id + 1, j->state_cap) < 0)
        return err_memory(err, "operations");
    e = effect_of(j, op, m->is_reply);
    if (!m->is_reply || !op->call.frame)
        result = lint_called(j->lint, &e, err);
    else
        e.mark = j->states[op->id].mark;
    if (result == 0 && m->is_reply)
        result = lint_done(j->lint, &e, err);
    j->states[op->id].mark = e.mark;
    return result;
}

int judged_end(struct judged *j, struct err *err)
{
    return lint_end(j->lint, err);
}

void judged_each(const struct judged *j, uint32_t operation,
                 void (*show)(void *ctx, const struct judged_finding *finding), void *ctx)
{
    uint32_t at = operation < j->state_cap ? j->states[operation].found : 0;

    for (; at; at = j->kept[at - 1].next) {
        const struct kept *k = &j->kept[at - 1];
        const struct judged_finding finding = { &j->rules.rule[k->rule],
                                                (const char *)j->texts.data + k->text, k->earlier };

        show(ctx, &finding);
    }
}
