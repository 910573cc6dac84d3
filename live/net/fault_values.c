/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/fault_values.c
 *
 * Values of the words of a fault rule (fault_parts.h): path patterns, client addresses, handles,
 * times and probabilities, read and printed.
 */
#include "net/fault_parts.h"
#include "base/values.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff }; /* RFC 4291 s2.5.5.2 */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

int fault_read_path(struct fault_rule *rule, const char *text, struct err *err)
{
    if (!*text)
        return err_set(err, ERR_USAGE, "path: a pattern is missing, such as path=/a/*");
    for (const char *p = text; *p; p++) {
        uint16_t token = (uint8_t)*p;

        if (rule->glob_len == sizeof(rule->glob) / sizeof(*rule->glob))
            return err_set(err, ERR_USAGE, "path: longer than %zu bytes",
                           sizeof(rule->glob) / sizeof(*rule->glob));
        if (*p == '*') {
            token = GLOB_MANY;
            if (rule->glob_len && rule->glob[rule->glob_len - 1] == GLOB_MANY)
                continue;
        } else if (*p == '?') {
            token = GLOB_ONE;
        } else if (p[0] == '\\' && p[1] == '\\') {
            p++;
        } else if (*p == '\\') {
            if (p[1] != 'x' || hex(p[2]) < 0 || hex(p[3]) < 0)
                return err_set(err, ERR_USAGE,
                               "path: after a backslash stands another one, or xNN");
            token = (uint16_t)(hex(p[2]) << 4 | hex(p[3]));
            p += 3;
        }
        rule->glob[rule->glob_len++] = token;
    }
    return 0;
}

bool fault_address(const struct sockaddr *from, uint8_t to[16])
{
    if (!from)
        return false;
    if (from->sa_family == AF_INET) {
        memcpy(to, mapped, sizeof(mapped));
        memcpy(to + 12, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
        return true;
    }
    if (from->sa_family != AF_INET6)
        return false;
    memcpy(to, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, 16);
    return true;
}

static int bad_client(const char *text, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "client: \"%.80s\" is not an address: ADDR or ADDR/BITS, IPv6 in brackets",
                   text);
}

int fault_read_client(struct fault_rule *rule, const char *text, struct err *err)
{
    char address[INET6_ADDRSTRLEN] = "";
    const char *end = *text == '[' ? strchr(text, ']') : text + strcspn(text, "/");
    const char *begin = text + (*text == '[');
    uint64_t bits, most = *text == '[' ? 128 : 32;

    if (!end || (size_t)(end - begin) >= sizeof(address))
        return bad_client(text, err);
    memcpy(address, begin, (size_t)(end - begin));
    if (*text == '[') {
        if (inet_pton(AF_INET6, address, rule->client) != 1)
            return bad_client(text, err);
        end++;
    } else {
        memcpy(rule->client, mapped, sizeof(mapped));
        if (inet_pton(AF_INET, address, rule->client + 12) != 1)
            return bad_client(text, err);
    }
    bits = most;
    if (*end == '/' && (!parse_number(end + 1, &bits) || bits > most))
        return err_set(err, ERR_USAGE, "client: \"%.20s\" is not a number of bits from 0 to %u",
                       end + 1, (unsigned)most);
    if (*end && *end != '/')
        return bad_client(text, err);
    rule->client_bits = (uint8_t)(128 - most + bits);
    for (uint32_t i = rule->client_bits; i < 128; i++) /* host bits say nothing */
        rule->client[i / 8] &= (uint8_t)~(0x80 >> i % 8);
    return 0;
}

void fault_print_client(const struct fault_rule *rule, char *to, size_t room)
{
    bool v4 = rule->client_bits >= 96 && memcmp(rule->client, mapped, sizeof(mapped)) == 0;
    char address[INET6_ADDRSTRLEN] = "", bits[8] = "";

    inet_ntop(v4 ? AF_INET : AF_INET6, rule->client + (v4 ? 12 : 0), address, sizeof(address));
    if (rule->client_bits < 128)
        snprintf(bits, sizeof(bits), "/%u", rule->client_bits - (v4 ? 96u : 0u));
    snprintf(to, room, v4 ? "%s%s" : "[%s]%s", address, bits);
}

int fault_read_object(struct fault_rule *rule, const char *text, struct err *err)
{
    size_t len = strlen(text);

    if (len == 0 || len % 2 || len / 2 > FAULT_HANDLE_MAX)
        return err_set(err, ERR_USAGE,
                       "object: a handle has 1 to %d bytes of two hexadecimal digits each",
                       FAULT_HANDLE_MAX);
    for (size_t i = 0; i < len; i += 2) {
        if (hex(text[i]) < 0 || hex(text[i + 1]) < 0)
            return err_set(err, ERR_USAGE, "object: \"%.2s\" is not a byte in hexadecimal digits",
                           text + i);
        rule->object[i / 2] = (uint8_t)(hex(text[i]) << 4 | hex(text[i + 1]));
    }
    rule->object_len = (uint8_t)(len / 2);
    return 0;
}

/* Times may be negative, where somebody has a use for it. */
bool fault_read_time(const char *text, uint64_t *value)
{
    int64_t ns;

    if (!parse_duration(text + (*text == '-'), &ns))
        return false;
    *value = (uint64_t)(*text == '-' ? -ns : ns);
    return true;
}

void fault_print_time(uint64_t value, char *to, size_t room)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {
        { INT64_C(3600000000000), "h" },
        { INT64_C(60000000000), "m" },
        { 1000000000, "s" },
        { 1000000, "ms" },
        { 1000, "us" },
        { 1, "ns" },
    };
    int64_t ns = (int64_t)value;
    size_t i = 0;

    while (i + 1 < sizeof(units) / sizeof(*units) && (ns == 0 || ns % units[i].ns))
        i++;
    snprintf(to, room, "%lld%s", (long long)(ns / units[i].ns), ns ? units[i].name : "s");
}

/* 1 is a thousand millions. */
bool fault_read_share(const char *text, uint64_t *value)
{
    int64_t billionths;

    if (text[strspn(text, "0123456789.")] || !parse_duration(text, &billionths) || billionths < 1 ||
        billionths > 1000000000)
        return false;
    *value = (uint64_t)billionths;
    return true;
}

void fault_print_share(uint64_t value, char *to, size_t room)
{
    char digits[16];
    size_t len = 9;

    if (value >= 1000000000) {
        snprintf(to, room, "1");
        return;
    }
    snprintf(digits, sizeof(digits), "%09llu", (unsigned long long)value);
    while (len > 1 && digits[len - 1] == '0')
        len--;
    snprintf(to, room, "0.%.*s", (int)len, digits);
}
