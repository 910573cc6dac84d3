/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/address.c
 *
 * Addresses of sockets, and ADDR:PORT.  nfs_address.c has the other form; contract: address.h.
 */
#include "net/address.h"
#include "base/values.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

socklen_t net_address_size(const struct net_address *a)
{
    switch (a->family) {
    case AF_INET:
        return sizeof(a->v4);
    case AF_INET6:
        return sizeof(a->v6);
    default:
        return sizeof(a->family);
    }
}

uint16_t net_address_port(const struct net_address *a)
{
    return a->family == AF_INET    ? ntohs(a->v4.sin_port)
           : a->family == AF_INET6 ? ntohs(a->v6.sin6_port)
                                   : 0;
}

void net_address_set_port(struct net_address *a, uint16_t port)
{
    if (a->family == AF_INET)
        a->v4.sin_port = htons(port);
    else if (a->family == AF_INET6)
        a->v6.sin6_port = htons(port);
}

bool net_address_same_host(const struct net_address *a, const struct net_address *b)
{
    if (a->family != b->family)
        return false;
    if (a->family == AF_INET)
        return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
    return a->family != AF_INET6 ||
           (memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof(a->v6.sin6_addr)) == 0 &&
            a->v6.sin6_scope_id == b->v6.sin6_scope_id);
}

bool net_address_equal(const struct net_address *a, const struct net_address *b)
{
    return net_address_same_host(a, b) && net_address_port(a) == net_address_port(b);
}

bool net_address_is_loopback(const struct net_address *a)
{
    if (a->family == AF_INET)
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return a->family == AF_UNIX ||
           (a->family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr));
}

/* An address of no machine, for examples: RFC 5737 s3, RFC 3849 s2. */
static struct net_address far_away(sa_family_t family)
{
    struct net_address a = { .family = family };

    if (family == AF_INET)
        inet_pton(AF_INET, "192.0.2.1", &a.v4.sin_addr);
    else
        inet_pton(AF_INET6, "2001:db8::1", &a.v6.sin6_addr);
    net_address_set_port(&a, 9);
    return a;
}

bool net_address_is_wildcard(const struct net_address *a)
{
    return (a->family == AF_INET && a->v4.sin_addr.s_addr == htonl(INADDR_ANY)) ||
           (a->family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr));
}

int net_address_of_route(const struct net_address *to, struct net_address *mine)
{
    int fd = socket(to->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int result = fd >= 0 && connect(fd, &to->any, net_address_size(to)) == 0
                     ? net_address_of_socket(fd, mine, NULL)
                     : -ERR_SYSTEM;

    if (fd >= 0)
        close(fd);
    return result;
}

void net_address_name_wildcard(struct net_address *a)
{
    struct net_address away, mine;

    if (!net_address_is_wildcard(a))
        return;
    away = far_away(a->family);
    if (net_address_of_route(&away, &mine) == 0) {
        net_address_set_port(&mine, net_address_port(a));
        *a = mine;
    } else if (a->family == AF_INET) {
        a->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        a->v6.sin6_addr = in6addr_loopback;
    }
}

void net_address_from(struct net_address *to, const struct sockaddr_storage *from)
{
    *to = (struct net_address){ .family = AF_UNSPEC };
    if (from->ss_family == AF_INET)
        memcpy(&to->v4, from, sizeof(to->v4));
    else if (from->ss_family == AF_INET6)
        memcpy(&to->v6, from, sizeof(to->v6));
    else if (from->ss_family == AF_UNIX)
        to->family = AF_UNIX;
}

int net_address_of_socket(int fd, struct net_address *out, struct err *err)
{
    struct sockaddr_storage storage = { 0 };
    socklen_t len = sizeof(storage);

    if (getsockname(fd, (struct sockaddr *)&storage, &len) < 0)
        return err_set(err, ERR_SYSTEM, "the address of a socket: %s", strerror(errno));
    net_address_from(out, &storage);
    return 0;
}

int net_address_of_peer(int fd, struct net_address *out, struct err *err)
{
    struct sockaddr_storage storage = { 0 };
    socklen_t len = sizeof(storage);

    if (getpeername(fd, (struct sockaddr *)&storage, &len) < 0)
        return err_set(err, ERR_SYSTEM, "the address of a peer: %s", strerror(errno));
    net_address_from(out, &storage);
    return 0;
}

const char *net_address_host_text(const struct net_address *a, char text[NET_ADDRESS_TEXT])
{
    text[0] = 0;
    if (a->family == AF_INET) {
        inet_ntop(AF_INET, &a->v4.sin_addr, text, NET_ADDRESS_TEXT);
    } else if (a->family == AF_INET6) {
        inet_ntop(AF_INET6, &a->v6.sin6_addr, text, NET_ADDRESS_TEXT);
        if (a->v6.sin6_scope_id) {
            size_t len = strlen(text);

            snprintf(text + len, NET_ADDRESS_TEXT - len, "%%%u", a->v6.sin6_scope_id);
        }
    } else {
        snprintf(text, NET_ADDRESS_TEXT, "%s", a->family == AF_UNIX ? "local" : "unknown");
    }
    return text;
}

const char *net_address_text(const struct net_address *a, char text[NET_ADDRESS_TEXT])
{
    char host[NET_ADDRESS_TEXT];

    net_address_host_text(a, host);
    if (a->family == AF_INET6)
        snprintf(text, NET_ADDRESS_TEXT, "[%.70s]:%u", host, net_address_port(a));
    else if (a->family == AF_INET)
        snprintf(text, NET_ADDRESS_TEXT, "%.70s:%u", host, net_address_port(a));
    else
        snprintf(text, NET_ADDRESS_TEXT, "%.70s", host);
    return text;
}

/* --- ADDR:PORT */

static int port_parse(const char *text, const char *port, uint16_t *out, struct err *err)
{
    uint64_t number;

    if (!parse_number(port, &number) || number > UINT16_MAX)
        return err_set(err, ERR_USAGE, "%s: the port \"%s\" is not a number from 0 to 65535", text,
                       port);
    *out = (uint16_t)number;
    return 0;
}

int net_address_name_parse(const char *text, struct net_address_name *out, struct err *err)
{
    const char *host = text, *end, *port;

    memset(out, 0, sizeof(*out));
    if (*text == '[') {
        host = text + 1;
        end = strchr(host, ']');
        if (!end)
            return err_set(err, ERR_USAGE, "%s: the bracket is not closed", text);
        port = end + 1;
    } else {
        end = port = strrchr(text, ':');
        if (end && memchr(text, ':', (size_t)(end - text)))
            return err_set(err, ERR_USAGE, "%s: write an IPv6 address in brackets: [ADDR]:PORT",
                           text);
    }
    if (!end || *port != ':' || !port[1])
        return err_set(err, ERR_USAGE, "%s: the port is missing: ADDR:PORT", text);
    if (end - host > NET_ADDRESS_HOST_MAX)
        return err_set(err, ERR_USAGE, "%.40s...: the host is longer than %d bytes", text,
                       NET_ADDRESS_HOST_MAX);
    if (*text == '[' && !memchr(host, ':', (size_t)(end - host)))
        return err_set(err, ERR_USAGE, "%s: only an IPv6 address stands in brackets", text);
    memcpy(out->host, host, (size_t)(end - host));
    return port_parse(text, port + 1, &out->port, err);
}

int net_address_resolve(const struct net_address_name *name, bool passive, struct net_address *out,
                        uint32_t most, struct err *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0) };
    struct addrinfo *list;
    char port[8];
    uint32_t count = 0;
    int result;

    snprintf(port, sizeof(port), "%u", name->port);
    result = getaddrinfo(name->host[0] ? name->host : NULL, port, &hints, &list);
    if (result != 0)
        return err_set(err, result == EAI_SYSTEM || result == EAI_MEMORY ? ERR_SYSTEM : ERR_USAGE,
                       "%s: %s", name->host,
                       result == EAI_SYSTEM ? strerror(errno) : gai_strerror(result));
    for (const struct addrinfo *i = list; i && count < most; i = i->ai_next) {
        struct sockaddr_storage storage = { 0 };

        if (i->ai_family != AF_INET && i->ai_family != AF_INET6)
            continue;
        memcpy(&storage, i->ai_addr, i->ai_addrlen);
        net_address_from(&out[count++], &storage);
    }
    freeaddrinfo(list);
    return count ? (int)count
                 : err_set(err, ERR_USAGE, "%s: has no address of IPv4 or IPv6", name->host);
}

int net_address_parse(const char *text, bool passive, struct net_address *out, struct err *err)
{
    struct net_address_name name;
    int result = net_address_name_parse(text, &name, err);

    if (result == 0)
        result = net_address_resolve(&name, passive, out, 1, err);
    return result < 0 ? result : 0;
}
