/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/pair.c
 *
 * Pairs messages into operations.  This file takes calls, and pair_reply.c takes replies.
 * pair_held.c holds replies that come before their calls.  pair_again.c distinguishes copies from
 * retransmissions.  pair_scan.c reads bodies.  pair_knows.c answers the search for record marks.
 * pair_state.c ends, saves and restores.  For engine.c.  The contract is in pair.h; the files share
 * pair_parts.h.
 */
#include "flow/pair_parts.h"
#include "flow/tag.h"

#include <netinet/in.h>
#include <stdlib.h>

int pair_init(struct pair *p, const struct engine_options *options, const struct pair_host *host,
              struct err *err)
{
    memset(p, 0, sizeof(*p));
    p->sink = *host->sink;
    if (host->observer)
        p->observer = *host->observer;
    p->objects = host->objects;
    p->clock = host->clock;
    p->past = host->past;
    p->learn_port = host->learn_port;
    p->learn_port_ctx = host->ctx;
    p->messages_only = options->messages_only;
    p->block_digests = options->block_digests;
    p->retransmit_span =
        options->retransmit_span ? options->retransmit_span : ENGINE_RETRANSMIT_SPAN;
    p->skew = options->reorder_span ? options->reorder_span : ENGINE_REORDER_SPAN;
    p->hold_span = options->reorder_span ? options->reorder_span : ENGINE_HOLD_SPAN;
    p->held_tail = &p->held;
    calls_init(&p->calls, options->pending ? options->pending : ENGINE_PENDING);
    p->ends = calloc(PAIR_ENDS, sizeof(*p->ends));
    if (!p->ends)
        return err_memory(err, "hosts");
    return credentials_init(&p->credentials, host->sink, err);
}

void pair_set_tap(struct pair *p, engine_tap *tap, void *ctx)
{
    p->tap = tap;
    p->tap_ctx = ctx;
}

void pair_free(struct pair *p)
{
    while (p->held) {
        struct held *next = p->held->next;
        free(p->held);
        p->held = next;
    }
    free(p->ends);
    buf_free(&p->blocks);
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

int pair_observe(struct pair *p, const struct engine_message *message, struct err *err)
{
    return p->observer.message ? p->observer.message(p->observer.ctx, message, err) : 0;
}

int pair_tap(struct pair *p, const struct engine_tapped *tapped, struct err *err)
{
    return p->tap ? p->tap(p->tap_ctx, tapped, err) : 0;
}

int pair_repeat(struct pair *p, const struct message *m, const struct record_repeat *what,
                struct err *err)
{
    struct record_operation op = { .id = what->operation,
                                   .flow = m->flow->id,
                                   .xid = load_be32(m->data) };
    struct record r = { .kind = RECORD_REPEAT, .repeat = *what };
    struct engine_message message = { &op, &r.repeat.sighting, repeat_is_reply(what->repeat),
                                      what->repeat };
    int rc;

    p->repeats++;
    p->copies += repeat_is_copy(what->repeat);
    r.repeat.flow = m->flow->id;
    r.repeat.sighting = pair_sighting(m);
    r.repeat.sighting.flags |= what->sighting.flags & (SIGHTING_MALFORMED | SIGHTING_HEADER);
    rc = p->sink.put(p->sink.ctx, &r, err);
    return rc < 0 ? rc : pair_observe(p, &message, err);
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

    pair_ask_flow(p, flow);
    p->problems++;
    return p->sink.put(p->sink.ctx, &r, err);
}

int pair_malformed(struct pair *p, const struct message *m, uint32_t at, const char *text,
                   struct err *err)
{
    struct record r = { .kind = RECORD_PROBLEM,
                        .problem = { .problem = PROBLEM_MALFORMED,
                                     .frame = m->frame,
                                     .time = m->time,
                                     .flow = m->flow->id,
                                     .direction = m->side == m->flow->server,
                                     .xid = at ? load_be32(m->data) : 0,
                                     .length = m->wire_len - at,
                                     .text = { (const uint8_t *)text, (uint32_t)strlen(text) } } };

    p->problems++;
    p->malformed++;
    return p->sink.put(p->sink.ctx, &r, err);
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
    rc = rc < 0 ? rc : make_room(p, 0, err);
    if (p->past)
        past_settle(p->past, *p->clock);
    return rc;
}

int pair_ask(struct pair *p, const struct flow *flow, uint8_t server, uint32_t xid, struct err *err)
{
    const struct address *hosts = p->objects->hosts;
    bool udp = flow->transport == IPPROTO_UDP;

    if (!p->past || !p->past->assumed || p->past->settled)
        return 0;
    return xids_add(&p->past->asked, &hosts[flow->host[!server]],
                    udp ? NULL : &hosts[flow->host[server]], xid) < 0
               ? err_memory(err, "XIDs")
               : 0;
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

static int no_entry(void *ctx, const struct scan_entry *entry, struct err *err)
{
    (void)ctx, (void)entry, (void)err;
    return 0;
}

/* A call while it is taken. */
struct taking {
    const struct message *m;
    const struct rpc_header *h;
    const struct procedure *procedure; /* NULL: its body cannot be read */
    bool header_cut;
    struct call_key key;
    struct record_operation op;
    struct scan scan;
    struct call call;
    uint32_t kept;       /* bytes of the body */
    uint64_t expected;   /* hash of the object, which is needed soon; or 0 */
    struct tagged about; /* host and objects */
};

static void begin_taking(const struct pair *p, struct taking *t)
{
    const struct message *m = t->m;
    const struct rpc_header *h = t->h;
    const uint16_t *port = m->flow->port;
    uint8_t server = !m->side;

    t->key = message_key(m->flow, server, h->xid);
    t->about.server = t->key.server;
    if (!h->body_protected && !t->header_cut)
        t->procedure = procedure_find(h->program, h->version, h->procedure);
    t->op = (struct record_operation){ .flow = m->flow->id,
                                       .xid = h->xid,
                                       .program = h->program,
                                       .version = h->version,
                                       .procedure = h->procedure,
                                       .call = pair_sighting(m),
                                       .reply = { .time = TIME_NONE },
                                       .rpc_status = STATUS_NONE,
                                       .status = STATUS_NONE,
                                       .arguments_wire = t->header_cut ? 0 : h->body_len };
    t->call = (struct call){ .hash = t->key.hash,
                             .frame = m->frame,
                             .seen = *p->clock,
                             .xid = h->xid,
                             .server = t->key.server,
                             .client = t->key.client,
                             .program = h->program,
                             .version = h->version,
                             .procedure = h->procedure,
                             .flow = m->flow->id,
                             .last_flow = m->flow->id,
                             .cap_len = m->cap_len,
                             .wire_len = m->wire_len,
                             .sent = pair_sending(m),
                             .ports = m->flow->transport == IPPROTO_UDP
                                          ? (uint32_t)port[m->side] << 16 | port[server]
                                          : 0,
                             .partial = m->cap_len < m->wire_len,
                             .in_clear = h->credential.flavor != RPC_GSS,
                             .owed = 1 };
}

/* Reads the arguments, and makes the digest by which the call is known again. */
static int read_call(struct pair *p, struct taking *t, struct err *err)
{
    const struct rpc_header *h = t->h;
    const struct scan_host host = { no_entry, no_port, p };
    int rc;

    if (t->procedure) {
        const struct pair_body body = { t->procedure->arguments, t->m, h, &t->op.call };
        t->scan.host = &host;
        rc = pair_scan(p, &body, &t->scan, &t->op, err);
        if (rc < 0)
            return rc;
        if (!p->messages_only)
            t->expected = object_expect(p->objects, t->key.server,
                                        t->scan.parent.data ? t->scan.parent : t->scan.object);
        t->kept = scan_kept(&t->scan, rpc_body(t->m->data, t->m->cap_len, h).cap_len);
    } else if (!t->header_cut || !procedure_find(h->program, h->version, h->procedure)) {
        t->op.call.flags |= SIGHTING_OPAQUE;
        p->opaque++;
    }
    if (t->header_cut)
        t->op.call.flags |= SIGHTING_HEADER;
    t->call.digest = pair_call_digest(t->m, h, &t->scan, &t->op);
    return 0;
}

/* The call was taken before. */
static int take_again(struct pair *p, struct taking *t, uint32_t id, struct err *err)
{
    struct call *x = &p->calls.pool[id];
    struct record_repeat what = { .operation = x->operation,
                                  .sighting = { .flags = t->op.call.flags } };

    x->last_flow = t->m->flow->id;
    calls_seen(&p->calls, id, *p->clock);
    what.repeat = (uint8_t)pair_call_again(x, t->m);
    return pair_repeat(p, t->m, &what, err);
}

/* Makes an operation of it, with credential, objects and paths. */
static int identify(struct pair *p, struct taking *t, struct err *err)
{
    if (t->expected)
        object_fetch(p->objects, t->expected);
    t->op.id = t->call.operation = ++p->last_operation;
    if (!t->header_cut &&
        !(t->op.credential = credential_id(&p->credentials, &t->h->credential, err)))
        return -ERR_SYSTEM;
    return t->procedure && !p->messages_only
               ? tag_call(p->objects, &t->op, &t->scan, &t->about, err)
               : 0;
}

/* A new operation from its call: everything that is known before the reply. */
static struct waiting *new_waiting(const struct taking *t, struct err *err)
{
    const struct rpc_auth *credential = &t->h->credential;
    const struct scan *scan = &t->scan;
    const uint8_t *body = t->m->data + t->h->body;
    const struct bytes blocks = t->op.block_digests;
    struct waiting *w = malloc(sizeof(*w) + t->kept + blocks.len);

    if (!w) {
        err_memory(err, "calls");
        return NULL;
    }
    memset(w, 0, sizeof(*w));
    w->operation = t->op;
    w->procedure = t->procedure;
    w->credential = (struct rpc_auth){ .flavor = credential->flavor,
                                       .valid = credential->valid,
                                       .gss_procedure = credential->gss_procedure,
                                       .gss_service = credential->gss_service };
    w->parent = t->about.parent;
    w->parent2 = t->about.parent2;
    w->size = (uint32_t)sizeof(*w) + t->kept + blocks.len;
    if (t->kept)
        memcpy(w->body, body, t->kept);
    if (blocks.len)
        memcpy(w->body + t->kept, blocks.data, blocks.len);
    w->operation.arguments = (struct bytes){ w->body, t->kept };
    w->operation.block_digests = (struct bytes){ w->body + t->kept, blocks.len };
    w->port_program = t->procedure ? scan->port_program : 0;
    if (t->procedure)
        tag_keep(w, scan, body);
    return w;
}

/* From now on the call waits for its reply. */
static int let_wait(struct pair *p, struct taking *t, uint32_t *id, struct err *err)
{
    const struct rpc_header *h = t->h;
    int rc;

    if (t->header_cut)
        t->procedure = procedure_find(h->program, h->version, h->procedure);
    t->call.waiting = new_waiting(t, err);
    if (!t->call.waiting)
        return -ERR_SYSTEM;
    rc = make_room(p, t->call.waiting->size, err);
    *id = rc < 0 ? CALL_NONE : calls_add(&p->calls, &t->call);
    if (*id == CALL_NONE) {
        free(t->call.waiting);
        return rc < 0 ? rc : err_memory(err, "calls");
    }
    if (p->past)
        past_waits(p->past, p->calls.waiting.count, p->calls.bytes);
    return 0;
}

static int take_call(struct pair *p, const struct message *m, const struct rpc_header *h,
                     bool header_cut, struct err *err)
{
    struct taking t = { .m = m, .h = h, .header_cut = header_cut };
    struct engine_message message = { &t.op, &t.op.call, false, 0 };
    struct engine_tapped tapped = { .event = TAP_MESSAGE, .message = m };
    uint32_t id, crowded;
    struct held *held;
    int rc;

    begin_taking(p, &t);
    table_prefetch(&p->calls.by_key, t.key.hash);
    tapped.procedure = t.procedure;
    rc = pair_tap(p, &tapped, err);
    t.about.no_paths = rc > 0;
    if (rc < 0 || (rc = read_call(p, &t, err)) < 0)
        return rc;
    id = pair_original(p, &t.call, m->flow, &crowded);
    if (id != CALL_NONE)
        return take_again(p, &t, id, err);
    if (crowded != CALL_NONE && (rc = give_up_call(p, crowded, OUT_OF_WINDOW, err)) < 0)
        return rc;
    if ((rc = pair_ask(p, m->flow, !m->side, h->xid, err)) < 0 || (rc = identify(p, &t, err)) < 0 ||
        (rc = let_wait(p, &t, &id, err)) < 0)
        return rc;
    message.operation = &t.call.waiting->operation;
    if ((rc = pair_observe(p, &message, err)) < 0)
        return rc;
    held = pair_held_take(p, &t.call, m->time);
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
        if ((rc = pair_tap(p, &(struct engine_tapped){ .event = TAP_UNREAD, .message = m }, err)) <
            0)
            return rc;
        return m->flow->id ? pair_malformed(p, m, 0, "the RPC header is malformed or cut", err)
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
