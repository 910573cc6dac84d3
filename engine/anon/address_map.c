/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/address_map.h"
#include "anon/policy.h"

#include <string.h>

/* What becomes of the addresses of a class. */
enum treatment { STAYS, KEEPS_PREFIX, HOLDS_IPV4, WALKS };

struct range {
    uint8_t bytes[16];
    uint8_t bits; /* of the prefix */
    uint8_t keep; /* bits that stay with KEEPS_PREFIX */
    uint8_t treatment;
    uint32_t asks; /* RANGE_ bits: without it, and the range is no class of its own; 0: always */
};

/* The first that fits is the class. */
static const struct range ranges4[] = {
    { { 0, 0, 0, 0 }, 32, 32, STAYS, 0 },
    { { 255, 255, 255, 255 }, 32, 32, STAYS, 0 },
    { { 127, 0, 0, 1 }, 32, 32, STAYS, 0 },
    { { 0 }, 8, 8, KEEPS_PREFIX, 0 },
    { { 127 }, 8, 8, KEEPS_PREFIX, RANGE_LOOPBACK },
    { { 169, 254 }, 16, 16, KEEPS_PREFIX, RANGE_LINK_LOCAL },
    { { 224 }, 4, 4, KEEPS_PREFIX, RANGE_MULTICAST },
    { { 240 }, 4, 4, KEEPS_PREFIX, 0 },
    { { 10 }, 8, 8, KEEPS_PREFIX, RANGE_PRIVATE },
    { { 172, 16 }, 12, 12, KEEPS_PREFIX, RANGE_PRIVATE },
    { { 192, 168 }, 16, 16, KEEPS_PREFIX, RANGE_PRIVATE },
    { { 0 }, 0, 0, WALKS, 0 },
};

/* Global addresses, and those whose range is not kept: one class, that of the first of these. */
enum { GLOBAL6 = 9 };
static const struct range ranges6[] = {
    { { 0 }, 128, 128, STAYS, 0 },
    { { [15] = 1 }, 128, 128, STAYS, 0 },
    { { [10] = 0xff, [11] = 0xff }, 96, 96, HOLDS_IPV4, 0 },
    { { 0, 0x64, 0xff, 0x9b }, 96, 96, HOLDS_IPV4, 0 },
    { { 0xfe, 0x80 }, 64, 64, KEEPS_PREFIX, RANGE_LINK_LOCAL },
    { { 0xfe, 0x80 }, 10, 10, KEEPS_PREFIX, RANGE_LINK_LOCAL },
    { { 0xff }, 8, 16, KEEPS_PREFIX, RANGE_MULTICAST },
    { { 0xfc }, 7, 7, KEEPS_PREFIX, RANGE_PRIVATE },
    { { 0 }, 96, 96, KEEPS_PREFIX, 0 },
    [GLOBAL6] = { { 0x20 }, 3, 0, WALKS, 0 },
    { { 0xfe, 0x80 }, 10, 0, WALKS, 0 },
    { { 0xff }, 8, 0, WALKS, 0 },
    { { 0xfc }, 7, 0, WALKS, 0 },
    { { 0 }, 0, 0, WALKS, 0 },
};

enum { REST6 = sizeof(ranges6) / sizeof(*ranges6) - 1 };

int address_map_open(struct address_map *map, const uint8_t key4[PAN_KEY_LEN],
                     const uint8_t key6[PAN_KEY_LEN], enum pan_way way, uint32_t ranges,
                     struct err *err)
{
    memset(map, 0, sizeof(*map));
    map->ranges = ranges;
    return pan_open(&map->pan4, key4, way, err) < 0 ? -ERR_SYSTEM
                                                    : pan_open(&map->pan6, key6, way, err);
}

void address_map_close(struct address_map *map)
{
    pan_close(&map->pan4);
    pan_close(&map->pan6);
}

static bool fits(const struct range *range, const uint8_t *bytes)
{
    unsigned whole = range->bits / 8, left = range->bits % 8;

    return memcmp(range->bytes, bytes, whole) == 0 &&
           (!left || !((range->bytes[whole] ^ bytes[whole]) >> (8 - left)));
}

static const struct range *class_of(const struct address_map *map, const uint8_t *bytes,
                                    unsigned len)
{
    const struct range *range = len == 4 ? ranges4 : ranges6;

    while ((range->asks && !(map->ranges & range->asks)) || !fits(range, bytes))
        range++;
    if (len == 16 && range->treatment == WALKS && range != &ranges6[REST6])
        return &ranges6[GLOBAL6];
    return range;
}

static void convert(const struct address_map *map, const uint8_t *in, uint8_t *out, unsigned len,
                    bool back)
{
    const struct range *range = class_of(map, in, len);
    const struct pan *pan = len == 4 ? &map->pan4 : &map->pan6;
    uint8_t bytes[16];

    memcpy(bytes, in, len);
    if (range->treatment == HOLDS_IPV4)
        convert(map, in + 12, bytes + 12, 4, back); /* once: IPv4 has no such class */
    else if (range->treatment != STAYS)
        do /* Where a class is rare, it has all of a short prefix, and prefixes are permuted, too:
            * some such prefix comes again after 2^10 steps at most, of IPv4 2^16. */
            (back ? pan_decrypt : pan_encrypt)(pan, bytes, bytes, len, range->keep);
        while (class_of(map, bytes, len) != range);
    memcpy(out, bytes, len);
}

void address_map_encrypt(const struct address_map *map, const struct address *in,
                         struct address *out)
{
    struct address result = *in;

    if (in->version)
        convert(map, in->bytes, result.bytes, address_len(in), false);
    *out = result;
}

void address_map_decrypt(const struct address_map *map, const struct address *in,
                         struct address *out)
{
    struct address result = *in;

    if (in->version)
        convert(map, in->bytes, result.bytes, address_len(in), true);
    *out = result;
}
