/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/conn_message.c
 *
 * Takes whole messages from a program that is one end of the connection.  There are
 * no segments, and no doubtful cases.  The contract is that of engine_message.
 */
#include "flow/conn_parts.h"

int conns_message(struct conns *c, const struct whole_message *whole, struct err *err)
{
    const struct frame frame = { .number = whole->number, .time = whole->time };
    const struct ip_payload ends = { .source = whole->source,
                                     .destination = whole->destination,
                                     .protocol = whole->transport };
    struct conn_ports ports = { .port = { whole->source_port, whole->destination_port } };
    struct message m = { .data = whole->data,
                         .cap_len = whole->len,
                         .wire_len = whole->len,
                         .frame = whole->number,
                         .first_frame = whole->number,
                         .time = whole->time };
    struct conn *x;

    if (frame.time > c->pool.latest)
        conns_advance(c, frame.time);
    x = conn_get(c, &frame, &ends, &ports, err);
    if (!x)
        return -err->code;
    x->rpc = true;
    m.flow = &x->flow;
    m.side = ports.side;
    return c->host.message(c->host.ctx, &m, err);
}
