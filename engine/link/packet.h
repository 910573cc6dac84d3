/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/packet.h
 *
 * For the files of engine/link only: the part of a frame that is still to be read, and the steps
 * that each remove one header.  A step returns the next layer, or a negative code (no memory).
 */
#ifndef NFSDIGEST_LINK_PACKET_H
#define NFSDIGEST_LINK_PACKET_H

#include "link/fragment.h"

enum layer {
    LAYER_DONE,    /* counted, or waits for further fragments */
    LAYER_PAYLOAD, /* |ip| must be delivered; |data| is its payload */
    LAYER_ETHERNET,
    LAYER_IP,   /* either version */
    LAYER_IPV6, /* only version 6 */
    LAYER_VLAN,
    LAYER_LLC,
    LAYER_PPP,
    LAYER_PPPOE,
    LAYER_MPLS,
    LAYER_VN_TAG,
    LAYER_I_TAG,
    LAYER_GRE,
    LAYER_ERSPAN2,
    LAYER_ERSPAN3,
    LAYER_VXLAN,
    LAYER_GENEVE,
    LAYER_NFLOG,
    LAYER_NULL,
    LAYER_LOOP,
    LAYER_SLL,
    LAYER_SLL2,
};

struct packet {
    const uint8_t *data;
    uint32_t cap_len, wire_len; /* left at |data| */
    uint32_t scope;             /* see struct fragment_key */
    bool overrun;               /* the IP header promised more than the frame had on the wire */
    uint64_t frame;             /* its number */
    int64_t time;               /* of the frame; if it has none, of the last frame that has one */
    bool timed;                 /* |time| is the frame's own */
    struct ip_payload ip;       /* of the innermost IP header; data and lengths only at delivery */
};

struct link {
    link_deliver *deliver;
    void *ctx;
    struct counters counters, ignored;
    struct counters *count; /* one of the two */
    struct fragments fragments;
    int64_t now; /* time of the last frame that has one, or TIME_NONE */
};

/* Removes |len| bytes, which must have been captured. */
static inline void packet_skip(struct packet *p, uint32_t len)
{
    p->data += len;
    p->cap_len -= len;
    p->wire_len -= len;
}

/* Removes everything behind the first |len| bytes: padding or a trailer. */
static inline void packet_trim(struct packet *p, uint32_t len)
{
    if (p->wire_len > len)
        p->wire_len = len;
    if (p->cap_len > len)
        p->cap_len = len;
}

static inline void packet_scope(struct packet *p, uint32_t tag)
{
    p->scope = (p->scope ^ tag) * 0x01000193u;
}

/* Counts a header of |len| bytes that is not complete: cut by the snap length, or too short on the
 * wire. */
int packet_short(struct link *link, const struct packet *p, uint32_t len);

int packet_malformed(struct link *link);

/* Returns the layer that an ether type announces.  Counts an unknown one and returns LAYER_DONE. */
int ether_type(struct link *link, uint16_t type);

/* True if an Ethernet frame may begin |offset| bytes behind |p|: its type is a known one, and fits
 * what follows. */
bool ether_may_begin(const struct packet *p, uint32_t offset);

/* ether.c */
int packet_ethernet(struct link *link, struct packet *p);
int packet_vlan(struct link *link, struct packet *p);
int packet_llc(struct link *link, struct packet *p);
int packet_ppp(struct link *link, struct packet *p);
int packet_pppoe(struct link *link, struct packet *p);
int packet_vn_tag(struct link *link, struct packet *p);
int packet_i_tag(struct link *link, struct packet *p);

/* mpls.c */
int packet_mpls(struct link *link, struct packet *p);

/* nflog.c */
int packet_nflog(struct link *link, struct packet *p);

/* ip.c */
int packet_ip(struct link *link, struct packet *p, struct err *err);
int packet_ipv6(struct link *link, struct packet *p, struct err *err);

/* Takes the payload of an IPv4 header, or of the headers of IPv6.  |protocol| is what is at |p|. */
int ip_protocol(struct link *link, struct packet *p, uint8_t protocol, struct err *err);

/* tunnel.c */
int packet_gre(struct link *link, struct packet *p);
int packet_erspan2(struct link *link, struct packet *p);
int packet_erspan3(struct link *link, struct packet *p);
int packet_vxlan(struct link *link, struct packet *p);
int packet_geneve(struct link *link, struct packet *p);

/* True if the UDP datagram at |p| goes to the port of VXLAN, or of Geneve, and doesn't look like
 * anything else. */
bool packet_is_vxlan(const struct packet *p);
bool packet_is_geneve(const struct packet *p);

/* Counts a UDP datagram that looks like a tunnel that engine/link does not open: see unopened.h. */
void packet_note_tunnel(struct link *link, const struct packet *p);

#endif
