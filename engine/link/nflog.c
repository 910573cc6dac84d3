/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/nflog.c
 *
 * Packets of Linux's packet filter as dumpcap and tcpdump take them from "nflog" interfaces
 * (LINKTYPE_NFLOG of tcpdump.org/linktypes, linux/netfilter/nfnetlink_log.h): an address family,
 * then attributes, each with length and type, in the byte order of the machine that captured.  One
 * of them is the packet, from its network header on.  For the loop in link.c.  The contract is in
 * packet.h.
 */
#include "link/packet.h"

enum {
    NFLOG_HEADER = 4,     /* family, version, group */
    ATTRIBUTE_HEADER = 4, /* length with this header, type; padded to a multiple of 4 */
    ATTRIBUTE_TYPE = 0x3fff,
    ATTRIBUTE_PACKET = 1, /* begins with the packet's ether type, big-endian */
    ATTRIBUTE_PAYLOAD = 9,
    ATTRIBUTE_KNOWN = 0x100, /* types are below */
    FAMILY_IPV4 = 2,
    FAMILY_IPV6 = 10,
};

static uint16_t load16(const uint8_t *at, bool little)
{
    return little ? (uint16_t)(at[0] | at[1] << 8) : load_be16(at);
}

/* Moves to the packet.  *|type|: its ether type, if an attribute tells.  Returns LAYER_PAYLOAD, or
 * what packet_short and packet_malformed do. */
static int find_payload(struct link *link, struct packet *p, uint16_t *type)
{
    bool little;

    if (p->cap_len < ATTRIBUTE_HEADER)
        return packet_short(link, p, ATTRIBUTE_HEADER);
    /* types are small numbers, so the byte that is 0 tells the order */
    little = (load_be16(p->data + 2) & ATTRIBUTE_TYPE) >= ATTRIBUTE_KNOWN;
    for (;;) {
        uint32_t len, padded;

        if (p->cap_len < ATTRIBUTE_HEADER)
            return packet_short(link, p, ATTRIBUTE_HEADER);
        len = load16(p->data, little);
        if (len < ATTRIBUTE_HEADER)
            return packet_malformed(link);
        if ((load16(p->data + 2, little) & ATTRIBUTE_TYPE) == ATTRIBUTE_PAYLOAD) {
            packet_trim(p, len);
            packet_skip(p, ATTRIBUTE_HEADER);
            return LAYER_PAYLOAD;
        }
        if ((load16(p->data + 2, little) & ATTRIBUTE_TYPE) == ATTRIBUTE_PACKET &&
            len >= ATTRIBUTE_HEADER + 2 && p->cap_len >= ATTRIBUTE_HEADER + 2)
            *type = load_be16(p->data + ATTRIBUTE_HEADER);
        padded = (len + 3) & ~UINT32_C(3);
        if (p->cap_len < padded)
            return packet_short(link, p, padded);
        packet_skip(p, padded);
    }
}

int packet_nflog(struct link *link, struct packet *p)
{
    uint16_t type = 0;
    uint8_t family;
    int layer;

    if (p->cap_len < NFLOG_HEADER)
        return packet_short(link, p, NFLOG_HEADER);
    family = p->data[0];
    packet_skip(p, NFLOG_HEADER);
    layer = find_payload(link, p, &type);
    if (layer != LAYER_PAYLOAD)
        return layer;
    count(link->count, COUNT_NFLOG);
    if (family == FAMILY_IPV4)
        return LAYER_IP;
    if (family == FAMILY_IPV6)
        return LAYER_IPV6;
    if (type) /* of a bridge */
        return ether_type(link, type);
    count_number(link->count, COUNT_NFLOG_FAMILY, family);
    return LAYER_DONE;
}
