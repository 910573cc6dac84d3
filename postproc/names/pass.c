/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/names/pass.c
 *
 * Takes a piece: gives its operations the ids, objects, paths and dependencies of the capture, and
 * puts its records.  For names.c.  The contract is in pass.h.
 */
#include "names/pass.h"
#include "base/grow.h"
#include "pieces/state.h"
#include "wire/programs.h"

#include <stdlib.h>

int pass_begin(struct pass *p, const struct names_options *options, const struct sink *out,
               struct err *err)
{
    const struct sink sink = { told_put, &p->told };
    int rc;

    wire_init();
    p->options = options;
    p->told.out = *out;
    totals_begin(&p->totals);
    rc = objects_init(&p->objects, &sink, NULL, err);
    if (rc == 0)
        rc = credentials_init(&p->credentials, &sink, err);
    if (rc == 0)
        rc = flows_init(&p->flows, err);
    return rc < 0 ? rc : told_init(&p->told, &p->objects, &p->flows, err);
}

void pass_free(struct pass *p)
{
    for (uint32_t i = 0; i < p->held_count; i++)
        free(p->held[i].reply);
    free(p->held);
    free(p->engine.ranges);
    free(p->engine.calls);
    objects_free(&p->objects);
    credentials_free(&p->credentials);
    flows_free(&p->flows);
    told_free(&p->told);
    recent_free(&p->recent);
}

struct piece_pass {
    struct pass *pass;
    struct border border;
    struct order order;
    struct turns turns;
    uint64_t operations; /* of the capture before it */
};

static bool is_wanted(const struct pass *p, uint32_t host)
{
    const struct names_options *o = p->options;
    bool wanted = !o->server_count;

    for (uint32_t i = 0; !wanted && i < o->server_count; i++)
        wanted = address_equal(&o->servers[i], &p->objects.hosts[host]);
    return wanted;
}

static int put(struct pass *p, const struct record *r, struct err *err)
{
    totals_put(&p->totals, r);
    return told_put(&p->told, r, err);
}

static int put_operation(struct pass *p, const struct record_operation *op, struct err *err)
{
    struct record r = { .kind = RECORD_OPERATION };

    r.operation = *op;
    return put(p, &r, err);
}

static uint32_t credential_of(struct piece_pass *pp, uint32_t id, struct err *err)
{
    const struct turns *t = &pp->turns;
    const struct record_credential *c = id <= t->credential_count ? &t->credentials[id] : NULL;
    struct rpc_auth auth = { 0 };

    if (!c || !c->id) {
        err_set(err, ERR_INPUT, "%s: an operation refers to a credential that is not there",
                t->path);
        return 0;
    }
    auth.flavor = c->flavor;
    auth.valid = c->valid;
    auth.body = auth.gss_context = c->body;
    auth.gss_service = c->gss_service;
    auth.uid = c->uid;
    auth.gid = c->gid;
    auth.stamp = c->stamp;
    auth.machine = c->machine;
    auth.gid_count = c->gids.len / 4 < RPC_GIDS_MAX ? c->gids.len / 4 : RPC_GIDS_MAX;
    for (uint32_t i = 0; i < auth.gid_count; i++)
        auth.gids[i] = load_be32(c->gids.data + 4 * (size_t)i);
    return credential_id(&pp->pass->credentials, &auth, err);
}

/* The next call of the capture. */
static int take_call(void *ctx, struct turns_slot *slot, struct err *err)
{
    struct piece_pass *pp = ctx;
    struct pass *p = pp->pass;
    struct record_operation *op = &slot->waiting->operation;
    struct recent_call call = { .frame = op->call.frame, .xid = op->xid, .host = slot->host };

    op->id = call.id = ++p->last_operation;
    if (!op->call.frame)
        return 0;
    if (piece_flows_id(&pp->turns.flows, op->flow, &op->flow, err) < 0)
        return err_prefix(err, "%s", pp->turns.path);
    if (is_wanted(p, slot->host)) {
        if (op->credential && !(op->credential = credential_of(pp, op->credential, err)))
            return -err->code;
        if (naming_call(&p->objects, slot->waiting, slot->host, err) < 0)
            return -err->code;
    } else {
        op->credential = 0; /* nobody asks */
    }
    slot->recent = p->recent.count;
    return recent_add(&p->recent, &call, err);
}

static int unknown_call(const struct piece_pass *pp, const struct record_operation *op,
                        struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%s: frame %llu has a call that waits, and no piece before it knows that: it "
                   "does not belong to its .border: make the piece again",
                   pp->turns.path, (unsigned long long)op->call.frame);
}

/* A reply without a call tells nothing of what it is about, whatever the stream says. */
static void forget_names(struct record_operation *op)
{
    op->object = op->object2 = op->new_object = op->path = op->path2 = op->credential = 0;
    op->depends_on = 0;
}

/* Puts an operation that is complete. */
static int complete(struct pass *p, struct waiting *w, uint32_t host, struct err *err)
{
    if (!is_wanted(p, host))
        return 0;
    if (w->operation.call.frame && naming_reply(&p->objects, w, host, err) < 0)
        return -err->code;
    return put_operation(p, &w->operation, err);
}

/* An operation that began in the piece. */
static int complete_slot(struct piece_pass *pp, struct turned *turned, struct err *err)
{
    struct record_operation *op = &turned->waiting->operation;

    if (!op->call.frame) {
        forget_names(op);
        if (piece_flows_id(&pp->turns.flows, op->flow, &op->flow, err) < 0)
            return -err->code;
    }
    return complete(pp->pass, turned->waiting, turned->slot->host, err);
}

/* One that began before it. */
static int complete_earlier(struct piece_pass *pp, const struct record_operation *op,
                            struct err *err)
{
    struct recent *recent = &pp->pass->recent;
    struct recent_call *call = recent_waiting(recent, op->call.frame, op->xid);
    struct waiting *w;
    int rc;

    if (!call)
        return unknown_call(pp, op, err);
    w = call->waiting;
    call->waiting = NULL;
    recent->waiting--;
    naming_answer(w, op);
    rc = complete(pp->pass, w, call->host, err);
    free(w);
    return rc;
}

/* A reply whose call may be in another place: if nobody knows, it is an operation. */
static int hold(struct piece_pass *pp, struct record_operation *op, struct err *err)
{
    struct pass *p = pp->pass;
    struct waiting *w;

    if (GROW(p->held, p->held_count, p->held_cap) < 0)
        return err_memory(err, "replies");
    if (piece_flows_id(&pp->turns.flows, op->flow, &op->flow, err) < 0)
        return err_prefix(err, "%s", pp->turns.path);
    if (!op->flow || !(w = naming_begin(op, false, err)))
        return op->flow
                   ? -err->code
                   : err_set(err, ERR_INPUT, "%s: a reply without a connection", pp->turns.path);
    p->held[p->held_count++] =
        (struct pass_held){ w, host_id(&p->objects, &p->flows.all[op->flow].server) };
    return p->held[p->held_count - 1].host ? 0 : err_memory(err, "hosts");
}

/* An operation that still waits at the end of the piece.  Takes over what a slot has. */
static int wait_on(struct piece_pass *pp, struct turned *turned, struct err *err)
{
    struct pass *p = pp->pass;
    struct waiting *waiting = turned->waiting;
    struct record_operation *op = &waiting->operation;
    struct recent_call *call;

    if (!op->call.frame) {
        forget_names(op);
        return hold(pp, op, err);
    }
    if (turned->slot) {
        turned->waiting = NULL;
        if (recent_wait(&p->recent, turned->slot->recent, waiting, err) < 0)
            return -err->code;
        call = &p->recent.all[turned->slot->recent];
    } else {
        call = recent_waiting(&p->recent, op->call.frame, op->xid);
    }
    if (!call)
        return unknown_call(pp, op, err);
    call->piece = p->piece;
    call->waiting->operation.pairing = op->pairing;
    return 0;
}

/* Sets *|id|, which is that of the piece, to the one that the operation has in the capture, or to 0
 * if it is not known.  |host| is left as it is if nothing is known of that. */
static int operation_of(struct piece_pass *pp, uint64_t *id, uint32_t *host, struct err *err)
{
    struct pass *p = pp->pass;
    const struct pass_engine *e = &p->engine;
    const struct turns_slot *slot = turns_slot(&pp->turns, *id);
    const struct recent_call *call = NULL;
    const struct order_call *noted;
    int rc = 0;

    if (slot)
        *host = slot->host;
    if (*id > pp->order.lead_operation) {
        *id = pp->operations + *id - pp->order.lead_operation;
        return 0;
    }
    for (uint32_t i = 0; i < e->range_count; i++)
        if (*id > e->ranges[i].from && *id <= e->ranges[i].to) {
            *id = e->ranges[i].base + *id - e->ranges[i].from;
            return 0;
        }
    noted = order_call_find(e->calls, e->call_count, *id);
    if (noted)
        rc = recent_find(&p->recent, turns_frame(&pp->turns, noted->frame), noted->xid, &call, err);
    if (call)
        *host = call->host;
    *id = call ? call->id : 0;
    return rc;
}

static int put_repeat(struct piece_pass *pp, struct record *r, struct err *err)
{
    struct pass *p = pp->pass;
    struct record_repeat *x = &r->repeat;
    uint32_t host = 0;

    if (piece_flows_id(&pp->turns.flows, x->flow, &x->flow, err) < 0)
        return err_prefix(err, "%s", pp->turns.path);
    if (operation_of(pp, &x->operation, &host, err) < 0)
        return -err->code;
    if (!host && !(host = host_id(&p->objects, &p->flows.all[x->flow].server)))
        return err_memory(err, "hosts");
    if (!is_wanted(p, host))
        return 0;
    p->strays += !x->operation;
    return put(p, r, err);
}

/* A record that is about a connection. */
static int put_of_flow(struct piece_pass *pp, struct record *r, uint32_t *flow,
                       const struct address *server, struct err *err)
{
    struct pass *p = pp->pass;
    uint32_t host;

    if (piece_flows_id(&pp->turns.flows, *flow, flow, err) < 0)
        return err_prefix(err, "%s", pp->turns.path);
    if (*flow)
        server = &p->flows.all[*flow].server;
    if (!server)
        return p->options->server_count ? 0 : put(p, r, err);
    host = host_id(&p->objects, server);
    if (!host)
        return err_memory(err, "hosts");
    return is_wanted(p, host) ? put(p, r, err) : 0;
}

static int take_turned(struct piece_pass *pp, struct turned *turned, struct err *err)
{
    int rc;

    if (turned->slot)
        turned->slot->waiting = NULL;
    if (turns_at_end(&pp->turns))
        rc = wait_on(pp, turned, err);
    else if (turned->slot)
        rc = complete_slot(pp, turned, err);
    else
        rc = complete_earlier(pp, &turned->waiting->operation, err);
    free(turned->waiting);
    return rc;
}

static int take(struct piece_pass *pp, struct turned *turned, struct err *err)
{
    struct record *r = turned->record;

    if (!r)
        return take_turned(pp, turned, err);
    switch (r->kind) {
    case RECORD_REPEAT:
        return put_repeat(pp, r, err);
    case RECORD_PROBLEM:
        return put_of_flow(pp, r, &r->problem.flow, NULL, err);
    case RECORD_CONNECTION_EVENT:
        return put_of_flow(pp, r, &r->connection_event.flow, &r->connection_event.server, err);
    case RECORD_COUNTER:
    case RECORD_END:
        return totals_add(&pp->pass->totals, r, err);
    default: /* the pass makes its own */
        return 0;
    }
}

/* Puts replies without calls that waited at the end of a piece, and nobody knows more of them. */
static int put_held(struct pass *p, bool drop, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < p->held_count; i++) {
        struct waiting *w = p->held[i].reply;

        w->operation.id = drop ? 0 : ++p->last_operation;
        if (rc == 0 && !drop && is_wanted(p, p->held[i].host))
            rc = put_operation(p, &w->operation, err);
        free(w);
    }
    p->held_count = 0;
    return rc;
}

/* What the ids of the engine mean that read the piece. */
static int begin_engine(struct piece_pass *pp, struct err *err)
{
    struct pass *p = pp->pass;
    struct pass_engine *e = &p->engine;
    bool continues = pp->border.previous[0] && pp->border.origin == p->identity;
    int rc = put_held(p, continues, err);

    if (rc < 0 || continues)
        return rc;
    free(e->calls);
    e->range_count = 0;
    e->calls = pp->order.calls;
    e->call_count = pp->order.call_count;
    pp->order.calls = NULL;
    return 0;
}

static int open_piece(struct piece_pass *pp, const char *name, struct err *err)
{
    struct turns *t = &pp->turns;
    char path[STATE_PATH_MAX];
    int rc = border_read(state_path(path, name, ".border"), &pp->border, err);

    if (rc == 0)
        rc = order_read(state_path(path, name, ".order"), &pp->order, err);
    if (rc == 0 && pp->order.identity != pp->border.identity)
        rc = err_set(err, ERR_INPUT, "%s: does not belong to %s.border: make the piece again", path,
                     name);
    if (rc == 0)
        rc = begin_engine(pp, err);
    if (rc < 0)
        return rc;
    pp->operations = pp->pass->last_operation;
    pp->pass->retransmit_span = pp->order.retransmit_span;
    t->border = &pp->border;
    t->order = &pp->order;
    t->objects = &pp->pass->objects;
    t->flows.flows = &pp->pass->flows;
    t->base = pp->pass->base;
    t->call = take_call;
    t->ctx = pp;
    return turns_open(t, name, err);
}

/* Notes which connections of calls that only earlier pieces know have ended. */
static void note_ends(struct piece_pass *pp)
{
    struct pass *p = pp->pass;
    const struct outline *end = &pp->border.end;

    for (uint32_t i = 0; p->recent.waiting && i < p->recent.count; i++) {
        struct recent_call *x = &p->recent.all[i];
        struct outline_flow key = { 0 };
        const struct outline_flow *found;

        if (!x->waiting || x->piece == p->piece)
            continue;
        flows_key(&p->flows.all[x->waiting->operation.flow], &key.key);
        found = end->flow_count ? bsearch(&key, end->flows, end->flow_count, sizeof(*end->flows),
                                          outline_flow_order)
                                : NULL;
        x->over |= found && found->over;
    }
}

static int close_piece(struct piece_pass *pp, uint64_t needed, struct err *err)
{
    struct pass *p = pp->pass;
    struct pass_engine *e = &p->engine;
    const struct turns *t = &pp->turns;

    if (t->operations != pp->border.operations + pp->border.waiting || t->next != t->slot_count)
        return err_set(err, ERR_INPUT,
                       "%s: has other operations than its .border says: make the piece again",
                       t->path);
    if (GROW(e->ranges, e->range_count, e->range_cap) < 0)
        return err_memory(err, "operations");
    e->ranges[e->range_count++] =
        (struct pass_range){ pp->order.lead_operation, pp->order.lead_operation + t->next,
                             pp->operations };
    note_ends(pp);
    p->base += pp->border.frames;
    p->identity = pp->border.identity;
    return recent_forget(&p->recent, needed, err);
}

int pass_piece(struct pass *p, const char *name, uint64_t needed, struct err *err)
{
    struct piece_pass pp = { .pass = p };
    struct turned turned;
    int rc;

    p->piece++;
    rc = open_piece(&pp, name, err);
    while (rc == 0 && (rc = turns_next(&pp.turns, &turned, err)) == 1)
        rc = take(&pp, &turned, err);
    if (rc == 0)
        rc = close_piece(&pp, needed, err);
    turns_close(&pp.turns);
    border_free(&pp.border);
    order_free(&pp.order);
    return rc;
}

/* What became of a call that only earlier pieces know, as the engine would have said it. */
static void judge(const struct pass *p, struct recent_call *x)
{
    struct record_operation *op = &x->waiting->operation;
    int64_t last = p->totals.end.last_time;

    if (x->piece == p->piece || op->pairing != CAPTURE_ENDED)
        return;
    if (x->over || (last != TIME_NONE && op->call.time != TIME_NONE && last > op->call.time &&
                    (uint64_t)last - (uint64_t)op->call.time > (uint64_t)p->retransmit_span))
        op->pairing = REPLY_LOST;
}

uint32_t pass_waiting(const struct pass *p)
{
    return p->recent.waiting + p->held_count;
}

int pass_end(struct pass *p, struct err *err)
{
    int rc = put_held(p, false, err);

    for (uint32_t i = 0; rc == 0 && i < p->recent.count; i++) {
        struct recent_call *x = &p->recent.all[i];

        if (!x->waiting)
            continue;
        judge(p, x);
        if (is_wanted(p, x->host))
            rc = put_operation(p, &x->waiting->operation, err);
        free(x->waiting);
        x->waiting = NULL;
        p->recent.waiting--;
    }
    return rc;
}
