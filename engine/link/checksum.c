/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/checksum.h"
#include "base/bytes.h"

#include <string.h>

enum { UDP_HEADER = 8, PROTOCOL_UDP = 17 };

/* Of at most 65535 bytes, not folded. Words are added in the host's order, and the sum is turned:
 * RFC 1071 s2(B). */
static uint32_t sum(const uint8_t *data, uint32_t len)
{
    enum { STEP = 4 };
    uint64_t words[STEP], low = 0, high = 0, s; /* halves of words: no carry is lost */

    for (; len >= sizeof(words); data += sizeof(words), len -= sizeof(words)) {
        memcpy(words, data, sizeof(words));
        for (unsigned i = 0; i < STEP; i++) {
            low += (uint32_t)words[i];
            high += words[i] >> 32;
        }
    }
    memset(words, 0, sizeof(words));
    memcpy(words, data, len);
    for (unsigned i = 0; i < STEP; i++) {
        low += (uint32_t)words[i];
        high += words[i] >> 32;
    }
    s = low + high;
    while (s >> 16)
        s = (s & 0xffff) + (s >> 16);
    return be16toh((uint16_t)s);
}

static uint32_t fold(uint32_t s)
{
    s = (s & 0xffff) + (s >> 16);
    return (s & 0xffff) + (s >> 16);
}

enum checksum checksum_udp(const struct address *source, const struct address *destination,
                           const uint8_t *data, uint32_t len)
{
    unsigned width = address_len(source);
    uint32_t pseudo;
    uint16_t field;

    if (len < UDP_HEADER || load_be16(data + 4) != len)
        return CHECKSUM_BAD;
    field = load_be16(data + 6);
    pseudo = fold(sum(source->bytes, width) + sum(destination->bytes, width) + PROTOCOL_UDP + len);
    if (!field || field == pseudo)
        return CHECKSUM_NONE;
    return fold(pseudo + fold(sum(data, len))) == 0xffff ? CHECKSUM_GOOD : CHECKSUM_BAD;
}
