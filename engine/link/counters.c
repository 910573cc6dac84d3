/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[COUNT_KINDS] = {
    [COUNT_FRAMES] = "frames",
    [COUNT_VLAN_TAGS] = "vlan_tags",
    [COUNT_VN_TAG] = "vn_tags",
    [COUNT_I_TAG] = "802.1ah_tags",
    [COUNT_MPLS] = "mpls_packets",
    [COUNT_PSEUDOWIRE] = "pseudowire_packets",
    [COUNT_NFLOG] = "nflog_packets",
    [COUNT_PPPOE] = "pppoe_packets",
    [COUNT_IPV4] = "ipv4_packets",
    [COUNT_IPV6] = "ipv6_packets",
    [COUNT_IP_IN_IP] = "ip_in_ip_packets",
    [COUNT_GRE] = "gre_packets",
    [COUNT_VXLAN] = "vxlan_packets",
    [COUNT_GENEVE] = "geneve_packets",
    [COUNT_TCP] = "tcp_payloads",
    [COUNT_UDP] = "udp_payloads",
    [COUNT_EMPTY] = "ip_payloads_empty",
    [COUNT_FRAGMENTS] = "ip_fragments",
    [COUNT_FRAGMENTS_DUPLICATE] = "ip_fragments_duplicate",
    [COUNT_FRAGMENTS_OVERLAPPING] = "ip_fragments_overlapping",
    [COUNT_FRAGMENTS_CONFLICTING] = "ip_fragments_conflicting",
    [COUNT_FRAGMENTS_MALFORMED] = "ip_fragments_malformed",
    [COUNT_FRAGMENTS_CUT] = "ip_fragments_cut",
    [COUNT_FRAGMENTS_CUT_DELIVERED] = "ip_fragments_cut_delivered",
    [COUNT_REASSEMBLED] = "ip_datagrams_reassembled",
    [COUNT_INCOMPLETE] = "ip_datagrams_incomplete",
    [COUNT_EVICTED] = "ip_datagrams_evicted",
    [COUNT_TRUNCATED] = "truncated_headers",
    [COUNT_MALFORMED] = "malformed_headers",
    [COUNT_TOO_DEEP] = "too_many_encapsulations",
};

/* ether types, LLC addresses and the like are known by their hexadecimal numbers */
static const struct {
    const char *name;
    unsigned hex_digits; /* 0: decimal */
} families[COUNT_FAMILIES] = {
    [COUNT_LINK_TYPE] = { "link_type", 0 },       [COUNT_ETHER_TYPE] = { "ether_type", 4 },
    [COUNT_LLC_SAP] = { "llc_sap", 2 },           [COUNT_SNAP_OUI] = { "snap_oui", 6 },
    [COUNT_PPP_PROTOCOL] = { "ppp_protocol", 4 }, [COUNT_NULL_FAMILY] = { "null_family", 0 },
    [COUNT_SLL_HARDWARE] = { "sll_hardware", 0 }, [COUNT_GRE_VERSION] = { "gre_version", 0 },
    [COUNT_MPLS_NIBBLE] = { "mpls_nibble", 1 },   [COUNT_UDP_TUNNEL] = { "udp_tunnel", 0 },
    [COUNT_NFLOG_FAMILY] = { "nflog_family", 0 },
};

void count_number(struct counters *counters, enum count_family family, uint32_t number)
{
    uint64_t key = (uint64_t)family << 32 | number;
    uint32_t low = 0, high = counters->others_used;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (counters->others[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < counters->others_used && counters->others[low].key == key) {
        counters->others[low].value++;
        return;
    }
    if (counters->others_used == COUNTERS_OTHERS_MAX) {
        counters->rest[family]++;
        return;
    }
    memmove(&counters->others[low + 1], &counters->others[low],
            (counters->others_used - low) * sizeof(counters->others[0]));
    counters->others[low] = (struct counters_other){ key, 1 };
    counters->others_used++;
}

static int show_others(const struct counters *counters, link_counter *show, void *ctx,
                       struct err *err)
{
    char name[64];
    int rc;

    for (uint32_t i = 0; i < counters->others_used; i++) {
        uint32_t family = (uint32_t)(counters->others[i].key >> 32);
        uint32_t number = (uint32_t)counters->others[i].key;

        if (families[family].hex_digits)
            snprintf(name, sizeof(name), "%s.0x%0*" PRIx32, families[family].name,
                     (int)families[family].hex_digits, number);
        else
            snprintf(name, sizeof(name), "%s.%" PRIu32, families[family].name, number);
        rc = show(ctx, name, counters->others[i].value, err);
        if (rc < 0)
            return rc;
    }
    for (uint32_t i = 0; i < COUNT_FAMILIES; i++) {
        if (!counters->rest[i])
            continue;
        snprintf(name, sizeof(name), "%s.other", families[i].name);
        rc = show(ctx, name, counters->rest[i], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int counters_show(const struct counters *counters, uint64_t waiting, link_counter *show, void *ctx,
                  struct err *err)
{
    char name[64];
    int rc;

    for (uint32_t i = 0; i < COUNT_KINDS; i++) {
        if (!counters->kinds[i])
            continue;
        rc = show(ctx, kind_names[i], counters->kinds[i], err);
        if (rc < 0)
            return rc;
    }
    if (waiting) {
        rc = show(ctx, "ip_datagrams_waiting", waiting, err);
        if (rc < 0)
            return rc;
    }
    for (uint32_t i = 0; i < 256; i++) {
        if (!counters->ip_protocols[i])
            continue;
        snprintf(name, sizeof(name), "ip_protocol.%" PRIu32, i);
        rc = show(ctx, name, counters->ip_protocols[i], err);
        if (rc < 0)
            return rc;
    }
    return show_others(counters, show, ctx, err);
}
