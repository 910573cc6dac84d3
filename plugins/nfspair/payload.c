/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decap=wireshark: libwireshark takes the headers off, the engine gets what is behind IP.
 *
 * Our handles stand in the table "ip.proto" in place of TCP's and UDP's.  They only note what they
 * are given; the "frame" tap, which runs when the frame is done, takes it from there.  That way
 * the engine hears of a frame before its payloads, as at the other doors, and the first pass of
 * "tshark -2", which has no taps, leaves no trace.
 *
 * The notes point into tvbs, which live until the frame's taps have run. */
#include "nfspair.h"

#include <epan/ipproto.h>
#include <epan/prefs.h>
#include <epan/to_str.h>

enum { PORT_VXLAN = 4789 };

static dissector_handle_t tcp_handle, udp_handle; /* ours */
static dissector_handle_t stock_udp;
static dissector_table_t udp_ports;
static bool running;

static struct ip_payload *payloads; /* of frame |noted_frame| */
static unsigned payload_count, payload_room;
static uint32_t noted_frame;

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

static void note(tvbuff_t *tvb, const packet_info *pinfo, uint8_t protocol)
{
    /* what an ICMP error quotes was not sent here */
    if (!running || pinfo->flags.in_error_pkt)
        return;
    if (pinfo->num != noted_frame)
        payload_count = 0;
    noted_frame = pinfo->num;
    struct ip_payload payload = { .protocol = protocol };
    if (!read_address(&pinfo->net_src, &payload.source) ||
        !read_address(&pinfo->net_dst, &payload.destination))
        return;
    payload.cap_len = tvb_captured_length(tvb);
    payload.wire_len = MAX(tvb_reported_length(tvb), payload.cap_len);
    payload.data =
        payload.cap_len ? tvb_get_ptr(tvb, 0, (int)payload.cap_len) : (const uint8_t *)"";
    if (payload_count == payload_room) {
        payload_room = payload_room ? payload_room * 2 : 8;
        payloads = g_renew(struct ip_payload, payloads, payload_room);
    }
    payloads[payload_count++] = payload;
}

static int dissect_tcp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    (void)tree;
    (void)data;
    note(tvb, pinfo, IP_PROTO_TCP);
    return (int)tvb_captured_length(tvb);
}

/* Does a dissector of a tunnel wait for datagrams to this port (registered, or by Decode As)?
 * VXLAN on its own port is left to the engine, which opens it at every door. */
static bool port_is_tunnel(uint16_t port)
{
    static const char *const tunnels[] = { "vxlan",  "vxlan_gpe", "geneve",      "gtp",
                                           "l2tp",   "teredo",    "gre",         "mpls",
                                           "tzsp",   "lisp-data", "capwap.data", "nsh",
                                           "etherip" };
    dissector_handle_t handle =
        port == PORT_VXLAN ? NULL : dissector_get_uint_handle(udp_ports, port);
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
    note(tvb, pinfo, IP_PROTO_UDP);
    if (stock_udp && tvb_captured_length(tvb) >= 8 &&
        (port_is_tunnel(tvb_get_ntohs(tvb, 2)) || port_is_tunnel(tvb_get_ntohs(tvb, 0))))
        call_dissector_only(stock_udp, tvb, pinfo, tree, data);
    return (int)tvb_captured_length(tvb);
}

void payload_register(void)
{
    tcp_handle = create_dissector_handle(dissect_tcp, proto_nfspair);
    udp_handle = create_dissector_handle(dissect_udp, proto_nfspair);
}

void payload_start(void)
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
            ws_warning("nfspair: could not set %s", preferences[i]);
        g_free(message);
        g_free(text);
    }
    dissector_table_t protocols = find_dissector_table("ip.proto");
    udp_ports = find_dissector_table("udp.port");
    stock_udp = dissector_get_uint_handle(protocols, IP_PROTO_UDP);
    dissector_change_uint("ip.proto", IP_PROTO_TCP, tcp_handle);
    dissector_change_uint("ip.proto", IP_PROTO_UDP, udp_handle);
    proto_set_decoding(proto_nfspair, TRUE);
    running = true;
}

const struct ip_payload *payload_take(uint32_t number, unsigned *count)
{
    *count = number == noted_frame ? payload_count : 0;
    payload_count = 0;
    return payloads;
}

void payload_free(void)
{
    g_free(payloads);
    payloads = NULL;
    payload_count = payload_room = 0;
    running = false;
}
