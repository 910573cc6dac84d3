/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/datagram_id.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "flow/message.h"

#define COPY_SPAN INT64_C(1000000000) /* ns */

static bool is_copy(const struct datagram_id *x, const struct datagram_id *y)
{
    bool untimed = x->time == TIME_NONE || y->time == TIME_NONE;
    int64_t apart = untimed ? 0 : y->time - x->time;

    return x->from == y->from && x->flow == y->flow && x->side == y->side && x->xid == y->xid &&
           x->wire_len == y->wire_len && (x->digest == y->digest || !x->digest || !y->digest) &&
           apart <= COPY_SPAN && apart >= -COPY_SPAN;
}

uint16_t datagram_id(struct datagram_ids *d, const struct message *m)
{
    uint32_t hash = (m->flow->id * 2 + m->side) * UINT32_C(0x9e3779b1) + m->ip_id;
    struct datagram_id *x = &d->ids[hash % DATAGRAM_IDS], new = {
        .time = m->time,
        .flow = m->flow->id,
        .from = m->ip_id,
        .wire_len = m->wire_len,
        .side = m->side,
    };

    if (!m->ip_id)
        return 0;
    new.xid = m->cap_len < 4 ? 0 : load_be32(m->data);
    if (m->cap_len == m->wire_len)
        new.digest = XXH3_64bits(m->data, m->cap_len) | 1;
    if (is_copy(x, &new))
        return x->to;
    if (!++d->last)
        d->last = 1;
    new.to = d->last;
    *x = new;
    return d->last;
}
