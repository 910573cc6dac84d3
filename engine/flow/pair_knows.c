/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the search for record marks what is known of an XID.  This decides if a doubtful message
 * with this XID may be true. */
#include "flow/pair_parts.h"

#include <netinet/in.h>

/* The bit of the other half, if what it says is that. */
static unsigned said(enum fit fit, unsigned other)
{
    return fit == FIT_WELL ? other : fit == FIT_NOT ? XID_MISFIT : XID_SURPLUS;
}

/* What the replies say that came in |frame|, little before it or later, and wait for a call with
 * this XID. */
static unsigned held_of(const struct pair *p, const struct question *q, uint64_t hash)
{
    unsigned knows = 0;

    if (!p->held_keys[hash % HELD_KEYS])
        return 0;
    for (const struct held *x = p->held; x; x = x->next)
        if (load_be32(x->data) == q->xid && x->flow.id == q->flow->id &&
            x->message.frame + HELD_BEFORE >= q->frame)
            knows |= said(fits_reply(q->piece, message_text(&x->message)), XID_HELD);
    return knows;
}

/* What one call of an XID says. */
static unsigned known_of(const struct call *x, const struct question *q, bool reply)
{
    bool again = reply ? x->owed > 0 : x->owed < 0 && x->frame + x->again_after > q->frame;

    if (x->waiting && reply)
        return said(fits_result(x->waiting->procedure, &x->waiting->credential, q->piece),
                    XID_WAITS);
    if (x->waiting)
        return XID_WAITS;
    return XID_ANSWERED | (again && flow_same(x, q->flow) ? XID_AGAIN : 0);
}

/* Writes down that an older call would count (past.h). */
static void ask(struct pair *p, const struct question *q, uint8_t server)
{
    const struct flow *flow = q->flow;
    const struct same_servers *same = &p->objects->same;

    if (!p->past || !p->past->assumed || p->past->settled)
        return;
    if (xids_add(&p->past->asked, same_server(same, &flow->address[!server]),
                 flow->transport == IPPROTO_UDP ? NULL : same_server(same, &flow->address[server]),
                 q->xid) < 0)
        p->past->order_asked = true; /* no memory: nothing is known, then */
}

unsigned pair_knows(struct pair *p, const struct question *q)
{
    const struct flow *flow = q->flow;

    pair_ask_flow(p, flow);
    /* before anything was found on it, either side may be the server */
    for (uint8_t server = 0; server < 2; server++) {
        uint32_t host[2], at, id;
        struct call_key key;
        unsigned knows = 0;
        if (flow->id && server != flow->server)
            continue;
        for (int i = 0; i < 2; i++)
            host[i] = flow->host[i] ? flow->host[i] : host_find(p->objects, &flow->address[i]);
        ask(p, q, server);
        if (!host[0] || !host[1])
            continue;
        key = call_key(host[server], host[!server], q->xid);
        for (id = calls_first(&p->calls, &key, &at); id != CALL_NONE;
             id = calls_next(&p->calls, &key, &at))
            if (flow_fits(p, &p->calls.pool[id], flow))
                knows |= known_of(&p->calls.pool[id], q, q->side == server);
        if (flow->id && q->side != server)
            knows |= held_of(p, q, key.hash);
        if (knows)
            return knows;
    }
    return 0;
}
