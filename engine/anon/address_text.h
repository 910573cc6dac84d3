/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/address_text.h
 *
 * Reads texts that are addresses.  Each address is read from one text only, the one that
 * address_text writes (RFC 5952).  So mapping the address maps the text one-to-one.
 */
#ifndef NFSDIGEST_ANON_ADDRESS_TEXT_H
#define NFSDIGEST_ANON_ADDRESS_TEXT_H

#include "link/frame.h"

#include <stddef.h>

/* Each function returns false if |text| has another form. */

bool address_parse(const uint8_t *text, size_t len, struct address *out);

/* Reads an address with or without a prefix length ("10.0.0.0/24", "fe80::/10") or an IPv4 netmask
 * ("10.0.0.0/255.255.255.0").  |*rest| becomes the offset behind the address. */
bool address_parse_network(const uint8_t *text, size_t len, struct address *out, size_t *rest);

/* Reads a universal address (RFC 5665 s5.2.3): an address, and the port's two bytes in decimal. */
bool address_parse_universal(const uint8_t *text, size_t len, struct address *out, uint16_t *port);

#endif
