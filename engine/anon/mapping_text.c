/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/mapping_text.c
 *
 * Maps names, paths, host names, and addresses as texts.  A name keeps the prefix and suffix that
 * the policy keeps, a path is mapped name by name, and an address in a text is mapped as an
 * address.  For mapping_bytes.c.  The contract is in mapping_parts.h.
 */
#include "anon/address_text.h"
#include "anon/mapping_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- names --- */

static int longer_first(const void *a, const void *b)
{
    uint32_t x = ((const struct bytes *)a)->len, y = ((const struct bytes *)b)->len;

    return (x < y) - (x > y);
}

static int affixes_fill(struct affixes *a, char **texts, struct err *err)
{
    uint32_t n = 0;

    while (texts && texts[n])
        n++;
    a->texts = calloc(n + 1, sizeof(*a->texts));
    if (!a->texts)
        return err_memory(err, "suffixes");
    for (uint32_t i = 0; i < n; i++)
        if (texts[i][0])
            a->texts[a->count++] =
                (struct bytes){ (const uint8_t *)texts[i], (uint32_t)strlen(texts[i]) };
    qsort(a->texts, a->count, sizeof(*a->texts), longer_first);
    return 0;
}

int affixes_open(struct mapping *m, struct err *err)
{
    return affixes_fill(&m->suffixes, m->policy->suffixes, err) < 0
               ? -ERR_SYSTEM
               : affixes_fill(&m->prefixes, m->policy->prefixes, err);
}

struct split {
    uint32_t prefix, suffix; /* bytes that are kept; at least one is between them */
};

static struct split split_name(const struct mapping *m, const uint8_t *name, uint32_t len)
{
    struct split split = { 0, 0 };

    for (uint32_t i = 0; i < m->suffixes.count; i++) {
        const struct bytes *s = &m->suffixes.texts[i];

        if (s->len < len && memcmp(name + len - s->len, s->data, s->len) == 0) {
            split.suffix = s->len;
            break;
        }
    }
    for (uint32_t i = 0; i < m->prefixes.count; i++) {
        const struct bytes *p = &m->prefixes.texts[i];

        if (p->len < len - split.suffix && memcmp(name, p->data, p->len) == 0) {
            split.prefix = p->len;
            break;
        }
    }
    return split;
}

struct name_of {
    const struct mapping *m;
    struct split split;
};

/* Splits as the original did, so that going back finds the same stem. */
static bool name_fits(const void *ctx, const uint8_t *name, uint32_t len)
{
    const struct name_of *of = ctx;
    struct split split = split_name(of->m, name, len);

    return split.prefix == of->split.prefix && split.suffix == of->split.suffix &&
           !bytes_are_dots((struct bytes){ name, len });
}

int map_name(struct mapping *m, enum rule rule, bool back, const uint8_t *data, uint32_t len,
             struct err *err)
{
    struct name_of of = { m, { 0, 0 } };
    uint8_t token[TOKEN_LEN];

    if (!len || bytes_are_dots((struct bytes){ data, len }))
        return map_set(m, data, len, err);
    of.split = split_name(m, data, len);
    if (rule != RULE_TOKEN)
        return map_set(m, data, len, err) < 0
                   ? -ERR_SYSTEM
                   : same_permute(m->names, m->out.data, len, of.split.prefix,
                                  len - of.split.prefix - of.split.suffix, back, name_fits, &of,
                                  err);
    /* of the whole name, not of the stem: tokens tell names apart by themselves */
    map_token(m, CLASS_NAME, data, len, token);
    if (map_set(m, data, of.split.prefix, err) < 0 || map_append(m, token, TOKEN_LEN, err) < 0)
        return -ERR_SYSTEM;
    return map_append(m, data + len - of.split.suffix, of.split.suffix, err);
}

/* --- paths --- */

static int overflow(struct mapping *m, uint32_t max, const uint8_t *data, uint32_t len,
                    struct err *err)
{
    uint8_t text[1 + TOKEN_LEN] = { '/' };
    bool absolute = data[0] == '/';
    uint32_t room = TOKEN_LEN + absolute;

    map_token(m, CLASS_PATH, data, len, text + 1);
    m->overflows++;
    return map_set(m, text + !absolute, room < max ? room : max, err);
}

int map_path(struct mapping *m, enum rule rule, bool back, uint32_t max, const uint8_t *data,
             uint32_t len, struct err *err)
{
    struct buf *path = &m->part;

    path->len = 0;
    for (uint32_t at = 0; at < len;) {
        const uint8_t *slash = memchr(data + at, '/', len - at);
        uint32_t n = slash ? (uint32_t)(slash - data) - at : len - at;
        struct bytes part = { NULL, 0 };

        if (n && back) {
            if (map_name(m, rule, true, data + at, n, err) < 0)
                return -ERR_SYSTEM;
            part = (struct bytes){ m->out.data, (uint32_t)m->out.len };
        } else if (n && map_name_cached(m, rule, data + at, n, &part, err) < 0) {
            return -ERR_SYSTEM;
        }
        if (buf_append(path, part.data, part.len) < 0 || (slash && buf_append(path, "/", 1) < 0))
            return err_memory(err, "a path");
        at += n + (slash != NULL);
        if (max && path->len > max)
            return overflow(m, max, data, len, err);
    }
    return map_set(m, path->data, (uint32_t)path->len, err);
}

/* --- hosts: clients of an export, machine names --- */

static bool is_special_host(const uint8_t *host, uint32_t len)
{
    struct address address;
    size_t rest;

    return !len || host[0] == '@' || (len == 1 && host[0] == '*') ||
           address_parse_network(host, len, &address, &rest);
}

static bool host_fits(const void *ctx, const uint8_t *host, uint32_t len)
{
    (void)ctx;
    return !is_special_host(host, len);
}

static int map_address_text(struct mapping *m, bool back, const struct address *address,
                            struct err *err)
{
    char text[ADDRESS_TEXT_MAX];
    struct address mapped;

    (back ? mapping_address_back : mapping_address)(m, address, &mapped);
    address_text(&mapped, text);
    return map_set(m, text, (uint32_t)strlen(text), err);
}

int map_host(struct mapping *m, enum rule rule, bool back, const uint8_t *data, uint32_t len,
             struct err *err)
{
    uint32_t group = len && data[0] == '@'; /* a netgroup's sign */
    uint8_t token[TOKEN_LEN];
    struct address address;
    size_t rest;

    if (len == group || (len == 1 && data[0] == '*'))
        return map_set(m, data, len, err);
    if (address_parse_network(data, len, &address, &rest))
        return map_address_text(m, back, &address, err) < 0
                   ? -ERR_SYSTEM
                   : map_append(m, data + rest, len - (uint32_t)rest, err);
    if (rule != RULE_TOKEN)
        return map_set(m, data, len, err) < 0
                   ? -ERR_SYSTEM
                   : same_permute(m->hosts, m->out.data, len, group, len - group, back,
                                  group ? NULL : host_fits, NULL, err);
    if (back)
        return err_set(err, ERR_INPUT, "a host's token cannot be mapped back");
    map_token(m, CLASS_HOST, data, len, token);
    return map_set(m, "@", group, err) < 0 ? -ERR_SYSTEM : map_append(m, token, TOKEN_LEN, err);
}

/* --- universal addresses --- */

int map_universal(struct mapping *m, bool back, const uint8_t *data, uint32_t len, struct err *err)
{
    struct address address;
    uint8_t token[TOKEN_LEN];
    char text[16];
    uint16_t port;

    if (address_parse_universal(data, len, &address, &port)) {
        uint32_t mapped = (back ? mapping_extra_back : mapping_extra)(m, EXTRA_PORT, port);
        int n = snprintf(text, sizeof(text), ".%u.%u", mapped >> 8 & 255, mapped & 255);

        return map_address_text(m, back, &address, err) < 0 ? -ERR_SYSTEM
                                                            : map_append(m, text, (uint32_t)n, err);
    }
    if (back)
        return err_set(err, ERR_INPUT, "no universal address: its token cannot be mapped back");
    map_token(m, CLASS_ADDRESS, data, len, token);
    return map_set(m, token, TOKEN_LEN, err);
}
