/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/pair_parts.h"
#include "base/digest.h"
#include "flow/tag.h"

#include <netinet/in.h>
#include <stdlib.h>

int pair_init(struct pair *p, const struct engine_options *options, const struct sink *sink,
              const struct engine_observer *observer, struct objects *objects, const int64_t *clock,
              struct err *err)
{
    memset(p, 0, sizeof(*p));
    p->sink = *sink;
    if (observer)
        p->observer = *observer;
    p->objects = objects;
    p->clock = clock;
    p->messages_only = options->messages_only;
    p->retransmit_span =
        options->retransmit_span ? options->retransmit_span : ENGINE_RETRANSMIT_SPAN;
    p->skew = options->reorder_span ? options->reorder_span : ENGINE_REORDER_SPAN;
    p->hold_span = options->reorder_span ? options->reorder_span : ENGINE_HOLD_SPAN;
    p->held_tail = &p->held;
    calls_init(&p->calls, options->pending ? options->pending : ENGINE_PENDING);
    p->ends = calloc(PAIR_ENDS, sizeof(*p->ends));
    if (!p->ends)
        return err_memory(err, "hosts");
    return credentials_init(&p->credentials, sink, err);
}

void pair_free(struct pair *p)
{
    while (p->held) {
        struct held *next = p->held->next;
        free(p->held);
        p->held = next;
    }
    free(p->ends);
    calls_free(&p->calls);
    credentials_free(&p->credentials);
    memset(p, 0, sizeof(*p));
}

struct sighting pair_sighting(const struct message *m)
{
    return (struct sighting){ .frame = m->frame,
                              .first_frame = m->first_frame,
                              .time = m->time,
                              .wire_len = m->wire_len,
                              .flags = m->flags };
}

int pair_put(struct pair *p, const struct record_operation *op, struct err *err)
{
    struct record r = { .kind = RECORD_OPERATION };

    r.operation = *op;
    p->operations++;
    return p->sink.put(p->sink.ctx, &r, err);
}

int pair_observe(struct pair *p, const struct record_operation *op, const struct sighting *sighting,
                 bool is_reply, uint8_t repeat, struct err *err)
{
    struct engine_message m = { op, sighting, is_reply, repeat };

    return p->observer.message ? p->observer.message(p->observer.ctx, &m, err) : 0;
}

int pair_tap(struct pair *p, enum tap_event event, uint64_t ticket, const struct message *m,
             const struct procedure *procedure, const struct rpc_auth *credential, struct err *err)
{
    struct engine_tapped tapped = { event, ticket, m, procedure, credential, NULL };

    return p->tap ? p->tap(p->tap_ctx, &tapped, err) : 0;
}

int pair_repeat(struct pair *p, uint64_t operation, const struct message *m, uint32_t flags,
                uint8_t repeat, bool differs, struct err *err)
{
    struct record_operation op = { .id = operation, .flow = m->flow->id };
    struct record r = { .kind = RECORD_REPEAT,
                        .repeat = { .operation = operation,
                                    .repeat = repeat,
                                    .differs = differs,
                                    .flow = m->flow->id,
                                    .sighting = pair_sighting(m) } };
    int rc;

    p->repeats++;
    r.repeat.sighting.flags |= flags & (SIGHTING_MALFORMED | SIGHTING_HEADER);
    p->copies += repeat_is_copy(repeat);
    op.xid = load_be32(m->data);
    rc = p->sink.put(p->sink.ctx, &r, err);
    return rc < 0 ? rc
                  : pair_observe(p, &op, &r.repeat.sighting, repeat_is_reply(repeat), repeat, err);
}

int pair_problem(struct pair *p, const struct problem *problem, struct err *err)
{
    const struct flow *flow = problem->flow;
    struct record r = { .kind = RECORD_PROBLEM,
                        .problem = { .problem = problem->kind,
                                     .frame = problem->seen.frame,
                                     .time = problem->seen.time,
                                     .flow = flow->id,
                                     .direction = flow->id && problem->side == flow->server,
                                     .length = problem->length,
                                     .text = { (const uint8_t *)"", 0 } } };

    p->problems++;
    return p->sink.put(p->sink.ctx, &r, err);
}

int pair_malformed(struct pair *p, const struct message *m, uint32_t xid, uint32_t at,
                   const char *text, struct err *err)
{
    struct record r = { .kind = RECORD_PROBLEM,
                        .problem = { .problem = PROBLEM_MALFORMED,
                                     .frame = m->frame,
                                     .time = m->time,
                                     .flow = m->flow->id,
                                     .direction = m->side == m->flow->server,
                                     .xid = xid,
                                     .length = m->wire_len - at,
                                     .text = { (const uint8_t *)text, (uint32_t)strlen(text) } } };

    p->problems++;
    p->malformed++;
    return p->sink.put(p->sink.ctx, &r, err);
}

int pair_scan(struct pair *p, struct scan *scan, const struct type *type, const struct message *m,
              const struct rpc_header *h, const struct scan_host *host, struct record_operation *op,
              struct sighting *sighting, struct err *err)
{
    struct rpc_body body = rpc_body(m->data, m->cap_len, h);
    char problem[WALK_PATH_MAX + 128];
    XXH128_canonical_t digest;
    int rc;

    rc = scan_body(scan, type, body.data, body.cap_len, body.wire_len, host, problem,
                   sizeof(problem), err);
    if (rc < 0)
        return rc;
    if (scan->result == WALK_MALFORMED) {
        sighting->flags |= SIGHTING_MALFORMED;
        if (p && (rc = pair_malformed(p, m, op->xid, h->body, problem, err)) < 0)
            return rc;
    }
    if (scan->has_data) {
        sighting->flags |= SIGHTING_DATA;
        op->data_length = scan->data_full;
        XXH128_canonicalFromHash(&digest, XXH3_128bits(body.data + scan->data_at, scan->data_len));
        memcpy(op->data_digest, digest.digest, sizeof(op->data_digest));
    }
    return 0;
}

static int give_up_call(struct pair *p, uint32_t id, enum pairing label, struct err *err)
{
    struct call *x = &p->calls.pool[id];
    int rc;

    if (!x->waiting) { /* answered */
        calls_remove(&p->calls, id);
        return 0;
    }
    x->waiting->operation.pairing = (uint8_t)label;
    rc = pair_put(p, &x->waiting->operation, err);
    calls_remove(&p->calls, id);
    return rc;
}

/* Makes room for a call with |more| bytes. */
static int make_room(struct pair *p, size_t more, struct err *err)
{
    int64_t horizon = *p->clock - p->retransmit_span;
    uint32_t id;
    int rc = 0;

    while (rc == 0 && (id = calls_overdue(&p->calls, more, horizon)) != CALL_NONE)
        rc =
            give_up_call(p, id, p->calls.pool[id].seen < horizon ? REPLY_LOST : OUT_OF_WINDOW, err);
    while ((id = calls_outdated(&p->calls, horizon)) != CALL_NONE)
        calls_remove(&p->calls, id);
    return rc;
}

int pair_expire(struct pair *p, struct err *err)
{
    int rc = 0;

    while (rc == 0 && p->held &&
           (p->held_count > HELD_MAX || p->held_bytes > HELD_BYTES_MAX ||
            *p->clock - p->held->since > p->hold_span))
        rc = pair_held_give_up(p, err);
    return rc < 0 ? rc : make_room(p, 0, err);
}

static int flow_hosts(struct pair *p, struct flow *flow, struct err *err)
{
    flow->host[0] = host_id(p->objects, &flow->address[0]);
    flow->host[1] = host_id(p->objects, &flow->address[1]);
    return flow->host[0] && flow->host[1] ? 0 : err_memory(err, "hosts");
}

static int new_flow(struct pair *p, struct flow *flow, uint8_t server, struct err *err)
{
    struct record r = { .kind = RECORD_FLOW,
                        .flow = { .id = p->last_flow + 1,
                                  .transport = flow->transport,
                                  .client = flow->address[!server],
                                  .server = flow->address[server],
                                  .client_port = flow->port[!server],
                                  .server_port = flow->port[server],
                                  .frame = flow->birth,
                                  .time = flow->birth_time } };

    if (flow_hosts(p, flow, err) < 0)
        return -ERR_SYSTEM;
    flow->id = ++p->last_flow;
    flow->server = server;
    return p->sink.put(p->sink.ctx, &r, err);
}

static void no_port(void *ctx, uint32_t program, uint16_t port)
{
    struct pair *p = ctx;

    if (program_name(program))
        p->learn_port(p->learn_port_ctx, port);
}

static int no_entry(void *ctx, struct bytes name, struct bytes handle, struct scan_attributes about,
                    struct err *err)
{
    (void)ctx, (void)name, (void)handle, (void)about, (void)err;
    return 0;
}

static uint32_t offset_in(const uint8_t *body, struct bytes b)
{
    return b.data ? (uint32_t)(b.data - body) : 0;
}

/* A new operation from its call: everything that is known before the reply. */
static struct waiting *new_waiting(const struct record_operation *op, const struct scan *scan,
                                   const struct rpc_header *h, const uint8_t *body, uint32_t kept,
                                   const struct procedure *procedure, struct err *err)
{
    struct waiting *w = malloc(sizeof(*w) + kept);
    enum action action;

    if (!w) {
        err_memory(err, "calls");
        return NULL;
    }
    memset(w, 0, sizeof(*w));
    w->operation = *op;
    w->procedure = procedure;
    w->credential = (struct rpc_auth){ .flavor = h->credential.flavor,
                                       .valid = h->credential.valid,
                                       .gss_procedure = h->credential.gss_procedure,
                                       .gss_service = h->credential.gss_service };
    w->size = (uint32_t)sizeof(*w) + kept;
    if (kept)
        memcpy(w->body, body, kept);
    w->operation.arguments = (struct bytes){ w->body, kept };
    if (!procedure)
        return w;
    w->port_program = scan->port_program;
    action = (enum action)procedure->action;
    w->binds = (scan->name_role && action_makes_name(action) ? ROLE_NAME : 0) |
               (scan->name2_role && action_makes_name2(action) ? ROLE_NAME2 : 0);
    w->removes = scan->name_role && action_takes_name(action) ? ROLE_NAME : 0;
    w->name_at = offset_in(body, scan->name);
    w->name_len = scan->name.len;
    w->name2_at = offset_in(body, scan->name2);
    w->name2_len = scan->name2.len;
    w->root_path_at = offset_in(body, scan->root_path);
    w->root_path_len = scan->root_path.len;
    return w;
}

static int take_call(struct pair *p, const struct message *m, const struct rpc_header *h,
                     bool header_cut, struct err *err)
{
    uint8_t server = !m->side;
    struct ends ends = message_ends(m->flow, server, h->xid);
    const struct procedure *procedure = h->body_protected || header_cut
                                            ? NULL
                                            : procedure_find(h->program, h->version, h->procedure);
    const struct scan_host host = { no_entry, no_port, p };
    struct record_operation op = { .flow = m->flow->id,
                                   .xid = h->xid,
                                   .program = h->program,
                                   .version = h->version,
                                   .procedure = h->procedure,
                                   .call = pair_sighting(m),
                                   .reply = { .time = TIME_NONE },
                                   .rpc_status = STATUS_NONE,
                                   .status = STATUS_NONE,
                                   .arguments_wire = header_cut ? 0 : h->body_len };
    struct scan scan = { 0 };
    struct call call = { .hash = ends.hash,
                         .frame = m->frame,
                         .seen = *p->clock,
                         .xid = h->xid,
                         .server = ends.server,
                         .client = ends.client,
                         .program = h->program,
                         .version = h->version,
                         .procedure = h->procedure,
                         .flow = m->flow->id,
                         .last_flow = m->flow->id,
                         .cap_len = m->cap_len,
                         .wire_len = m->wire_len,
                         .sent = pair_sending(m),
                         .ports =
                             m->flow->transport == IPPROTO_UDP
                                 ? (uint32_t)m->flow->port[m->side] << 16 | m->flow->port[server]
                                 : 0,
                         .partial = m->cap_len < m->wire_len,
                         .in_clear = h->credential.flavor != RPC_GSS,
                         .owed = 1 };
    uint32_t kept = 0, id, crowded, parent = 0, parent2 = 0;
    uint64_t expected = 0;
    struct held *held;
    int rc = 0;

    table_prefetch(&p->calls.by_key, ends.hash);
    if ((rc = pair_tap(p, TAP_MESSAGE, 0, m, procedure, NULL, err)) < 0)
        return rc;
    if (procedure) {
        rc = pair_scan(p, &scan, procedure->arguments, m, h, &host, &op, &op.call, err);
        if (rc < 0)
            return rc;
        if (!p->messages_only)
            expected = object_expect(p->objects, ends.server,
                                     scan.parent.data ? scan.parent : scan.object);
        kept = scan_kept(&scan, rpc_body(m->data, m->cap_len, h).cap_len);
    } else if (!header_cut || !procedure_find(h->program, h->version, h->procedure)) {
        op.call.flags |= SIGHTING_OPAQUE;
        p->opaque++;
    }
    if (header_cut)
        op.call.flags |= SIGHTING_HEADER;
    call.digest = pair_call_digest(m, h, &scan, &op);
    id = pair_original(p, &call, m->flow, &crowded);
    if (id != CALL_NONE) {
        struct call *x = &p->calls.pool[id];
        x->last_flow = m->flow->id;
        calls_seen(&p->calls, id, *p->clock);
        return pair_repeat(p, x->operation, m, op.call.flags, pair_call_again(x, m), false, err);
    }
    if (crowded != CALL_NONE && (rc = give_up_call(p, crowded, OUT_OF_WINDOW, err)) < 0)
        return rc;
    if (expected)
        object_fetch(p->objects, expected);
    op.id = call.operation = ++p->last_operation;
    if (!header_cut && !(op.credential = credential_id(&p->credentials, &h->credential, err)))
        return -ERR_SYSTEM;
    if (procedure && !p->messages_only &&
        (rc = tag_call(p->objects, &op, &scan, ends.server, &parent, &parent2, err)) < 0)
        return rc;
    if (header_cut)
        procedure = procedure_find(h->program, h->version, h->procedure);
    call.waiting = new_waiting(&op, &scan, h, m->data + h->body, kept, procedure, err);
    if (!call.waiting)
        return -ERR_SYSTEM;
    call.waiting->parent = parent;
    call.waiting->parent2 = parent2;
    rc = make_room(p, call.waiting->size, err);
    id = rc < 0 ? CALL_NONE : calls_add(&p->calls, &call);
    if (id == CALL_NONE) {
        free(call.waiting);
        return rc < 0 ? rc : err_memory(err, "calls");
    }
    if ((rc = pair_observe(p, &call.waiting->operation, &op.call, false, 0, err)) < 0)
        return rc;
    held = pair_held_take(p, &call, m->time);
    if (!held)
        return 0;
    rc = pair_answer_held(p, id, held, err);
    return rc < 0 ? rc : pair_held_repeats(p, id, m->time, err);
}

int pair_message(struct pair *p, const struct message *m, struct err *err)
{
    struct rpc_header h;
    enum rpc_result result = rpc_parse(m->data, m->cap_len, m->wire_len, &h);
    bool call = h.direction == RPC_CALL;
    int rc;

    if (result == RPC_NOT || (result == RPC_TRUNCATED && (call ? h.body < 24 : m->cap_len < 8))) {
        if ((rc = pair_tap(p, TAP_UNREAD, 0, m, NULL, NULL, err)) < 0)
            return rc;
        return m->flow->id ? pair_malformed(p, m, 0, 0, "the RPC header is malformed or cut", err)
                           : pair_problem(p,
                                          &(struct problem){ m->flow,
                                                             PROBLEM_NOT_RPC,
                                                             m->side,
                                                             { m->frame, m->time },
                                                             m->wire_len },
                                          err);
    }
    if (!m->flow->id && (rc = new_flow(p, m->flow, call ? !m->side : m->side, err)) < 0)
        return rc;
    if (!m->flow->host[0] && flow_hosts(p, m->flow, err) < 0) /* carried over */
        return -ERR_SYSTEM;
    if (m->flags & SIGHTING_PARTIAL)
        p->partial++;
    if (call) {
        p->call_messages++;
        rc = take_call(p, m, &h, result == RPC_TRUNCATED, err);
    } else {
        p->reply_messages++;
        rc = pair_reply(p, m, err);
    }
    return rc < 0 ? rc : pair_expire(p, err);
}
