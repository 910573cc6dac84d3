/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/universal_address.h
 *
 * Universal addresses of RPCBIND (RFC 5665 s5.2.3.3 and s5.2.3.4): an address, and the port's two
 * bytes as decimal numbers: "192.0.2.1.8.1" and "2001:db8::1.8.1" have port 2049.
 */
#ifndef NFSDIGEST_NET_UNIVERSAL_ADDRESS_H
#define NFSDIGEST_NET_UNIVERSAL_ADDRESS_H

#include "base/bytes.h"
#include "net/address.h"

enum { UNIVERSAL_ADDRESS_MAX = 64 }; /* with the NUL */

/* Reads a universal address.  Returns false if |text| is not one. */
bool universal_address_read(struct bytes text, struct net_address *to);
/* Writes a universal address; "" for a family other than IPv4 and IPv6.  Returns |text|. */
const char *universal_address_text(const struct net_address *address,
                                   char text[UNIVERSAL_ADDRESS_MAX]);

/* Returns "tcp", "udp", "tcp6" or "udp6" (RFC 5665 s5.1.3 to s5.1.6). */
const char *universal_address_netid(sa_family_t family, bool udp);

#endif
