/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/outline.c
 *
 * Compares two outlines of one border, and collects what the first one alone knows.  Everything
 * that this does not recognize as harmless makes them differ.  The contract is in outline.h.
 */
#include "flow/outline.h"
#include "base/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRANSPORT_TCP = 6 };

struct comparing {
    const struct outline_border *border;
    struct outline_fit *fit;
    struct outline *rest;
};

void outline_free(struct outline *o)
{
    free(o->flows);
    free(o->calls);
    xids_free(&o->used);
    memset(o, 0, sizeof(*o));
}

/* The first difference is told. */
__attribute__((format(printf, 2, 3))) static void differs(struct comparing *c, const char *form,
                                                          ...)
{
    va_list args;

    if (!c->fit->same)
        return;
    c->fit->same = false;
    va_start(args, form);
    vsnprintf(c->fit->why, sizeof(c->fit->why), form, args);
    va_end(args);
}

int outline_flow_order(const void *a, const void *b)
{
    const struct outline_flow *x = a, *y = b;

    return memcmp(&x->key, &y->key, sizeof(x->key));
}

const struct outline_flow *outline_find(const struct outline *o, const struct outline_key *key)
{
    uint32_t low = 0, high = o->flow_count;

    while (low < high) {
        uint32_t at = low + (high - low) / 2;
        int order = memcmp(&o->flows[at].key, key, sizeof(*key));

        if (!order)
            return &o->flows[at];
        if (order < 0)
            low = at + 1;
        else
            high = at;
    }
    return NULL;
}

const char *outline_flow_text(const struct outline_key *key, char text[OUTLINE_FLOW_TEXT])
{
    char end[2][ADDRESS_TEXT_MAX];

    for (int side = 0; side < 2; side++) {
        struct address a = { .version = key->version };

        memcpy(a.bytes, key->address[side], sizeof(a.bytes));
        address_text(&a, end[side]);
    }
    snprintf(text, OUTLINE_FLOW_TEXT, "%s port %u and %s port %u", end[0], key->port[0], end[1],
             key->port[1]);
    return text;
}

struct flow_text {
    char text[OUTLINE_FLOW_TEXT];
};

static struct flow_text flow_text(const struct outline_key *key)
{
    struct flow_text t;

    outline_flow_text(key, t.text);
    return t;
}

/* One direction: |at| is NULL if the second engine did not know the connection at the border. */
static void compare_stream(struct comparing *c, const struct outline_flow *flow, int side,
                           const struct outline_stream *at, const struct outline_stream *end)
{
    const struct outline_stream *is = &flow->stream[side];

    if (end->asked) {
        differs(c, "a segment from before the lead-in came again between %s",
                flow_text(&flow->key).text);
    } else if (at && at->started) {
        if (at->digest != is->digest)
            differs(c, "the stream between %s differs at the border", flow_text(&flow->key).text);
    } else if (end->started && end->assumed) {
        if (c->border->open && !is->started)
            return;
        if (!is->quiet || is->next != end->origin)
            differs(c, "the stream between %s went on inside a message, or with a hole",
                    flow_text(&flow->key).text);
        else
            c->fit->adopted++;
    } else if (end->started) {
        differs(c, "a connection began again between %s", flow_text(&flow->key).text);
    }
}

static int carry_flow(struct comparing *c, const struct outline_flow *flow)
{
    struct outline *rest = c->rest;

    if (GROW(rest->flows, rest->flow_count, rest->flow_cap) < 0)
        return -ERR_SYSTEM;
    rest->flows[rest->flow_count] = *flow;
    rest->flows[rest->flow_count++].birth = OUTLINE_UNKNOWN;
    c->fit->carried++;
    return 0;
}

static int compare_flows(struct comparing *c)
{
    const struct outline_border *b = c->border;

    for (uint32_t i = 0; i < b->before->flow_count; i++) {
        const struct outline_flow *is = &b->before->flows[i];
        const struct outline_flow *at = outline_find(b->after, &is->key),
                                  *end = outline_find(b->end, &is->key);

        if (!end) {
            if (at)
                differs(c, "a limit was reached: connections were forgotten");
            if (carry_flow(c, is) < 0)
                return -ERR_SYSTEM;
            continue;
        }
        if (is->server != 2 && end->server != 2 && is->server != end->server)
            differs(c, "which end is the server differs: %s", flow_text(&is->key).text);
        if (is->key.transport != TRANSPORT_TCP)
            continue;
        if (at ? at->digest != is->digest || (at->server != 2 && at->server != is->server)
               : !is->plain || end->sure)
            differs(c, "the connection between %s ended or began again", flow_text(&is->key).text);
        if (at && at->sure && at->birth != is->birth)
            differs(c, "the connection between %s is older than the lead-in shows",
                    flow_text(&is->key).text);
        if (end->asked)
            differs(c, "a SYN, FIN or RST between %s is about what came before the lead-in",
                    flow_text(&is->key).text);
        for (int side = 0; side < 2; side++)
            compare_stream(c, is, side, at ? &at->stream[side] : NULL, &end->stream[side]);
        if (((is->stream[0].started && !end->stream[0].started) ||
             (is->stream[1].started && !end->stream[1].started) ||
             (is->server != 2 && end->server == 2)) &&
            carry_flow(c, is) < 0)
            return -ERR_SYSTEM;
    }
    for (uint32_t i = 0; i < b->end->flow_count; i++) {
        const struct outline_flow *end = &b->end->flows[i];

        if (end->key.transport != TRANSPORT_TCP || outline_find(b->before, &end->key))
            continue;
        if (outline_find(b->after, &end->key))
            differs(c, "the lead-in alone knows a connection between %s",
                    flow_text(&end->key).text);
        else if (!b->open && (end->asked || end->stream[0].asked || end->stream[1].asked ||
                              end->stream[0].assumed || end->stream[1].assumed))
            differs(c, "a connection between %s was joined in its middle",
                    flow_text(&end->key).text);
    }
    return 0;
}

static void compare_ports(struct comparing *c)
{
    const struct outline_border *b = c->border;

    memcpy(c->rest->ports, b->before->ports, sizeof(c->rest->ports));
    for (uint32_t i = 0; i < sizeof(b->before->ports); i++) {
        uint8_t first = b->before->ports[i], second = b->after->ports[i];

        if (second & ~first || (first & ~second & b->past->ports_asked[i]))
            differs(c, "one of the ports %u to %u carries RPC, as packets before the lead-in say",
                    i * 8, i * 8 + 7);
    }
}

static bool same_call(const struct outline_call *a, const struct outline_call *b)
{
    return a->xid == b->xid && a->frame == b->frame &&
           !memcmp(&a->client, &b->client, sizeof(a->client)) &&
           !memcmp(&a->server, &b->server, sizeof(a->server));
}

static uint64_t call_hash_of(const struct outline_call *call)
{
    return ((uint64_t)call->xid << 32 ^ (uint64_t)call->frame) * UINT64_C(0x9e3779b97f4a7c15);
}

static int index_calls(struct table *table, const struct outline *o)
{
    for (uint32_t i = 0; i < o->call_count; i++)
        if (table_add(table, call_hash_of(&o->calls[i]), i) < 0)
            return -ERR_SYSTEM;
    return 0;
}

static const struct outline_call *find_call(const struct table *table, const struct outline *o,
                                            const struct outline_call *call)
{
    uint64_t hash = call_hash_of(call);
    uint32_t at;

    for (uint32_t i = table_first(table, hash, &at); i != TABLE_NONE;
         i = table_next(table, hash, &at))
        if (same_call(&o->calls[i], call))
            return &o->calls[i];
    return NULL;
}

static int carry_call(struct comparing *c, const struct outline_call *call)
{
    struct outline *rest = c->rest;
    const struct outline_flow *end = outline_find(c->border->end, &call->flow);

    if (GROW(rest->calls, rest->call_count, rest->call_cap) < 0)
        return -ERR_SYSTEM;
    rest->calls[rest->call_count] = *call;
    rest->calls[rest->call_count].borders++;
    rest->calls[rest->call_count++].over |= end && end->over;
    rest->call_bytes += call->bytes;
    c->fit->carried++;
    return 0;
}

static int compare_known_calls(struct comparing *c, const struct table *after)
{
    const struct outline_border *b = c->border;
    uint32_t found = 0;

    for (uint32_t i = 0; i < b->before->call_count; i++) {
        const struct outline_call *is = &b->before->calls[i], *at = find_call(after, b->after, is);
        const struct xids_pair *asked =
            xids_find(&b->past->asked, &is->client, is->udp ? NULL : &is->server);

        if (at) {
            found++;
            if (at->digest != is->digest)
                differs(c, "a call that waits for its reply differs: XID 0x%08x", is->xid);
            continue;
        }
        if (asked && xids_has(asked, is->xid))
            differs(c, "the reply to a call before the lead-in came late: XID 0x%08x", is->xid);
        if (carry_call(c, is) < 0)
            return -ERR_SYSTEM;
    }
    if (found != b->after->call_count)
        differs(c, "the lead-in alone knows a call");
    return 0;
}

static int compare_calls(struct comparing *c)
{
    struct table after = { 0 };
    int rc = index_calls(&after, c->border->after);

    if (rc == 0)
        rc = compare_known_calls(c, &after);
    table_free(&after);
    return rc;
}

/* The answered calls that the second engine knows must be equal; of the others it must not have
 * seen an XID. */
static int compare_answered(struct comparing *c)
{
    const struct outline_border *b = c->border;
    uint64_t known = b->after->from == OUTLINE_UNKNOWN ? UINT64_MAX : (uint64_t)-b->after->from;

    if (known > b->depth)
        differs(c, "the lead-in is longer than the piece before it");
    for (uint32_t i = 0; i < OUTLINE_CHUNKS && i < known / OUTLINE_CHUNK; i++)
        if (b->before->done[i] != b->after->done[i])
            differs(c, "the calls answered before the border differ");
    for (uint32_t i = 0; i < b->before->used.count; i++) {
        const struct xids_pair *used = &b->before->used.pairs[i];
        const struct xids_pair *asked =
            xids_find(&b->past->asked, &used->client, used->server.version ? &used->server : NULL);

        if (asked && xids_meet(used, asked))
            differs(c, "a client used XIDs again that it had used before the border");
        if (xids_merge(&c->rest->used, used) < 0)
            return -ERR_SYSTEM;
    }
    return 0;
}

static void compare_limits(struct comparing *c)
{
    const struct outline_border *b = c->border;
    const struct outline_limits *most = &b->limits;
    uint64_t memory = 0;
    uint32_t carried = b->before->connections > b->after->connections
                           ? b->before->connections - b->after->connections
                           : 0;

    c->rest->connections = carried;
    for (uint32_t i = 0; i < b->before->flow_count; i++)
        memory += b->before->flows[i].memory;
    if ((uint64_t)b->past->connections + carried >= most->connections ||
        (uint64_t)b->past->waiting + c->rest->call_count >= most->waiting ||
        b->past->waiting_bytes + c->rest->call_bytes >= most->waiting_bytes ||
        b->past->framing + memory >= most->framing || b->past->queued >= most->framing / 2 ||
        b->past->held >= most->held / 2)
        differs(c, "a limit was reached, or may have been: connections, waiting calls or memory");
}

static int add_flows(struct outline *to, const struct outline *rest)
{
    const uint32_t count = to->flow_count;

    for (uint32_t i = 0; i < rest->flow_count; i++) {
        const struct outline_flow *from = &rest->flows[i], *has;
        const struct outline sorted = { .flows = to->flows, .flow_count = count };

        has = outline_find(&sorted, &from->key);
        if (has) {
            struct outline_flow *flow = &to->flows[has - to->flows];

            if (flow->server == 2)
                flow->server = from->server;
            for (int side = 0; side < 2; side++)
                if (!flow->stream[side].started)
                    flow->stream[side] = from->stream[side];
            continue;
        }
        if (GROW(to->flows, to->flow_count, to->flow_cap) < 0)
            return -ERR_SYSTEM;
        to->flows[to->flow_count++] = *from;
    }
    if (to->flow_count)
        qsort(to->flows, to->flow_count, sizeof(*to->flows), outline_flow_order);
    return 0;
}

int outline_add(struct outline *to, const struct outline *rest, struct err *err)
{
    int rc = add_flows(to, rest);

    to->connections += rest->connections;

    for (uint32_t i = 0; rc == 0 && i < rest->call_count; i++) {
        rc = GROW(to->calls, to->call_count, to->call_cap);
        if (rc == 0)
            to->calls[to->call_count++] = rest->calls[i];
    }
    to->call_bytes += rest->call_bytes;
    for (uint32_t i = 0; rc == 0 && i < rest->used.count; i++)
        rc = xids_merge(&to->used, &rest->used.pairs[i]);
    for (size_t i = 0; i < sizeof(to->ports); i++)
        to->ports[i] |= rest->ports[i];
    return rc < 0 ? err_memory(err, "an outline") : 0;
}

int outline_copy(struct outline *to, const struct outline *from, struct err *err)
{
    *to = *from;
    to->flows = NULL;
    to->calls = NULL;
    to->used = (struct xids){ 0 };
    to->flow_count = to->flow_cap = to->call_count = to->call_cap = 0;
    to->call_bytes = 0;
    if (outline_add(to, from, err) < 0) {
        outline_free(to);
        return -err->code;
    }
    to->connections = from->connections;
    return 0;
}

int outline_follows(const struct outline_border *b, struct outline_fit *fit, struct outline *rest,
                    struct err *err)
{
    struct comparing c = { b, fit, rest };

    *fit = (struct outline_fit){ .same = true };
    if (b->before->moment != b->after->moment)
        differs(&c, "the clocks differ: times go backwards, or are missing");
    if (b->before->fragments != b->after->fragments)
        differs(&c, "the IP fragments that wait differ");
    if (b->end->surprises != b->after->surprises)
        differs(&c, "checksums of fragments are not as before");
    if (b->before->held)
        differs(&c, "a reply waited at the border for its place");
    if (b->past->flow_asked)
        differs(&c, "something came before the first message of a connection");
    if (b->past->order_asked)
        differs(&c, "which of two connections is older had to be known");
    compare_ports(&c);
    if (compare_flows(&c) < 0 || compare_calls(&c) < 0 || compare_answered(&c) < 0)
        return err_memory(err, "an outline");
    compare_limits(&c);
    return 0;
}
