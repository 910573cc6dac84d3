/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/audit_parts.h"

/* tcpdump.org/linktypes.html; IEEE 802 ether types */
enum { ETHERNET = 1, RAW = 101, SLL = 113, IPV4_ONLY = 228, IPV6_ONLY = 229, SLL2 = 276 };
enum { TYPE_IPV4 = 0x0800, TYPE_ARP = 0x0806, TYPE_IPV6 = 0x86dd, TYPE_IP_EITHER = 0 };

static void add_hardware(struct peek *peek, const uint8_t *p)
{
    memcpy(peek->hardware[peek->hardware_count++], p, 6);
}

static void add_address(struct peek *peek, unsigned version, const uint8_t *p)
{
    struct address *a = &peek->address[peek->address_count++];

    memset(a, 0, sizeof(*a));
    a->version = (uint8_t)version;
    memcpy(a->bytes, p, version == 4 ? 4 : 16);
}

static void peek_network(const uint8_t *p, uint32_t len, unsigned type, struct peek *peek)
{
    if (type == TYPE_IP_EITHER && len)
        type = p[0] >> 4 == 4 ? TYPE_IPV4 : TYPE_IPV6;
    if (type == TYPE_IPV4 && len >= 20 && p[0] >> 4 == 4) {
        add_address(peek, 4, p + 12);
        add_address(peek, 4, p + 16);
    } else if (type == TYPE_IPV6 && len >= 40 && p[0] >> 4 == 6) {
        add_address(peek, 6, p + 8);
        add_address(peek, 6, p + 24);
    } else if (type == TYPE_ARP && len >= 28 && p[4] == 6 && p[5] == 4) {
        add_hardware(peek, p + 8);
        add_address(peek, 4, p + 14);
        add_hardware(peek, p + 18);
        add_address(peek, 4, p + 24);
    }
}

void peek_frame(const struct frame *frame, struct peek *peek)
{
    const uint8_t *p = frame->data;
    uint32_t len = frame->cap_len, at;
    unsigned type;

    peek->hardware_count = peek->address_count = 0;
    switch (frame->link_type) {
    case ETHERNET:
        if (len < 14)
            return;
        add_hardware(peek, p);
        add_hardware(peek, p + 6);
        type = load_be16(p + 12);
        for (at = 14; (type == 0x8100 || type == 0x88a8) && at + 4 <= len; at += 4)
            type = load_be16(p + at + 2);
        peek_network(p + at, len - at, type, peek);
        break;
    case SLL:
        if (len < 16)
            return;
        if (load_be16(p + 4) == 6)
            add_hardware(peek, p + 6);
        peek_network(p + 16, len - 16, load_be16(p + 14), peek);
        break;
    case SLL2:
        if (len < 20)
            return;
        if (p[11] == 6)
            add_hardware(peek, p + 12);
        peek_network(p + 20, len - 20, load_be16(p), peek);
        break;
    case RAW:
    case IPV4_ONLY:
    case IPV6_ONLY:
        peek_network(p, len, TYPE_IP_EITHER, peek);
        break;
    }
}
