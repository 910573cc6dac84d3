/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/ip.c
 *
 * IPv4 (RFC 791) and IPv6 (RFC 8200) with their extension headers, down to TCP and UDP, for the
 * loop in link.c.  The IPv4 header checksum is not checked, because offloading network cards fill
 * it in after the capture.  The destination is the final one, even if source routes or routing
 * headers still have hops left, because the transport's checksum covers it.  The contract is in
 * packet.h.
 */
#include "link/packet.h"

enum {
    PROTOCOL_HOP_BY_HOP = 0,
    PROTOCOL_IPV4 = 4,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    PROTOCOL_IPV6 = 41,
    PROTOCOL_ROUTING = 43,
    PROTOCOL_FRAGMENT = 44,
    PROTOCOL_GRE = 47,
    PROTOCOL_AH = 51,
    PROTOCOL_NONE = 59,
    PROTOCOL_DESTINATION = 60,
    PROTOCOL_MOBILITY = 135,
    PROTOCOL_MPLS = 137, /* RFC 4023 */
    PROTOCOL_HIP = 139,
    PROTOCOL_SHIM6 = 140,

    IPV4_MORE = 0x2000,
    IPV4_OFFSET = 0x1fff,
    OPTION_LSRR = 131,
    OPTION_SSRR = 137,
    OPTION_JUMBO = 0xc2,        /* RFC 2675 */
    OPTION_HOME_ADDRESS = 0xc9, /* RFC 6275 s6.3 */
};

/* The last address of a source route that isn't used up is where the packet goes: RFC 791 s3.1. */
static void source_route(struct packet *p, const uint8_t *option, uint32_t left)
{
    while (left >= 2 && option[0] != 0) {
        uint32_t len = option[0] == 1 ? 1 : option[1];

        if (len > left || (option[0] != 1 && len < 2))
            return;
        if ((option[0] == OPTION_LSRR || option[0] == OPTION_SSRR) && len >= 7 &&
            option[2] <= len) {
            memcpy(p->ip.destination.bytes, option + len - 4, 4);
            return;
        }
        option += len;
        left -= len;
    }
}

/* RFC 1918 and RFC 3927: the same address may be another host behind other tags or in another
 * tunnel. All others are the same host everywhere, and two copies of a fragment the same. */
static bool is_private(const struct address *a)
{
    const uint8_t *b = a->bytes;

    return a->version == 4 && (b[0] == 10 || (b[0] == 172 && (b[1] & 0xf0) == 16) ||
                               (b[0] == 192 && b[1] == 168) || (b[0] == 169 && b[1] == 254));
}

/* Returns a layer, LAYER_PAYLOAD meaning here: go on with |*protocol| at |p|. */
static int reassemble(struct link *link, struct packet *p, struct fragment *fragment,
                      uint8_t *protocol, struct err *err)
{
    struct datagram datagram;
    int rc;

    count(link->count, COUNT_FRAGMENTS);
    if (p->cap_len < p->wire_len || p->overrun) {
        if (fragment->offset) {
            count(link->count, COUNT_FRAGMENTS_CUT);
            return LAYER_DONE;
        }
        count(link->count, COUNT_FRAGMENTS_CUT_DELIVERED);
        return LAYER_PAYLOAD;
    }
    fragment->key.source = p->ip.source;
    fragment->key.destination = p->ip.destination;
    if (is_private(&p->ip.source) || is_private(&p->ip.destination))
        fragment->key.scope = p->scope;
    fragment->data = p->data;
    fragment->len = p->cap_len;
    fragment->time = p->time;
    fragment->sent = p->timed ? p->time : TIME_NONE;
    fragment->frame = p->frame;
    fragment->protocol = *protocol;
    link->fragments.counters = link->count;
    rc = fragments_add(&link->fragments, fragment, &datagram, err);
    if (rc <= 0)
        return rc < 0 ? rc : LAYER_DONE;
    p->data = datagram.data;
    p->cap_len = p->wire_len = datagram.len;
    p->ip.reassembled = true;
    *protocol = datagram.protocol;
    return LAYER_PAYLOAD;
}

static int ipv4(struct link *link, struct packet *p, struct err *err)
{
    const uint8_t *header = p->data;
    uint32_t header_len, total;
    uint16_t fragment;
    uint8_t protocol;

    if (p->cap_len < 20)
        return packet_short(link, p, 20);
    count(link->count, COUNT_IPV4);
    header_len = (header[0] & 15) * 4;
    total = load_be16(header + 2);
    if (!total) /* segmentation offload */
        total = p->wire_len;
    if (header_len < 20 || total < header_len)
        return packet_malformed(link);
    if (p->cap_len < header_len)
        return packet_short(link, p, header_len);

    p->ip.source = (struct address){ .version = 4 };
    p->ip.destination = (struct address){ .version = 4 };
    memcpy(p->ip.source.bytes, header + 12, 4);
    memcpy(p->ip.destination.bytes, header + 16, 4);
    if (header_len > 20)
        source_route(p, header + 20, header_len - 20);
    p->overrun = total > p->wire_len;
    packet_trim(p, total);
    packet_skip(p, header_len);

    p->ip.id = load_be16(header + 4);
    fragment = load_be16(header + 6);
    protocol = header[9];
    if (fragment & (IPV4_MORE | IPV4_OFFSET)) {
        struct fragment piece = {
            .key = { .protocol = protocol, .id = p->ip.id },
            .offset = (uint32_t)(fragment & IPV4_OFFSET) * FRAGMENT_BLOCK,
            .more = fragment & IPV4_MORE,
        };
        int rc = reassemble(link, p, &piece, &protocol, err);

        if (rc != LAYER_PAYLOAD)
            return rc;
    }
    return ip_protocol(link, p, protocol, err);
}

/* The jumbo payload length in the hop-by-hop options at |p|, of 8 bytes or more, or 0. */
static uint32_t jumbo_len(const struct packet *p)
{
    uint32_t end = (p->data[1] + 1u) * 8, at = 2;

    if (end > p->cap_len)
        end = p->cap_len;
    while (at + 1 < end) {
        uint32_t len = p->data[at] ? p->data[at + 1] + 2u : 1; /* 0: a single pad byte */

        if (p->data[at] == OPTION_JUMBO && len == 6 && len <= end - at)
            return load_be32(p->data + at + 2);
        at += len;
    }
    return 0;
}

int packet_ipv6(struct link *link, struct packet *p, struct err *err)
{
    uint32_t len;
    uint8_t next;

    if (p->cap_len < 40)
        return packet_short(link, p, 40);
    if (p->data[0] >> 4 != 6)
        return packet_malformed(link);
    count(link->count, COUNT_IPV6);
    len = load_be16(p->data + 4);
    next = p->data[6];
    p->ip.source.version = p->ip.destination.version = 6;
    p->ip.id = 0;
    memcpy(p->ip.source.bytes, p->data + 8, 16);
    memcpy(p->ip.destination.bytes, p->data + 24, 16);
    packet_skip(p, 40);
    if (!len && next == PROTOCOL_HOP_BY_HOP) {
        if (p->cap_len < 8)
            return packet_short(link, p, 8);
        len = jumbo_len(p);
        if (!len)
            return packet_malformed(link);
    } else if (!len && next != PROTOCOL_NONE) { /* segmentation offload */
        len = p->wire_len;
    }
    p->overrun = len > p->wire_len;
    packet_trim(p, len);
    return ip_protocol(link, p, next, err);
}

int packet_ip(struct link *link, struct packet *p, struct err *err)
{
    if (p->cap_len < 1)
        return packet_short(link, p, 1);
    if (p->data[0] >> 4 == 4)
        return ipv4(link, p, err);
    return packet_ipv6(link, p, err);
}

/* |header| has |len| bytes.  Types 0 (RFC 2460 s4.4) and 2 (RFC 6275 s6.4) end with the final
 * destination, type 4 (RFC 8754 s2) begins with it.  Others are left alone. */
static void routing(struct packet *p, const uint8_t *header, uint32_t len)
{
    if (!header[3] || len < 24) /* no segments left: arrived */
        return;
    if (header[2] == 0 || header[2] == 2)
        memcpy(p->ip.destination.bytes, header + 8 + ((len - 8) / 16 - 1) * 16, 16);
    else if (header[2] == 4)
        memcpy(p->ip.destination.bytes, header + 8, 16);
}

/* A mobile node's home address is the source that the transport knows. */
static void destination_options(struct packet *p, const uint8_t *header, uint32_t len)
{
    uint32_t at = 2;

    while (at + 1 < len) {
        uint32_t option = header[at] ? header[at + 1] + 2u : 1;

        if (header[at] == OPTION_HOME_ADDRESS && option == 18 && option <= len - at)
            memcpy(p->ip.source.bytes, header + at + 2, 16);
        at += option;
    }
}

/* The headers of RFC 8200 s4 and RFC 6564, all but the fragment header. Returns LAYER_PAYLOAD to
 * go on with |*protocol|. */
static int extension(struct link *link, struct packet *p, uint8_t *protocol)
{
    uint32_t len;
    uint8_t next;

    if (p->cap_len < 8)
        return packet_short(link, p, 8);
    len = *protocol == PROTOCOL_AH ? (p->data[1] + 2u) * 4 : (p->data[1] + 1u) * 8;
    if (p->cap_len < len)
        return packet_short(link, p, len);
    if (*protocol == PROTOCOL_ROUTING)
        routing(p, p->data, len);
    else if (*protocol == PROTOCOL_DESTINATION)
        destination_options(p, p->data, len);
    next = p->data[0];
    packet_skip(p, len);
    *protocol = next;
    return LAYER_PAYLOAD;
}

static int ipv6_fragment(struct link *link, struct packet *p, uint8_t *protocol, struct err *err)
{
    struct fragment piece = { 0 };

    if (p->cap_len < 8)
        return packet_short(link, p, 8);
    *protocol = p->data[0];
    piece.offset = load_be16(p->data + 2) & 0xfff8;
    piece.more = p->data[3] & 1;
    piece.key.id = p->ip.id = load_be32(p->data + 4);
    packet_skip(p, 8);
    if (!piece.offset && !piece.more) /* whole: RFC 6946 */
        return LAYER_PAYLOAD;
    return reassemble(link, p, &piece, protocol, err);
}

static int deliverable(struct link *link, const struct packet *p, uint8_t protocol)
{
    link->count->ip_protocols[protocol]++;
    if (protocol != PROTOCOL_TCP && protocol != PROTOCOL_UDP)
        return LAYER_DONE;
    if (!p->wire_len) {
        count(link->count, COUNT_EMPTY);
        return LAYER_DONE;
    }
    return LAYER_PAYLOAD;
}

int ip_protocol(struct link *link, struct packet *p, uint8_t protocol, struct err *err)
{
    int rc;

    for (;;) { /* ends: each turn takes 8 bytes off */
        p->ip.protocol = protocol;
        switch (protocol) {
        case PROTOCOL_TCP:
            return deliverable(link, p, protocol);
        case PROTOCOL_UDP:
            if (packet_is_vxlan(p))
                return LAYER_VXLAN;
            if (packet_is_geneve(p))
                return LAYER_GENEVE;
            packet_note_tunnel(link, p);
            return deliverable(link, p, protocol);
        case PROTOCOL_IPV4:
            count(link->count, COUNT_IP_IN_IP);
            return LAYER_IP;
        case PROTOCOL_IPV6:
            count(link->count, COUNT_IP_IN_IP);
            return LAYER_IPV6;
        case PROTOCOL_GRE:
            return LAYER_GRE;
        case PROTOCOL_MPLS:
            return LAYER_MPLS;
        case PROTOCOL_AH:
            rc = extension(link, p, &protocol);
            break;
        case PROTOCOL_HOP_BY_HOP:
        case PROTOCOL_ROUTING:
        case PROTOCOL_DESTINATION:
        case PROTOCOL_MOBILITY:
        case PROTOCOL_HIP:
        case PROTOCOL_SHIM6:
            if (p->ip.source.version != 6)
                return deliverable(link, p, protocol);
            rc = extension(link, p, &protocol);
            break;
        case PROTOCOL_FRAGMENT:
            if (p->ip.source.version != 6)
                return deliverable(link, p, protocol);
            rc = ipv6_fragment(link, p, &protocol, err);
            break;
        default:
            return deliverable(link, p, protocol);
        }
        if (rc != LAYER_PAYLOAD)
            return rc;
    }
}
