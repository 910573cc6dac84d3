/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers are from IANA's registries (ether types, protocol numbers, ports),
 * tcpdump.org/linktypes.html and IEEE 802. */
#include "link/unopened.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *counter; /* ending in '.': any number */
    const char *name;
} encapsulations[] = {
    { "ether_type.0x22f3", "TRILL" },
    { "ether_type.0x4305", "B.A.T.M.A.N." },
    { "ether_type.0x88e5", "MACsec" },
    { "ether_type.0x8903", "FabricPath" },
    { "ether_type.0x8909", "Cisco MetaData" },
    { "ether_type.0x893f", "802.1BR E-Tag" },
    { "ether_type.0x894f", "NSH" },
    { "ether_type.0x9200", "QinQ 0x9200" },
    { "ether_type.0x9300", "QinQ 0x9300" },
    { "gre_version.", "GRE of another version" },
    { "ip_protocol.50", "ESP" },
    { "ip_protocol.55", "minimal IP encapsulation" },
    { "ip_protocol.97", "EtherIP" },
    { "ip_protocol.108", "IPComp" },
    { "ip_protocol.115", "L2TPv3" },
    { "link_type.105", "802.11" },
    { "link_type.119", "802.11 Prism" },
    { "link_type.127", "802.11 radiotap" },
    { "link_type.163", "802.11 AVS" },
    { "link_type.192", "PPI" },
    { "link_type.197", "ERF" },
    { "link_type.", "another link type" },
    { "mpls_nibble.", "MPLS without IP or Ethernet" },
    { "nflog_family.", "NFLOG of another family" },
    { "ppp_protocol.0x003d", "PPP multilink" },
    { "ppp_protocol.0x00fd", "compressed PPP" },
    { "sll_hardware.", "cooked frames of another hardware" },
    { "too_many_encapsulations", "too many layers" },
    { "udp_tunnel.1701", "L2TP" },
    { "udp_tunnel.2152", "GTP" },
    { "udp_tunnel.3544", "Teredo" },
    { "udp_tunnel.4754", "GRE in UDP" },
    { "udp_tunnel.4790", "VXLAN-GPE" },
    { "udp_tunnel.5247", "CAPWAP" },
    { "udp_tunnel.6635", "MPLS in UDP" },
    { "udp_tunnel.37008", "TZSP" },
};

/* An RPC message begins with a random XID, so the first word tells most others apart. */
static const struct {
    uint16_t port;
    uint32_t mask, value;
} tunnels[] = {
    { 1701, 0x800f0000, 0x00020000 },  /* RFC 2661 s3.1: data, version 2 */
    { 2152, 0xf0ff0000, 0x30ff0000 },  /* 3GPP TS 29.281 s5.1: version 1, G-PDU */
    { 3544, 0xf0000000, 0x60000000 },  /* RFC 4380: IPv6 */
    { 4754, 0x4ff80000, 0x00000000 },  /* RFC 8086: GRE, version 0, no reserved bits */
    { 4790, 0x0c000000, 0x0c000000 },  /* RFC 9600 and VXLAN-GPE: flags I and P */
    { 5247, 0xff000000, 0x00000000 },  /* RFC 5415 s4.1 */
    { 6635, 0x00000000, 0x00000000 },  /* RFC 7510 */
    { 37008, 0xff000000, 0x01000000 }, /* TaZmen Sniffer Protocol, version 1 */
};

uint16_t unopened_tunnel(uint16_t port, uint32_t first)
{
    for (size_t i = 0; i < sizeof(tunnels) / sizeof(*tunnels); i++)
        if (tunnels[i].port == port)
            return (first & tunnels[i].mask) == tunnels[i].value ? port : 0;
    return 0;
}

static const char *encapsulation_of(const char *counter)
{
    for (size_t i = 0; i < sizeof(encapsulations) / sizeof(*encapsulations); i++) {
        const char *known = encapsulations[i].counter;
        size_t len = strlen(known);

        if (known[len - 1] == '.' ? strncmp(counter, known, len) == 0 : strcmp(counter, known) == 0)
            return encapsulations[i].name;
    }
    return NULL;
}

int unopened_add(void *unopened, const char *name, uint64_t value, struct err *err)
{
    struct unopened *u = unopened;
    size_t used = strlen(u->names);
    const char *what;

    (void)err;
    if (strncmp(name, "link.", 5) == 0)
        name += 5;
    what = encapsulation_of(name);
    if (!what)
        return 0;
    u->packets += value;
    if (sizeof(u->names) - used > strlen(what) + 24)
        snprintf(u->names + used, sizeof(u->names) - used, "%s%s %llu", used ? ", " : "", what,
                 (unsigned long long)value);
    return 0;
}
