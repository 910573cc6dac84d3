/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/address_text.h"

#include <arpa/inet.h>
#include <string.h>

bool address_parse(const uint8_t *text, size_t len, struct address *out)
{
    char in[ADDRESS_TEXT_MAX], again[ADDRESS_TEXT_MAX];
    struct address a = { 0 };

    if (!len || len >= sizeof(in) || memchr(text, 0, len))
        return false;
    memcpy(in, text, len);
    in[len] = '\0';
    a.version = memchr(in, ':', len) ? 6 : 4;
    if (inet_pton(a.version == 6 ? AF_INET6 : AF_INET, in, a.bytes) != 1 ||
        strcmp(address_text(&a, again), in) != 0)
        return false;
    *out = a;
    return true;
}

/* A number as it is written: without leading zeros, at most |max|. */
static bool parse_decimal(const uint8_t *text, size_t len, unsigned max, unsigned *out)
{
    unsigned value = 0;

    if (!len || len > 3 || (len > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    *out = value;
    return value <= max;
}

static bool is_netmask(const uint8_t *text, size_t len)
{
    struct address mask;
    uint32_t host;

    if (!address_parse(text, len, &mask) || mask.version != 4)
        return false;
    host = ~((uint32_t)mask.bytes[0] << 24 | (uint32_t)mask.bytes[1] << 16 |
             (uint32_t)mask.bytes[2] << 8 | mask.bytes[3]);
    return !(host & (host + 1)); /* all ones are at the end */
}

bool address_parse_network(const uint8_t *text, size_t len, struct address *out, size_t *rest)
{
    const uint8_t *slash = len ? memchr(text, '/', len) : NULL;
    size_t head = slash ? (size_t)(slash - text) : len;
    unsigned bits;

    if (!address_parse(text, head, out))
        return false;
    *rest = head;
    return !slash ||
           parse_decimal(slash + 1, len - head - 1, out->version == 4 ? 32 : 128, &bits) ||
           (out->version == 4 && is_netmask(slash + 1, len - head - 1));
}

bool address_parse_universal(const uint8_t *text, size_t len, struct address *out, uint16_t *port)
{
    const uint8_t *low = len ? memrchr(text, '.', len) : NULL;
    const uint8_t *high = low ? memrchr(text, '.', (size_t)(low - text)) : NULL;
    unsigned bytes[2];

    if (!high || !parse_decimal(high + 1, (size_t)(low - high - 1), 255, &bytes[0]) ||
        !parse_decimal(low + 1, (size_t)(text + len - low - 1), 255, &bytes[1]) ||
        !address_parse(text, (size_t)(high - text), out))
        return false;
    *port = (uint16_t)(bytes[0] << 8 | bytes[1]);
    return true;
}
