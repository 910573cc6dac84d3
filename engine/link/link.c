/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/link.c
 *
 * The loop over encapsulations, and the link types that captures begin with.  Removes BSD loopback
 * and Linux cooked headers.  Delivers datagrams that were given up before the current one.  For
 * engine.c.  The contract is in link.h, that of the other steps in packet.h.
 */
#include "link/link.h"

#include "link/packet.h"

#include <stdlib.h>

/* tcpdump.org/linktypes.html */
enum {
    LINK_TYPE_NULL = 0,
    LINK_TYPE_ETHERNET = 1,
    LINK_TYPE_PPP = 9,
    LINK_TYPE_RAW_BSD = 12, /* DLT_RAW has three values, by system */
    LINK_TYPE_RAW_OPENBSD = 14,
    LINK_TYPE_PPP_HDLC = 50,
    LINK_TYPE_PPP_ETHER = 51,
    LINK_TYPE_RAW = 101,
    LINK_TYPE_C_HDLC = 104,
    LINK_TYPE_LOOP = 108,
    LINK_TYPE_LINUX_SLL = 113,
    LINK_TYPE_IPV4 = 228,
    LINK_TYPE_IPV6 = 229,
    LINK_TYPE_NFLOG = 239,
    LINK_TYPE_LINUX_SLL2 = 276,

    /* ARPHRD_ values of Linux whose SLL protocol field is no ether type */
    HARDWARE_FRAD = 770,
    HARDWARE_80211 = 801,
    HARDWARE_80211_PRISM = 802,
    HARDWARE_80211_RADIOTAP = 803,
    HARDWARE_NETLINK = 824,
    SLL_PROTOCOL_LLC = 4, /* LINUX_SLL_P_802_2 */
};

struct link *link_new(link_deliver *deliver, void *ctx)
{
    struct link *link = calloc(1, sizeof(*link));

    if (!link)
        return NULL;
    link->now = TIME_NONE;
    link->deliver = deliver;
    link->ctx = ctx;
    link->count = &link->counters;
    fragments_init(&link->fragments, link->count);
    return link;
}

void link_free(struct link *link)
{
    if (!link)
        return;
    fragments_free(&link->fragments);
    free(link);
}

static int link_type(struct link *link, int type)
{
    switch (type) {
    case LINK_TYPE_ETHERNET:
        return LAYER_ETHERNET;
    case LINK_TYPE_NULL:
        return LAYER_NULL;
    case LINK_TYPE_LOOP:
        return LAYER_LOOP;
    case LINK_TYPE_RAW_BSD:
    case LINK_TYPE_RAW_OPENBSD:
    case LINK_TYPE_RAW:
    case LINK_TYPE_IPV4:
        return LAYER_IP;
    case LINK_TYPE_IPV6:
        return LAYER_IPV6;
    case LINK_TYPE_LINUX_SLL:
        return LAYER_SLL;
    case LINK_TYPE_LINUX_SLL2:
        return LAYER_SLL2;
    case LINK_TYPE_PPP:
    case LINK_TYPE_PPP_HDLC:
    case LINK_TYPE_C_HDLC:
        return LAYER_PPP;
    case LINK_TYPE_PPP_ETHER:
        return LAYER_PPPOE;
    case LINK_TYPE_NFLOG:
        return LAYER_NFLOG;
    default:
        count_number(link->count, COUNT_LINK_TYPE, (uint32_t)type);
        return LAYER_DONE;
    }
}

/* The address family as the capturing machine has it: its number, and for |either| its byte order.
 */
static int step_null(struct link *link, struct packet *p, bool either)
{
    uint32_t family;

    if (p->cap_len < 4)
        return packet_short(link, p, 4);
    family = load_be32(p->data);
    if (either && family > 0xffff)
        family = __builtin_bswap32(family);
    packet_skip(p, 4);
    switch (family) {
    case 2:
        return LAYER_IP;
    case 10: /* Linux */
    case 23: /* Windows */
    case 24: /* NetBSD, OpenBSD, BSD/OS */
    case 28: /* FreeBSD */
    case 30: /* macOS */
        return LAYER_IPV6;
    default:
        count_number(link->count, COUNT_NULL_FAMILY, family);
        return LAYER_DONE;
    }
}

static int sll_protocol(struct link *link, uint16_t hardware, uint16_t protocol)
{
    switch (hardware) {
    case HARDWARE_FRAD:
    case HARDWARE_80211:
    case HARDWARE_80211_PRISM:
    case HARDWARE_80211_RADIOTAP:
    case HARDWARE_NETLINK:
        count_number(link->count, COUNT_SLL_HARDWARE, hardware);
        return LAYER_DONE;
    default:
        return protocol == SLL_PROTOCOL_LLC ? LAYER_LLC : ether_type(link, protocol);
    }
}

static int step_sll(struct link *link, struct packet *p)
{
    uint16_t hardware, protocol;

    if (p->cap_len < 16)
        return packet_short(link, p, 16);
    hardware = load_be16(p->data + 2);
    protocol = load_be16(p->data + 14);
    packet_skip(p, 16);
    return sll_protocol(link, hardware, protocol);
}

static int step_sll2(struct link *link, struct packet *p)
{
    uint16_t hardware, protocol;

    if (p->cap_len < 20)
        return packet_short(link, p, 20);
    protocol = load_be16(p->data);
    hardware = load_be16(p->data + 8);
    packet_skip(p, 20);
    return sll_protocol(link, hardware, protocol);
}

static int step(struct link *link, struct packet *p, int layer, struct err *err)
{
    switch (layer) {
    case LAYER_ETHERNET:
        return packet_ethernet(link, p);
    case LAYER_IP:
        return packet_ip(link, p, err);
    case LAYER_IPV6:
        return packet_ipv6(link, p, err);
    case LAYER_VLAN:
        return packet_vlan(link, p);
    case LAYER_LLC:
        return packet_llc(link, p);
    case LAYER_PPP:
        return packet_ppp(link, p);
    case LAYER_PPPOE:
        return packet_pppoe(link, p);
    case LAYER_MPLS:
        return packet_mpls(link, p);
    case LAYER_VN_TAG:
        return packet_vn_tag(link, p);
    case LAYER_I_TAG:
        return packet_i_tag(link, p);
    case LAYER_GRE:
        return packet_gre(link, p);
    case LAYER_ERSPAN2:
        return packet_erspan2(link, p);
    case LAYER_ERSPAN3:
        return packet_erspan3(link, p);
    case LAYER_VXLAN:
        return packet_vxlan(link, p);
    case LAYER_GENEVE:
        return packet_geneve(link, p);
    case LAYER_NFLOG:
        return packet_nflog(link, p);
    case LAYER_NULL:
        return step_null(link, p, true);
    case LAYER_LOOP:
        return step_null(link, p, false);
    case LAYER_SLL:
        return step_sll(link, p);
    case LAYER_SLL2:
        return step_sll2(link, p);
    default:
        return LAYER_DONE;
    }
}

/* Delivers the datagrams that were given up. Tunnels in them are not opened. */
static int deliver_lost(struct link *link, struct err *err)
{
    struct datagram d;
    int rc = 0;

    while (fragments_lost(&link->fragments, &d)) {
        struct frame frame = { .number = d.frame, .time = d.time };
        struct ip_payload payload = { .source = d.source,
                                      .destination = d.destination,
                                      .protocol = d.protocol,
                                      .reassembled = true,
                                      .hole = d.len < d.wire_len,
                                      .data = d.data,
                                      .cap_len = d.len,
                                      .wire_len = d.wire_len,
                                      .first_frame = d.first_frame };
        count(link->count, COUNT_UDP);
        if (rc == 0 && link->deliver)
            rc = link->deliver(link->ctx, &frame, &payload, err);
    }
    return rc;
}

/* Takes headers off from |layer| on, and delivers what is at the end. */
static int run(struct link *link, const struct frame *frame, struct packet *p, int layer,
               struct err *err)
{
    int rc;

    for (unsigned depth = 0; layer > LAYER_PAYLOAD; depth++) {
        if (depth == LINK_DEPTH_MAX) {
            count(link->count, COUNT_TOO_DEEP);
            return 0;
        }
        layer = step(link, p, layer, err);
    }
    if (layer == LAYER_PAYLOAD && p->ip.protocol == 17)
        fragments_answered(&link->fragments, &p->ip, (struct bytes){ p->data, p->cap_len },
                           p->time);
    if (link->fragments.lost != TABLE_NONE && layer >= 0 && (rc = deliver_lost(link, err)) < 0)
        return rc;
    if (layer != LAYER_PAYLOAD)
        return layer; /* LAYER_DONE is 0 */
    count(link->count, p->ip.protocol == 6 ? COUNT_TCP : COUNT_UDP);
    if (!link->deliver)
        return 0;
    p->ip.data = p->data;
    p->ip.cap_len = p->cap_len;
    p->ip.wire_len = p->wire_len;
    return link->deliver(link->ctx, frame, &p->ip, err);
}

/* The time by which fragments age: packets without one don't move it. */
static int64_t moment(struct link *link, const struct frame *frame)
{
    if (frame->time != TIME_NONE)
        link->now = frame->time;
    return link->now;
}

int link_frame(struct link *link, const struct frame *frame, struct err *err)
{
    struct packet p = {
        .data = frame->data,
        .cap_len = frame->cap_len,
        .wire_len = frame->wire_len < frame->cap_len ? frame->cap_len : frame->wire_len,
        .frame = frame->number,
        .time = moment(link, frame),
        .timed = frame->time != TIME_NONE,
    };

    count(&link->counters, COUNT_FRAMES);
    link->fragments.counters = link->count;
    if (frame->time >= link->fragments.due)
        fragments_settle(&link->fragments, frame->time);
    return run(link, frame, &p, link_type(link, frame->link_type), err);
}

int link_payload(struct link *link, const struct frame *frame, const struct ip_payload *payload,
                 struct err *err)
{
    struct packet p = {
        .data = payload->data,
        .cap_len = payload->cap_len,
        .wire_len = payload->wire_len,
        .frame = frame->number,
        .time = moment(link, frame),
        .timed = frame->time != TIME_NONE,
        .ip = *payload,
    };
    int rc;

    link->count = &link->ignored;
    rc = run(link, frame, &p, ip_protocol(link, &p, payload->protocol, err), err);
    link->count = &link->counters;
    return rc;
}

int link_end(struct link *link, struct err *err)
{
    link->fragments.counters = link->count;
    fragments_end(&link->fragments);
    return deliver_lost(link, err);
}

int link_counters(const struct link *link, link_counter *show, void *ctx, struct err *err)
{
    return counters_show(&link->counters, link->fragments.used, show, ctx, err);
}

uint64_t link_layout(uint64_t hash)
{
    return fragments_layout(hash);
}

uint32_t link_surprises(const struct link *link)
{
    return link->fragments.surprises;
}

uint64_t link_outline(const struct link *link, uint64_t frame, int64_t now)
{
    return fragments_outline(&link->fragments, frame, now);
}

int link_save(const struct link *link, struct buf *out)
{
    return fragments_save(&link->fragments, out);
}

int link_restore(struct link *link, const uint8_t *data, size_t len, struct err *err)
{
    return fragments_restore(&link->fragments, data, len, err);
}

void link_counters_reset(struct link *link)
{
    memset(&link->counters, 0, sizeof(link->counters));
}
