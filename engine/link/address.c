/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of addresses: RFC 5952 s4 (and s5 for the IPv4-mapped prefix). */
#include "link/frame.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

bool address_equal(const struct address *a, const struct address *b)
{
    if (a->version != b->version)
        return false;
    return !a->version || memcmp(a->bytes, b->bytes, address_len(a)) == 0;
}

static uint16_t group(const struct address *a, unsigned i)
{
    return (uint16_t)(a->bytes[2 * i] << 8 | a->bytes[2 * i + 1]);
}

static void text4(const uint8_t *bytes, char *text, size_t size)
{
    snprintf(text, size, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
}

static void text6(const struct address *a, char text[ADDRESS_TEXT_MAX])
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    unsigned best = 8, best_len = 1; /* one group alone is not shortened: s4.2.2 */
    size_t at = 0;

    if (memcmp(a->bytes, mapped, sizeof(mapped)) == 0) {
        memcpy(text, "::ffff:", 7);
        text4(a->bytes + 12, text + 7, ADDRESS_TEXT_MAX - 7);
        return;
    }
    for (unsigned i = 0; i < 8; i++) {
        unsigned len = 0;

        while (i + len < 8 && !group(a, i + len))
            len++;
        if (len > best_len) { /* the first of equal ones: s4.2.3 */
            best = i;
            best_len = len;
        }
        i += len;
    }
    for (unsigned i = 0; i < 8;) {
        if (i == best) {
            memcpy(text + at, "::", 2);
            at += 2;
            i += best_len;
            continue;
        }
        if (i && text[at - 1] != ':')
            text[at++] = ':';
        at += (size_t)snprintf(text + at, ADDRESS_TEXT_MAX - at, "%x", group(a, i));
        i++;
    }
    text[at] = '\0';
}

const char *address_text(const struct address *a, char text[ADDRESS_TEXT_MAX])
{
    if (a->version == 4)
        text4(a->bytes, text, ADDRESS_TEXT_MAX);
    else if (a->version == 6)
        text6(a, text);
    else
        memcpy(text, "-", 2);
    return text;
}

bool address_read(const char *text, size_t len, struct address *a)
{
    char whole[ADDRESS_TEXT_MAX];

    memset(a, 0, sizeof(*a));
    if (len >= sizeof(whole))
        return false;
    memcpy(whole, text, len);
    whole[len] = '\0';
    if (inet_pton(AF_INET, whole, a->bytes) == 1)
        a->version = 4;
    else if (inet_pton(AF_INET6, whole, a->bytes) == 1)
        a->version = 6;
    return a->version != 0;
}
