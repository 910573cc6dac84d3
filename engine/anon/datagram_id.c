/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/datagram_id.h"
#include "flow/message.h"

#define COPY_SPAN INT64_C(1000000000) /* ns */

uint16_t datagram_id(struct datagram_ids *d, const struct message *m)
{
    uint32_t hash = (m->flow->id * 2 + m->side) * UINT32_C(0x9e3779b1) + m->ip_id;
    struct datagram_id *x = &d->ids[hash % DATAGRAM_IDS];
    bool untimed = m->time == TIME_NONE || x->time == TIME_NONE;
    int64_t apart = untimed ? 0 : m->time - x->time;

    if (!m->ip_id)
        return 0;
    if (x->from == m->ip_id && x->flow == m->flow->id && x->side == m->side && apart <= COPY_SPAN &&
        apart >= -COPY_SPAN)
        return x->to;
    if (!++d->last)
        d->last = 1;
    *x = (struct datagram_id){ m->time, m->flow->id, m->ip_id, d->last, m->side };
    return d->last;
}
