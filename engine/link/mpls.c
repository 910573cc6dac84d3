/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/mpls.c
 *
 * MPLS (RFC 3032) and Ethernet in it (pseudowires, RFC 4448).  Nothing says what follows the stack
 * of labels.  Routers look at the first nibble (RFC 4928): 4 and 6 are IP, 0 begins a control word
 * and 1 a channel of the routers themselves (RFC 4385).  But an Ethernet frame without a control
 * word begins with any nibble, that of its destination.  So an IP header has to fit the packet, and
 * else an Ethernet header is looked for.  For the loop in link.c.  The contract is in packet.h.
 */
#include "link/packet.h"

enum {
    MPLS_BOTTOM = 0x100,
    CONTROL_WORD = 4,
    ETHERNET_HEADER = 14,
};

/* A header that was cut before its length is taken for IP.  A length of 0, of segments that the
 * adapter splits and of jumbograms, says nothing. */
static bool is_ip(const struct packet *p)
{
    uint32_t len;

    if (p->data[0] >> 4 == 4) {
        if ((p->data[0] & 15) < 5)
            return false;
        len = p->cap_len < 4 ? 20 : load_be16(p->data + 2);
        return len >= 20 && len <= p->wire_len;
    }
    if (p->data[0] >> 4 != 6)
        return false;
    len = p->cap_len < 6 ? 1 : load_be16(p->data + 4);
    return len && len + 40 <= p->wire_len;
}

/* Where an Ethernet frame begins: behind a control word or not.  Returns -1: nowhere. */
static int ethernet_place(const struct packet *p)
{
    bool zero = p->data[0] >> 4 == 0;

    /* a control word of Ethernet begins with 16 bits of 0, an address rarely does */
    if (zero && p->data[0] == 0 && p->cap_len > 1 && p->data[1] == 0 &&
        ether_may_begin(p, CONTROL_WORD))
        return CONTROL_WORD;
    if (ether_may_begin(p, 0))
        return 0;
    return zero && ether_may_begin(p, CONTROL_WORD) ? CONTROL_WORD : -1;
}

static int behind_labels(struct link *link, struct packet *p)
{
    bool could_be_ip = p->data[0] >> 4 == 4 || p->data[0] >> 4 == 6;
    uint32_t needed = (p->data[0] >> 4 ? 0 : CONTROL_WORD) + ETHERNET_HEADER + 1;
    int place;

    if (is_ip(p))
        return p->data[0] >> 4 == 4 ? LAYER_IP : LAYER_IPV6;
    place = ethernet_place(p);
    if (place >= 0) {
        count(link->count, COUNT_PSEUDOWIRE);
        packet_skip(p, (uint32_t)place);
        return LAYER_ETHERNET;
    }
    if (could_be_ip) /* of length 0; or damaged, and counted as such there */
        return p->data[0] >> 4 == 4 ? LAYER_IP : LAYER_IPV6;
    if (p->cap_len < needed && p->wire_len >= needed)
        return packet_short(link, p, needed);
    count_number(link->count, COUNT_MPLS_NIBBLE, p->data[0] >> 4);
    return LAYER_DONE;
}

int packet_mpls(struct link *link, struct packet *p)
{
    uint32_t entry;

    count(link->count, COUNT_MPLS);
    do {
        if (p->cap_len < 4)
            return packet_short(link, p, 4);
        entry = load_be32(p->data);
        packet_skip(p, 4);
    } while (!(entry & MPLS_BOTTOM));
    return p->cap_len < 1 ? packet_short(link, p, 1) : behind_labels(link, p);
}
