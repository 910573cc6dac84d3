/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our handles stand in the table "ip.proto" in place of TCP's and UDP's.  They only note what they
 * are given; the "frame" tap, which runs when the frame is done, takes it from there.  That way
 * the engine hears of a frame before its payloads, as at the other doors, and the first pass of
 * "tshark -2", which has no taps, leaves no trace. */
#include "compat.h"
#include "payload.h"

#include <epan/ipproto.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/to_str.h>

#include <epan/dissectors/packet-ip.h> /* stands on those above */

enum { PORT_VXLAN = 4789, PORT_GENEVE = 6081 };

static dissector_handle_t stock_udp;
static dissector_table_t udp_ports;
static struct payloads *payloads;

static bool read_address(const address *from, struct address *to)
{
    *to = (struct address){ 0 };
    if (from->type == AT_IPv4 && from->len == 4)
        to->version = 4;
    else if (from->type == AT_IPv6 && from->len == 16)
        to->version = 6;
    else
        return false;
    memcpy(to->bytes, from->data, (size_t)from->len);
    return true;
}

/* |data|: what the dissector of IP gave along. */
static void note(tvbuff_t *tvb, const packet_info *pinfo, uint8_t protocol, const void *data)
{
    /* what an ICMP error quotes was not sent here */
    if (pinfo->flags.in_error_pkt)
        return;
    /* the second pass of two may begin with the number at which the first has ended */
    if (pinfo->num != payloads->frame || pinfo->fd->visited != payloads->visited)
        payloads->count = 0;
    payloads->frame = pinfo->num;
    payloads->visited = pinfo->fd->visited;
    const ws_ip4 *header = WS_IP4_PTR(data);
    struct ip_payload payload = { .protocol = protocol, .id = header ? header->ip_id : 0 };
    if (!read_address(&pinfo->net_src, &payload.source) ||
        !read_address(&pinfo->net_dst, &payload.destination))
        return;
    payload.cap_len = tvb_captured_length(tvb);
    payload.wire_len = MAX(tvb_reported_length(tvb), payload.cap_len);
    payload.data =
        payload.cap_len ? tvb_get_ptr(tvb, 0, (int)payload.cap_len) : (const uint8_t *)"";
    if (payloads->count == payloads->room) {
        payloads->room = payloads->room ? payloads->room * 2 : 8;
        payloads->items = g_renew(struct ip_payload, payloads->items, payloads->room);
    }
    payloads->items[payloads->count++] = payload;
}

static int dissect_tcp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    (void)tree;
    note(tvb, pinfo, IP_PROTO_TCP, data);
    return (int)tvb_captured_length(tvb);
}

/* Does a dissector of a tunnel wait for datagrams to this port (registered, or by Decode As)?
 * VXLAN and Geneve on their own ports are left to the engine, which opens them at every door. */
static bool port_is_tunnel(uint16_t port)
{
    static const char *const tunnels[] = { "vxlan",  "vxlan_gpe", "geneve",      "gtp",
                                           "l2tp",   "teredo",    "gre",         "mpls",
                                           "tzsp",   "lisp-data", "capwap.data", "nsh",
                                           "etherip" };
    dissector_handle_t handle = port == PORT_VXLAN || port == PORT_GENEVE
                                    ? NULL
                                    : dissector_get_uint_handle(udp_ports, port);
    if (!handle)
        return false;
    const char *name = proto_get_protocol_filter_name(dissector_handle_get_protocol_index(handle));
    for (size_t i = 0; name && i < array_length(tunnels); i++)
        if (!strcmp(name, tunnels[i]))
            return true;
    return false;
}

static int dissect_udp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    note(tvb, pinfo, IP_PROTO_UDP, data);
    if (stock_udp && tvb_captured_length(tvb) >= 8 &&
        (port_is_tunnel(tvb_get_ntohs(tvb, 2)) || port_is_tunnel(tvb_get_ntohs(tvb, 0))))
        call_dissector_only(stock_udp, tvb, pinfo, tree, data);
    return (int)tvb_captured_length(tvb);
}

void payload_start(struct payloads *to)
{
    /* what would keep fragments apart, or payloads from our handles */
    static const char *const preferences[] = {
        "ip.defragment:TRUE",   "ip.check_checksum:FALSE",      "ip.tso_support:TRUE",
        "ipv6.defragment:TRUE", "ip.try_heuristic_first:FALSE", "ipv6.try_heuristic_first:FALSE",
        "ipv6.tso_support:TRUE"
    };
    for (size_t i = 0; i < array_length(preferences); i++) {
        char *text = g_strdup(preferences[i]), *message = NULL;
        if (prefs_set_pref(text, &message) != PREFS_SET_OK)
            ws_warning("could not set %s", preferences[i]);
        g_free(message);
        g_free(text);
    }
    dissector_table_t protocols = find_dissector_table("ip.proto");
    udp_ports = find_dissector_table("udp.port");
    stock_udp = dissector_get_uint_handle(protocols, IP_PROTO_UDP);
    dissector_change_uint("ip.proto", IP_PROTO_TCP, create_dissector_handle(dissect_tcp, -1));
    dissector_change_uint("ip.proto", IP_PROTO_UDP, create_dissector_handle(dissect_udp, -1));
    payloads = to;
}

const struct ip_payload *payload_take(struct payloads *from, uint32_t number, unsigned *count)
{
    *count = number == from->frame ? from->count : 0;
    from->count = 0;
    return from->items;
}
