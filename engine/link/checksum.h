/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/checksum.h
 *
 * What a UDP checksum says about a datagram (RFC 768, RFC 8200 s8.1).
 */
#ifndef NFSDIGEST_LINK_CHECKSUM_H
#define NFSDIGEST_LINK_CHECKSUM_H

#include "link/frame.h"

enum checksum {
    CHECKSUM_GOOD,
    CHECKSUM_NONE, /* 0, or the sum of the pseudo-header alone, which a network card completes */
    CHECKSUM_BAD,  /* or the length is another */
};

/* |len| bytes at |data| from the UDP header on. */
enum checksum checksum_udp(const struct address *source, const struct address *destination,
                           const uint8_t *data, uint32_t len);

#endif
