/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/checksum.h
 *
 * Checks the checksums of UDP datagrams (RFC 768, RFC 8200 s8.1).
 */
#ifndef NFSDIGEST_LINK_CHECKSUM_H
#define NFSDIGEST_LINK_CHECKSUM_H

#include "link/frame.h"

enum checksum {
    CHECKSUM_GOOD,
    CHECKSUM_NONE, /* 0, or the sum of the pseudo-header alone, which a network card completes */
    CHECKSUM_BAD,  /* also if the length in the header is not |len| */
};

/* Checks the |len| bytes at |data|, which begin with the UDP header. */
enum checksum checksum_udp(const struct address *source, const struct address *destination,
                           const uint8_t *data, uint32_t len);

#endif
