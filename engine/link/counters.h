/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/counters.h
 *
 * The counters of engine/link.  Known kinds and IP protocols are elements of an array.  Numbers
 * without a name here (link types, ether types, ...) go into a small sorted list.  When the list is
 * full, they go into one counter for the rest of their family.
 */
#ifndef NFSDIGEST_LINK_COUNTERS_H
#define NFSDIGEST_LINK_COUNTERS_H

#include "link/link.h"

enum count_kind {
    COUNT_FRAMES,
    COUNT_VLAN_TAGS,
    COUNT_VN_TAG,
    COUNT_I_TAG,
    COUNT_MPLS,
    COUNT_PSEUDOWIRE,
    COUNT_NFLOG,
    COUNT_PPPOE,
    COUNT_IPV4,
    COUNT_IPV6,
    COUNT_IP_IN_IP,
    COUNT_GRE,
    COUNT_VXLAN,
    COUNT_GENEVE,
    COUNT_TCP,
    COUNT_UDP,
    COUNT_EMPTY,
    COUNT_FRAGMENTS,
    COUNT_FRAGMENTS_DUPLICATE,
    COUNT_FRAGMENTS_OVERLAPPING,
    COUNT_FRAGMENTS_CONFLICTING,
    COUNT_FRAGMENTS_MALFORMED,
    COUNT_FRAGMENTS_CUT,
    COUNT_FRAGMENTS_CUT_DELIVERED,
    COUNT_REASSEMBLED,
    COUNT_INCOMPLETE,
    COUNT_EVICTED,
    COUNT_TRUNCATED,
    COUNT_MALFORMED,
    COUNT_TOO_DEEP,
    COUNT_KINDS
};

enum count_family {
    COUNT_LINK_TYPE,
    COUNT_ETHER_TYPE,
    COUNT_LLC_SAP,
    COUNT_SNAP_OUI,
    COUNT_PPP_PROTOCOL,
    COUNT_NULL_FAMILY,
    COUNT_SLL_HARDWARE,
    COUNT_GRE_VERSION,
    COUNT_MPLS_NIBBLE,
    COUNT_UDP_TUNNEL,
    COUNT_NFLOG_FAMILY,
    COUNT_FAMILIES
};

enum { COUNTERS_OTHERS_MAX = 256 };

struct counters {
    uint64_t kinds[COUNT_KINDS];
    uint64_t ip_protocols[256];
    uint64_t rest[COUNT_FAMILIES];
    struct counters_other {
        uint64_t key; /* family << 32 | number */
        uint64_t value;
    } others[COUNTERS_OTHERS_MAX];
    uint32_t others_used;
};

static inline void count(struct counters *counters, enum count_kind kind)
{
    counters->kinds[kind]++;
}

void count_number(struct counters *counters, enum count_family family, uint32_t number);

/* Calls |show| for each counter above 0.  |waiting| is the number of datagrams that are still
 * incomplete. */
int counters_show(const struct counters *counters, uint64_t waiting, link_counter *show, void *ctx,
                  struct err *err);

#endif
