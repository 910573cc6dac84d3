/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/nfs_address.c
 *
 * nfs://HOST[:PORT]/EXPORT[?nfsport=N&mountport=N], read and written.  Contract: address.h.
 */
#include "net/address.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SCHEME[] = "nfs://";

/* Where the parser stands.  |text| is the whole, for messages. */
struct url {
    const char *text, *at;
    struct err *err;
};

static int bad(const struct url *u, const char *what)
{
    return err_set(u->err, ERR_USAGE, "%.400s: %s", u->text, what);
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Up to one of |ends| or the end, %NN as the byte that it says. */
static int take_encoded(struct url *u, const char *ends, char *to, size_t most, const char *name)
{
    size_t len = 0;

    for (; *u->at && !strchr(ends, *u->at); u->at++) {
        char byte = *u->at;

        if (byte == '%') {
            int high = hex(u->at[1]), low = high < 0 ? -1 : hex(u->at[2]);

            if (low < 0)
                return bad(u,
                           "\"%\" must be followed by two hexadecimal digits (write %25 for it)");
            byte = (char)(high * 16 + low);
            u->at += 2;
            if (!byte)
                return bad(u, "the byte %00 cannot be part of it");
        }
        if (len == most)
            return err_set(u->err, ERR_USAGE, "%.40s...: the %s is longer than %zu bytes", u->text,
                           name, most);
        to[len++] = byte;
    }
    to[len] = 0;
    return 0;
}

static int take_port(struct url *u, const char *name, uint16_t *port)
{
    uint32_t number = 0;

    for (; *u->at >= '0' && *u->at <= '9'; u->at++)
        number = number > UINT16_MAX ? number : number * 10 + (uint32_t)(*u->at - '0');
    if (number < 1 || number > UINT16_MAX)
        return err_set(u->err, ERR_USAGE, "%.400s: %s is not a number from 1 to 65535", u->text,
                       name);
    if (*port && *port != number)
        return err_set(u->err, ERR_USAGE, "%.400s: %s was given before as %u", u->text, name,
                       *port);
    *port = (uint16_t)number;
    return 0;
}

/* Names of DNS, addresses, and the zone of a link-local one behind "%". */
static bool is_host(const char *host)
{
    for (; *host; host++)
        if (!((*host >= 'a' && *host <= 'z') || (*host >= 'A' && *host <= 'Z') ||
              (*host >= '0' && *host <= '9') || strchr("-._%:", *host)))
            return false;
    return true;
}

static int take_host(struct url *u, struct nfs_address *out)
{
    const char *colon = strchr(u->at, ':');
    bool bracket = *u->at == '[';

    if (!bracket && colon && colon + 1 + strcspn(colon + 1, ":") < u->at + strcspn(u->at, "/?"))
        return bad(u, "write an IPv6 address in brackets: nfs://[ADDR]/EXPORT");
    u->at += bracket;
    if (take_encoded(u, bracket ? "]/?" : ":/?[]@", out->host, NET_ADDRESS_HOST_MAX, "host") < 0)
        return -ERR_USAGE;
    if (*u->at == '@')
        return bad(u, "users are not part of it: nfs://HOST[:PORT]/EXPORT");
    if (bracket && *u->at++ != ']')
        return bad(u, "the bracket is not closed");
    if (bracket != (strchr(out->host, ':') != NULL))
        return bad(u, "an IPv6 address, and only that, stands in brackets");
    if (!is_host(out->host))
        return bad(u, "the host has a byte that no name or address has");
    if (!out->host[0])
        return bad(u, "the host is missing: nfs://HOST[:PORT]/EXPORT");
    if (*u->at == ':') {
        u->at++;
        if (take_port(u, "the port of NFS", &out->nfs_port) < 0)
            return -ERR_USAGE;
    }
    return *u->at == '/' ? 0 : bad(u, "the export is missing: nfs://HOST[:PORT]/EXPORT");
}

static int take_argument(struct url *u, struct nfs_address *out)
{
    static const struct {
        const char *name, *long_name;
        size_t at;
    } arguments[] = {
        { "nfsport=", "nfsport, the port of NFS,", offsetof(struct nfs_address, nfs_port) },
        { "mountport=", "mountport", offsetof(struct nfs_address, mount_port) },
    };

    for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++) {
        size_t len = strlen(arguments[i].name);

        if (strncmp(u->at, arguments[i].name, len) != 0)
            continue;
        u->at += len;
        return take_port(u, arguments[i].long_name, (void *)((char *)out + arguments[i].at));
    }
    return err_set(u->err, ERR_USAGE,
                   "%.400s: the argument \"%.*s\" is unknown; there are nfsport=N and mountport=N",
                   u->text, (int)strcspn(u->at, "=&"), u->at);
}

int nfs_address_parse(const char *text, struct nfs_address *out, struct err *err)
{
    struct url u = { text, text, err };

    memset(out, 0, sizeof(*out));
    if (strncmp(text, SCHEME, sizeof(SCHEME) - 1) != 0)
        return bad(&u, "must begin with nfs://: nfs://HOST[:PORT]/EXPORT");
    u.at += sizeof(SCHEME) - 1;
    if (take_host(&u, out) < 0 ||
        take_encoded(&u, "?", out->path, NFS_ADDRESS_PATH_MAX, "path") < 0)
        return -ERR_USAGE;
    for (char end = '?'; *u.at; end = '&') {
        if (*u.at++ != end)
            return bad(&u, "arguments are separated by \"&\"");
        if (take_argument(&u, out) < 0)
            return -ERR_USAGE;
    }
    return 0;
}

/* --- writing */

/* What RFC 3986 s3.3 allows in a path, and no more. */
static bool stays(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("/-._~!$'()*,;:@", c));
}

static char *put_encoded(char *to, const char *from)
{
    static const char digits[] = "0123456789ABCDEF";

    for (; *from; from++) {
        unsigned char c = (unsigned char)*from;

        if (stays(c)) {
            *to++ = *from;
        } else {
            *to++ = '%';
            *to++ = digits[c >> 4];
            *to++ = digits[c & 15];
        }
    }
    *to = 0;
    return to;
}

const char *nfs_address_text(const struct nfs_address *a, char text[NFS_ADDRESS_TEXT])
{
    bool bracket = strchr(a->host, ':') != NULL;
    char *at = text;

    at += snprintf(at, NFS_ADDRESS_TEXT, "%s%s", SCHEME, bracket ? "[" : "");
    at = put_encoded(at, a->host);
    if (bracket)
        *at++ = ']';
    at = put_encoded(at, a->path);
    if (a->nfs_port)
        at += snprintf(at, 16, "?nfsport=%u", a->nfs_port);
    if (a->mount_port)
        snprintf(at, 20, "%cmountport=%u", a->nfs_port ? '&' : '?', a->mount_port);
    return text;
}
