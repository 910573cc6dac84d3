/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/ether.c
 *
 * Headers between the wire and IP: Ethernet II and 802.3, VLAN tags and others (VN-Tag, 802.1ah),
 * LLC/SNAP, PPP, PPPoE.
 * Each step removes one of them and returns the next layer.  Unknown types are counted with their
 * numbers.  For the loop in link.c.  The contract is in packet.h.
 */
#include "link/packet.h"

enum {
    ETHER_TYPE_IPV4 = 0x0800,
    ETHER_TYPE_TEB = 0x6558, /* Ethernet in GRE, RFC 1701 */
    ETHER_TYPE_8021Q = 0x8100,
    ETHER_TYPE_IPV6 = 0x86dd,
    ETHER_TYPE_MPLS = 0x8847, /* RFC 5332 */
    ETHER_TYPE_MPLS_UPSTREAM = 0x8848,
    ETHER_TYPE_PPPOE = 0x8864, /* RFC 2516, session stage */
    ETHER_TYPE_PPP = 0x880b,   /* RFC 2637 */
    ETHER_TYPE_ARP = 0x0806,
    ETHER_TYPE_8021AD = 0x88a8,
    ETHER_TYPE_8021AH = 0x88e7, /* IEEE 802.1Q clause 9.5: an I-TAG */
    ETHER_TYPE_VN_TAG = 0x8926, /* Cisco's, between switches and adapters */
    ETHER_TYPE_QINQ = 0x9100,   /* before 802.1ad */
    ETHER_LENGTH_MAX = 1500,    /* IEEE 802.3 clause 3.2.6: up to here a length, */
    ETHER_TYPE_MIN = 0x0600,    /* from here on a type */
};

int packet_short(struct link *link, const struct packet *p, uint32_t len)
{
    count(link->count, p->wire_len < len ? COUNT_MALFORMED : COUNT_TRUNCATED);
    return LAYER_DONE;
}

int packet_malformed(struct link *link)
{
    count(link->count, COUNT_MALFORMED);
    return LAYER_DONE;
}

int ether_type(struct link *link, uint16_t type)
{
    switch (type) {
    case ETHER_TYPE_IPV4:
        return LAYER_IP;
    case ETHER_TYPE_IPV6:
        return LAYER_IPV6;
    case ETHER_TYPE_8021Q:
    case ETHER_TYPE_8021AD:
    case ETHER_TYPE_QINQ:
        return LAYER_VLAN;
    case ETHER_TYPE_8021AH:
        return LAYER_I_TAG;
    case ETHER_TYPE_VN_TAG:
        return LAYER_VN_TAG;
    case ETHER_TYPE_MPLS:
    case ETHER_TYPE_MPLS_UPSTREAM:
        return LAYER_MPLS;
    case ETHER_TYPE_PPPOE:
        return LAYER_PPPOE;
    case ETHER_TYPE_PPP:
        return LAYER_PPP;
    case ETHER_TYPE_TEB:
        return LAYER_ETHERNET;
    default:
        count_number(link->count, COUNT_ETHER_TYPE, type);
        return LAYER_DONE;
    }
}

/* |type| stood before what is at |p|: an ether type, or the length of an 802.3 frame. */
static int type_or_length(struct link *link, struct packet *p, uint16_t type)
{
    if (type >= ETHER_TYPE_MIN)
        return ether_type(link, type);
    if (type > ETHER_LENGTH_MAX)
        return packet_malformed(link);
    packet_trim(p, type);
    return LAYER_LLC;
}

int packet_ethernet(struct link *link, struct packet *p)
{
    uint16_t type;

    if (p->cap_len < 14)
        return packet_short(link, p, 14);
    type = load_be16(p->data + 12);
    packet_skip(p, 14);
    return type_or_length(link, p, type);
}

int packet_vlan(struct link *link, struct packet *p)
{
    uint16_t vlan, type;

    if (p->cap_len < 4)
        return packet_short(link, p, 4);
    count(link->count, COUNT_VLAN_TAGS);
    vlan = load_be16(p->data) & 0x0fff;
    type = load_be16(p->data + 2);
    if (vlan) /* 0: only a priority */
        packet_scope(p, vlan);
    packet_skip(p, 4);
    return type_or_length(link, p, type);
}

/* Four bytes about the virtual interfaces at both ends, then a type. */
int packet_vn_tag(struct link *link, struct packet *p)
{
    uint16_t type;

    if (p->cap_len < 6)
        return packet_short(link, p, 6);
    count(link->count, COUNT_VN_TAG);
    type = load_be16(p->data + 4);
    packet_skip(p, 6);
    return type_or_length(link, p, type);
}

/* Flags and a service's number, then the customer's Ethernet frame. */
int packet_i_tag(struct link *link, struct packet *p)
{
    if (p->cap_len < 4)
        return packet_short(link, p, 4);
    count(link->count, COUNT_I_TAG);
    packet_scope(p, load_be32(p->data) & 0xffffff);
    packet_skip(p, 4);
    return LAYER_ETHERNET;
}

bool ether_may_begin(const struct packet *p, uint32_t offset)
{
    const uint8_t *behind = p->data + offset + 14;
    uint16_t type;

    if (p->cap_len < offset + 15)
        return false;
    type = load_be16(behind - 2);
    switch (type) {
    case ETHER_TYPE_IPV4:
        return behind[0] >> 4 == 4;
    case ETHER_TYPE_IPV6:
        return behind[0] >> 4 == 6;
    case ETHER_TYPE_PPPOE:
        return behind[0] == 0x11;
    case ETHER_TYPE_ARP:
    case ETHER_TYPE_8021Q:
    case ETHER_TYPE_8021AD:
    case ETHER_TYPE_8021AH:
    case ETHER_TYPE_MPLS:
        return true;
    default: /* a length, LLC's SNAP or spanning trees */
        return type >= 3 && type <= p->wire_len - offset - 14 &&
               (behind[0] == 0xaa || behind[0] == 0x42);
    }
}

int packet_llc(struct link *link, struct packet *p)
{
    uint32_t oui;
    uint16_t type;

    if (p->cap_len < 3)
        return packet_short(link, p, 3);
    if (p->data[0] == 0x06 && p->data[2] == 0x03) { /* IP, unnumbered information */
        packet_skip(p, 3);
        return LAYER_IP;
    }
    if (p->data[0] != 0xaa || p->data[1] != 0xaa || p->data[2] != 0x03) {
        count_number(link->count, COUNT_LLC_SAP, p->data[0]);
        return LAYER_DONE;
    }
    if (p->cap_len < 8)
        return packet_short(link, p, 8);
    oui = load_be32(p->data + 2) & 0xffffff;
    type = load_be16(p->data + 6);
    if (oui != 0 && oui != 0x0000f8) { /* RFC 1042; 802.1H tunnelling */
        count_number(link->count, COUNT_SNAP_OUI, oui);
        return LAYER_DONE;
    }
    packet_skip(p, 8);
    return ether_type(link, type);
}

/* RFC 1661 s2, with the address and control fields of RFC 1662 or without, and with a protocol
 * field of one byte (s6.5) or two; also Cisco's HDLC, which has an ether type in that place. */
int packet_ppp(struct link *link, struct packet *p)
{
    uint16_t protocol;

    if (p->cap_len < 2)
        return packet_short(link, p, 2);
    if ((p->data[0] == 0x0f || p->data[0] == 0x8f) && p->data[1] == 0) {
        if (p->cap_len < 4)
            return packet_short(link, p, 4);
        protocol = load_be16(p->data + 2);
        packet_skip(p, 4);
        return ether_type(link, protocol);
    }
    if (p->data[0] == 0xff && p->data[1] == 0x03)
        packet_skip(p, 2);
    if (p->cap_len < 1)
        return packet_short(link, p, 1);
    if (p->data[0] & 1) {
        protocol = p->data[0];
        packet_skip(p, 1);
    } else {
        if (p->cap_len < 2)
            return packet_short(link, p, 2);
        protocol = load_be16(p->data);
        packet_skip(p, 2);
    }

    switch (protocol) {
    case 0x0021:
        return LAYER_IP;
    case 0x0057:
        return LAYER_IPV6;
    case 0x0281:
    case 0x0283:
        return LAYER_MPLS;
    default:
        count_number(link->count, COUNT_PPP_PROTOCOL, protocol);
        return LAYER_DONE;
    }
}

int packet_pppoe(struct link *link, struct packet *p)
{
    uint16_t len;

    if (p->cap_len < 6)
        return packet_short(link, p, 6);
    if (p->data[0] != 0x11 || p->data[1] != 0)
        return packet_malformed(link);
    count(link->count, COUNT_PPPOE);
    len = load_be16(p->data + 4);
    packet_skip(p, 6);
    packet_trim(p, len);
    return LAYER_PPP;
}
