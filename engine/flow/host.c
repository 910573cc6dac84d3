/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/host.h"
#include "base/digest.h"
#include "base/grow.h"
#include "flow/object_parts.h"

const struct address *same_server(const struct same_servers *same, const struct address *address)
{
    for (uint32_t i = 0; i < same->count; i++)
        if (address_equal(&same->list[i].address, address))
            return &same->list[i].server;
    return address;
}

int same_servers_add(struct same_servers *same, const char *text, struct err *err)
{
    const char *equals = strchr(text, '=');
    struct address server, other;

    if (!equals || !address_read(text, (size_t)(equals - text), &server) ||
        !address_read(equals + 1, strlen(equals + 1), &other))
        return err_set(err, ERR_USAGE, "\"%s\" is not two addresses with \"=\" between them", text);
    server = *same_server(same, &server);
    other = *same_server(same, &other);
    if (address_equal(&server, &other))
        return 0;
    if (same->count == SAME_SERVERS_MAX)
        return err_set(err, ERR_USAGE, "more than %d further addresses of servers",
                       SAME_SERVERS_MAX);
    for (uint32_t i = 0; i < same->count; i++) /* those of the other one come along */
        if (address_equal(&same->list[i].server, &other))
            same->list[i].server = server;
    same->list[same->count++] = (struct same_server){ other, server };
    return 0;
}

static uint32_t host_hash(const struct address *address)
{
    return (uint32_t)XXH3_64bits(address->bytes, address_len(address));
}

uint32_t host_find(const struct objects *o, const struct address *address)
{
    const struct address *known = same_server(&o->same, address);
    const uint32_t hash = host_hash(known);
    const struct index_place *place;
    uint32_t at;

    for (place = index_first(&o->by_host, hash, &at); place;
         place = index_next(&o->by_host, hash, &at))
        if (address_equal(&o->hosts[place->slot], known))
            return place->slot;
    return 0;
}

uint32_t host_id(struct objects *o, const struct address *address)
{
    const struct address *known = same_server(&o->same, address);
    uint32_t id = host_find(o, known);

    if (id)
        return id;
    if (GROW(o->hosts, o->host_count + 1, o->host_cap) < 0 || index_reserve(&o->by_host, 1) < 0)
        return 0;
    id = ++o->host_count;
    index_put(&o->by_host, host_hash(known), id);
    o->hosts[id] = *known;
    return id;
}
