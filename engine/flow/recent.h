/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/recent.h
 *
 * The segments that one side of a TCP connection sent last.  They distinguish a segment that the
 * capture holds twice from one that was sent again, which has another IP identification.  IPv6 has
 * no such number, so there every repeated segment counts as sent again.
 */
#ifndef NFSDIGEST_FLOW_RECENT_H
#define NFSDIGEST_FLOW_RECENT_H

#include <stdbool.h>
#include <stdint.h>

enum { RECENT_SEGMENTS = 8 }; /* copies come in batches */

struct recent {
    struct {
        uint32_t seq, ip_id;
    } segment[RECENT_SEGMENTS];
    uint32_t next;
};

static inline void recent_note(struct recent *r, uint32_t seq, uint32_t ip_id)
{
    r->segment[r->next].seq = seq;
    r->segment[r->next].ip_id = ip_id;
    r->next = (r->next + 1) % RECENT_SEGMENTS;
}

static inline bool recent_has(const struct recent *r, uint32_t seq, uint32_t ip_id)
{
    for (unsigned i = 0; ip_id && i < RECENT_SEGMENTS; i++)
        if (r->segment[i].seq == seq && r->segment[i].ip_id == ip_id)
            return true;
    return false;
}

#endif
