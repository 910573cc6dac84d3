/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/ids.h"
#include "base/bytes.h"
#include "base/grow.h"

#include <stdlib.h>

void ids_free(struct ids *ids)
{
    free(ids->map);
    ids->map = NULL;
    ids->count = ids->cap = 0;
}

int ids_check(const struct ids *ids, uint64_t local, struct err *err)
{
    if (local && local <= ids->count)
        return 0;
    if (local == (uint64_t)ids->count + 1)
        return 1;
    return err_set(err, ERR_INPUT, "%s %llu follows %u", ids->what, (unsigned long long)local,
                   ids->count);
}

int ids_add(struct ids *ids, uint32_t id, struct err *err)
{
    if (ids->count == UINT32_MAX - 1)
        return err_set(err, ERR_INPUT, "more than %u %ss", ids->count, ids->what);
    if (!ids->direct) {
        if (GROW(ids->map, ids->count, ids->cap) < 0)
            return err_memory(err, "ids");
        ids->map[ids->count] = id;
    }
    ids->count++;
    if (id > ids->greatest)
        ids->greatest = id;
    return 0;
}

int read_address(const char *text, struct address *address, struct err *err)
{
    if (text && address_read(text, strlen(text), address))
        return 0;
    return err_set(err, ERR_INPUT, "\"%s\" is not an address", text ? text : "");
}

void hosts_free(struct hosts *h)
{
    free(h->hosts);
    free(h->flows);
    table_free(&h->table);
    memset(h, 0, sizeof(*h));
}

void hosts_forget_flows(struct hosts *h)
{
    h->flow_count = 0;
}

static int host_of(struct hosts *h, const struct address *address, uint32_t *id, struct err *err)
{
    uint64_t hash = (load_le64(address->bytes) + address->version) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at;

    hash = (hash ^ load_le64(address->bytes + 8)) * UINT64_C(0xd6e8feb86659fd93);
    for (uint32_t i = table_first(&h->table, hash, &at); i != TABLE_NONE;
         i = table_next(&h->table, hash, &at))
        if (address_equal(&h->hosts[i].address, address)) {
            *id = i;
            return 0;
        }
    if (GROW(h->hosts, h->count, h->cap) < 0 || table_add(&h->table, hash, h->count) < 0)
        return err_memory(err, "addresses");
    *id = h->count++;
    h->hosts[*id].address = *address;
    address_text(address, h->hosts[*id].text);
    h->hosts[*id].len = (uint8_t)strlen(h->hosts[*id].text);
    return 0;
}

int hosts_add_flow(struct hosts *h, const struct record_flow *flow, struct err *err)
{
    struct flow_ends *ends;

    if (GROW(h->flows, h->flow_count, h->flow_cap) < 0)
        return err_memory(err, "flows");
    ends = &h->flows[h->flow_count];
    ends->transport = flow->transport;
    ends->client_port = flow->client_port;
    ends->server_port = flow->server_port;
    if (host_of(h, &flow->client, &ends->client, err) < 0 ||
        host_of(h, &flow->server, &ends->server, err) < 0)
        return -ERR_SYSTEM;
    h->flow_count++;
    return 0;
}
