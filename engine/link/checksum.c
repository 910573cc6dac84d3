/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link/checksum.h"
#include "base/bytes.h"

enum { UDP_HEADER = 8, PROTOCOL_UDP = 17 };

/* Of at most 65535 bytes: 32 bits hold it. */
static uint32_t sum(const uint8_t *data, uint32_t len)
{
    uint32_t s = 0;

    for (; len > 1; data += 2, len -= 2)
        s += load_be16(data);
    return len ? s + ((uint32_t)*data << 8) : s;
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
