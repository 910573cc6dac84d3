/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/address_map.h
 *
 * Addresses to pseudonyms that are still addresses of the same kind.  Every address is of one
 * class; pseudonyms are of the class of their originals, and no two are the same:
 * - the unspecified and broadcast addresses, and the loopback addresses 127.0.0.1 and ::1, stay;
 * - special ranges (RFC 6890: 0/8, 127/8, 169.254/16, 224/4, 240/4, ::/96, fe80::/10, ff00::/8, and
 *   the private ones with RANGE_PRIVATE): the range's prefix (of IPv6 multicast also flags and
 *   scope, of fe80::/64 all 64 bits) stays, Crypto-PAn changes the rest;
 * - ::ffff:0:0/96 and 64:ff9b::/96: the IPv4 address within becomes its pseudonym;
 * - global IPv6 addresses, 2000::/3, stay such; other IPv4 addresses stay outside of all ranges;
 *   likewise what is left of IPv6: Crypto-PAn, again and again until the result is of the class.
 *   So two addresses share as many bits as their pseudonyms do where they share a range's length at
 *   least: 16 bits of IPv4, 12 without 169.254/16 and 192.168/16 around.
 * A range that the policy does not keep is one with the other (IPv6: global) addresses.  Whether
 * addresses leave it depends on the key, for all of a short prefix together; of fc00::/7 and such
 * they do with one key of a few only, since Crypto-PAn flips their first bit or does not.  No
 * analyser minds such a source address: IP headers, checksums and conversations hold, whatever its
 * range.  0/8 and 240/4, which no host may have as its own, are never mixed with others.
 */
#ifndef NFSDIGEST_ANON_ADDRESS_MAP_H
#define NFSDIGEST_ANON_ADDRESS_MAP_H

#include "anon/address_pan.h"
#include "link/frame.h"

struct address_map {
    struct pan pan4, pan6;
    uint32_t ranges; /* RANGE_ bits of policy.h */
};

int address_map_open(struct address_map *map, const uint8_t key4[PAN_KEY_LEN],
                     const uint8_t key6[PAN_KEY_LEN], enum pan_way way, uint32_t ranges,
                     struct err *err);
void address_map_close(struct address_map *map);

/* An address without version stays as it is. */
void address_map_encrypt(const struct address_map *map, const struct address *in,
                         struct address *out);
void address_map_decrypt(const struct address_map *map, const struct address *in,
                         struct address *out);

#endif
