/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/address_map.h
 *
 * Replaces addresses by pseudonyms of the same kind.  Every address belongs to one class.  Its
 * pseudonym is of the same class, and no two addresses have the same pseudonym:
 * - The unspecified and broadcast addresses and the loopback addresses 127.0.0.1 and ::1 stay.
 * - Special ranges (RFC 6890: 0/8, 127/8, 169.254/16, 224/4, 240/4, ::/96, fe80::/10, ff00::/8, and
 *   with RANGE_PRIVATE the private ones): the prefix of the range stays, and Crypto-PAn changes the
 *   rest.  Of IPv6 multicast, flags and scope stay, too; of fe80::/64, all 64 bits.
 * - ::ffff:0:0/96 and 64:ff9b::/96: the IPv4 address inside becomes its pseudonym.
 * - Global IPv6 addresses, 2000::/3, stay global.  Other IPv4 addresses stay outside of all ranges,
 *   and so do the remaining IPv6 addresses: Crypto-PAn is repeated until the result is of the
 *   class.  So two addresses share as many bits as their pseudonyms, if they share at least the
 *   length of a range: 16 bits of IPv4, 12 if neither 169.254/16 nor 192.168/16 is near.
 * A range that the policy does not keep is treated like all other (IPv6: global) addresses.  The
 * key decides whether its addresses leave the range, for all addresses with a short prefix
 * together.  Addresses of fc00::/7 leave it with few keys only, because Crypto-PAn either flips
 * their first bit or does not.  Such a source address disturbs no analyzer: IP headers, checksums
 * and conversations are right in any range.  0/8 and 240/4, which no host can have, are never mixed
 * with other addresses.
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
