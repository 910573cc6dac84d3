/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UDP datagrams: which of them carry RPC.  The contract is in conn_parts.h (conn_udp). */
#include "flow/conn_parts.h"
#include "flow/plausible.h"
#include "record/record.h"

enum { UDP_HEADER = 8 };

/* What the header of a datagram says; false: it says nothing that can be. */
static bool read_udp(const struct ip_payload *p, struct message *m, struct conn_ports *ports)
{
    uint32_t len;

    if (p->cap_len < UDP_HEADER)
        return false;
    ports->port[0] = load_be16(p->data);
    ports->port[1] = load_be16(p->data + 2);
    len = load_be16(p->data + 4);
    if (len == 0) /* a jumbogram, RFC 2675 s4 */
        len = p->wire_len;
    if (len < UDP_HEADER)
        return false;
    m->data = p->data + UDP_HEADER;
    m->wire_len = len - UDP_HEADER;
    m->cap_len = p->cap_len - UDP_HEADER < m->wire_len ? p->cap_len - UDP_HEADER : m->wire_len;
    if (m->cap_len < m->wire_len)
        m->flags = SIGHTING_PARTIAL | (p->hole ? SIGHTING_HOLE : SIGHTING_CUT);
    if (p->hole)
        m->first_frame = p->first_frame;
    return true;
}

/* Whether a reply answers a call that waits. */
static bool is_awaited(struct conns *c, const struct message *m)
{
    const struct question q = { m->flow, m->side, load_be32(m->data), m->frame, { 0 } };

    return c->host.knows(c->host.ctx, &q) & XID_WAITS;
}

int conn_udp(struct conns *c, const struct frame *frame, const struct ip_payload *p,
             struct err *err)
{
    struct message m = {
        .frame = frame->number, .first_frame = frame->number, .time = frame->time, .ip_id = p->id
    };
    struct conn_ports ports;
    struct problem problem;
    struct conn *x;
    bool known;
    int kind;

    c->datagrams += p->cap_len >= UDP_HEADER;
    if (!read_udp(p, &m, &ports)) {
        c->headers_cut++;
        return 0;
    }
    known = conns_port_known(c, ports.port[0]) || conns_port_known(c, ports.port[1]);
    kind = plausible_rpc(m.data, m.cap_len, m.wire_len);
    if (!kind && !known) {
        c->foreign_datagrams++;
        return 0;
    }
    x = conn_get(c, frame, p, &ports, err);
    if (!x)
        return -err->code;
    m.flow = &x->flow;
    m.side = ports.side;
    if (kind == 1 && !known)
        conns_learn_port(c, ports.port[1]);
    if (kind == 1 || (kind == 2 && (conns_port_known(c, ports.port[0]) || is_awaited(c, &m))))
        return c->host.message(c->host.ctx, &m, err);
    if (!known) {
        c->foreign_datagrams++;
        return 0;
    }
    problem = (struct problem){ &x->flow, PROBLEM_NOT_RPC, m.side, seen_in(frame), m.wire_len };
    return c->host.problem(c->host.ctx, &problem, err);
}
