/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net/universal_address.h"

#include <arpa/inet.h>
#include <stdio.h>

/* The number behind the last dot, which goes with it. */
static bool take_byte(char *text, uint32_t *value)
{
    char *dot = strrchr(text, '.'), *p;

    if (!dot || !dot[1] || strlen(dot + 1) > 3)
        return false;
    *value = 0;
    for (p = dot + 1; *p; p++) {
        if (*p < '0' || *p > '9')
            return false;
        *value = *value * 10 + (uint32_t)(*p - '0');
    }
    *dot = '\0';
    return *value <= 255;
}

bool universal_address_read(struct bytes text, struct net_address *to)
{
    char copy[UNIVERSAL_ADDRESS_MAX];
    uint32_t high, low;

    if (text.len >= sizeof(copy) || (text.len && memchr(text.data, 0, text.len)))
        return false;
    if (text.len)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    if (!take_byte(copy, &low) || !take_byte(copy, &high))
        return false;
    *to = (struct net_address){ .v6 = { .sin6_family = AF_INET6 } };
    if (inet_pton(AF_INET6, copy, &to->v6.sin6_addr) != 1) {
        *to = (struct net_address){ .v4 = { .sin_family = AF_INET } };
        if (inet_pton(AF_INET, copy, &to->v4.sin_addr) != 1)
            return false;
    }
    net_address_set_port(to, (uint16_t)(high << 8 | low));
    return true;
}

const char *universal_address_text(const struct net_address *address,
                                   char text[UNIVERSAL_ADDRESS_MAX])
{
    const void *bytes = address->family == AF_INET6 ? (const void *)&address->v6.sin6_addr
                                                    : (const void *)&address->v4.sin_addr;
    char host[INET6_ADDRSTRLEN];
    uint16_t port;

    *text = '\0';
    if ((address->family == AF_INET || address->family == AF_INET6) &&
        inet_ntop(address->family, bytes, host, sizeof(host))) {
        port = net_address_port(address);
        snprintf(text, UNIVERSAL_ADDRESS_MAX, "%s.%u.%u", host, port >> 8, port & 0xff);
    }
    return text;
}

const char *universal_address_netid(sa_family_t family, bool udp)
{
    return family == AF_INET6 ? (udp ? "udp6" : "tcp6") : (udp ? "udp" : "tcp");
}
