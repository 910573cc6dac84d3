/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tunnels over IP: GRE (RFC 2784, RFC 2890, with the routing field of RFC 1701; version 1 of RFC
 * 2637), mirrored traffic in it (ERSPAN, draft-foschiano-erspan-03), VXLAN (RFC 7348) and Geneve
 * (RFC 8926). */
#include "link/packet.h"
#include "link/unopened.h"

enum {
    GRE_CHECKSUM = 0x8000,
    GRE_ROUTING = 0x4000,
    GRE_KEY = 0x2000,
    GRE_SEQUENCE = 0x1000,
    GRE_ACKNOWLEDGMENT = 0x0080, /* version 1 */
    GRE_VERSION = 0x0007,
    GRE_ERSPAN2 = 0x88be,
    GRE_ERSPAN3 = 0x22eb,

    VXLAN_PORT = 4789,
    VXLAN_VALID = 0x08, /* the I flag */
    GENEVE_PORT = 6081,
    GENEVE_HEADER = 8, /* without options */
    UDP_HEADER = 8,
    VXLAN_HEADER = 8,
};

/* Source route entries, up to the empty one: RFC 1701. */
static int skip_gre_routes(struct link *link, struct packet *p)
{
    for (;;) {
        uint32_t len;
        bool last;

        if (p->cap_len < 4)
            return packet_short(link, p, 4);
        len = 4u + p->data[3];
        last = load_be16(p->data) == 0 && p->data[3] == 0;
        if (p->cap_len < len)
            return packet_short(link, p, len);
        packet_skip(p, len);
        if (last)
            return LAYER_PAYLOAD;
    }
}

int packet_gre(struct link *link, struct packet *p)
{
    uint16_t flags, type;
    uint32_t len = 4;

    if (p->cap_len < 4)
        return packet_short(link, p, 4);
    flags = load_be16(p->data);
    type = load_be16(p->data + 2);
    if ((flags & GRE_VERSION) > 1) {
        count_number(link->count, COUNT_GRE_VERSION, flags & GRE_VERSION);
        return LAYER_DONE;
    }
    count(link->count, COUNT_GRE);
    len += flags & (GRE_CHECKSUM | GRE_ROUTING) ? 4 : 0;
    len += flags & GRE_KEY ? 4 : 0;
    len += flags & GRE_SEQUENCE ? 4 : 0;
    len += (flags & GRE_VERSION) == 1 && flags & GRE_ACKNOWLEDGMENT ? 4 : 0;
    if (p->cap_len < len)
        return packet_short(link, p, len);
    if (flags & GRE_KEY && !(flags & GRE_VERSION))
        packet_scope(p, load_be32(p->data + (flags & (GRE_CHECKSUM | GRE_ROUTING) ? 8 : 4)));
    packet_skip(p, len);
    if (flags & GRE_ROUTING) {
        int rc = skip_gre_routes(link, p);

        if (rc != LAYER_PAYLOAD)
            return rc;
    }
    if (flags & GRE_VERSION && !p->wire_len) /* an acknowledgment alone */
        return LAYER_DONE;
    if (type == GRE_ERSPAN2) /* without a sequence number it is type I, which has no header */
        return flags & GRE_SEQUENCE ? LAYER_ERSPAN2 : LAYER_ETHERNET;
    if (type == GRE_ERSPAN3)
        return LAYER_ERSPAN3;
    return ether_type(link, type);
}

int packet_erspan2(struct link *link, struct packet *p)
{
    if (p->cap_len < 8)
        return packet_short(link, p, 8);
    if (p->data[0] >> 4 != 1)
        return packet_malformed(link);
    packet_skip(p, 8);
    return LAYER_ETHERNET;
}

int packet_erspan3(struct link *link, struct packet *p)
{
    uint32_t len = 12;
    unsigned frame_type;

    if (p->cap_len < 12)
        return packet_short(link, p, 12);
    if (p->data[0] >> 4 != 2)
        return packet_malformed(link);
    frame_type = p->data[10] >> 2 & 31;
    if (p->data[11] & 1) /* the platform's own part */
        len += 8;
    if (p->cap_len < len)
        return packet_short(link, p, len);
    packet_skip(p, len);
    if (frame_type == 0)
        return LAYER_ETHERNET;
    return frame_type == 2 ? LAYER_IP : packet_malformed(link);
}

bool packet_is_vxlan(const struct packet *p)
{
    if (p->cap_len < 4 || load_be16(p->data + 2) != VXLAN_PORT ||
        p->wire_len < UDP_HEADER + VXLAN_HEADER)
        return false;
    return p->cap_len <= UDP_HEADER || p->data[UDP_HEADER] & VXLAN_VALID;
}

int packet_vxlan(struct link *link, struct packet *p)
{
    uint16_t udp_len;

    if (p->cap_len < UDP_HEADER + VXLAN_HEADER)
        return packet_short(link, p, UDP_HEADER + VXLAN_HEADER);
    count(link->count, COUNT_VXLAN);
    udp_len = load_be16(p->data + 4);
    if (udp_len >= UDP_HEADER + VXLAN_HEADER)
        packet_trim(p, udp_len);
    packet_scope(p, load_be32(p->data + 12) >> 8);
    packet_skip(p, UDP_HEADER + VXLAN_HEADER);
    return LAYER_ETHERNET;
}

/* Version 0; and what is reserved is 0, as it is not in most RPC messages. */
bool packet_is_geneve(const struct packet *p)
{
    const uint8_t *head = p->data + UDP_HEADER;

    if (p->cap_len < 4 || load_be16(p->data + 2) != GENEVE_PORT ||
        p->wire_len < UDP_HEADER + GENEVE_HEADER)
        return false;
    if (p->cap_len < UDP_HEADER + GENEVE_HEADER)
        return true;
    return !(head[0] >> 6) && !(head[1] & 0x3f) && !head[7] &&
           load_be16(head + 2) >= 0x0600; /* an ether type */
}

int packet_geneve(struct link *link, struct packet *p)
{
    uint16_t udp_len, type;
    uint32_t len = UDP_HEADER + GENEVE_HEADER;

    if (p->cap_len < len)
        return packet_short(link, p, len);
    count(link->count, COUNT_GENEVE);
    udp_len = load_be16(p->data + 4);
    if (udp_len >= len)
        packet_trim(p, udp_len);
    len += (p->data[UDP_HEADER] & 0x3fu) * 4; /* options */
    if (p->cap_len < len)
        return packet_short(link, p, len);
    type = load_be16(p->data + UDP_HEADER + 2);
    packet_scope(p, load_be32(p->data + UDP_HEADER + 4) >> 8);
    packet_skip(p, len);
    return ether_type(link, type);
}

void packet_note_tunnel(struct link *link, const struct packet *p)
{
    uint16_t port;

    if (p->cap_len < UDP_HEADER + 4)
        return;
    port = unopened_tunnel(load_be16(p->data + 2), load_be32(p->data + UDP_HEADER));
    if (port)
        count_number(link->count, COUNT_UDP_TUNNEL, port);
}
