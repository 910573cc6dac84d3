/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "server/stats.h"
#include "base/digest.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

int stats_init(struct stats *stats, struct err *err)
{
    memset(stats, 0, sizeof(*stats));
    if (GROW(stats->clients, 0, stats->client_cap) < 0)
        return err_memory(err, "statistics");
    memset(&stats->clients[0], 0, sizeof(stats->clients[0]));
    stats->client_count = 1;
    return 0;
}

void stats_free(struct stats *stats)
{
    table_free(&stats->table);
    free(stats->clients);
    stats->clients = NULL;
}

static uint64_t hash_of(const struct net_address *a)
{
    return a->family == AF_INET6  ? XXH3_64bits(&a->v6.sin6_addr, sizeof(a->v6.sin6_addr))
           : a->family == AF_INET ? XXH3_64bits(&a->v4.sin_addr, sizeof(a->v4.sin_addr))
                                  : a->family;
}

static struct stats_client *find_client(struct stats *stats, const struct net_address *address)
{
    uint64_t hash = hash_of(address);
    struct stats_client *c;
    uint32_t place;

    for (uint32_t slot = table_first(&stats->table, hash, &place); slot != TABLE_NONE;
         slot = table_next(&stats->table, hash, &place))
        if (net_address_same_host(&stats->clients[slot].address, address))
            return &stats->clients[slot];
    if (stats->client_count > STATS_CLIENTS ||
        GROW(stats->clients, stats->client_count, stats->client_cap) < 0 ||
        table_add(&stats->table, hash, stats->client_count) < 0)
        return &stats->clients[0];
    c = &stats->clients[stats->client_count++];
    *c = (struct stats_client){ .address = *address };
    net_address_set_port(&c->address, 0);
    return c;
}

static unsigned bucket_of(int64_t ns)
{
    unsigned bits = ns > 0 ? 64 - (unsigned)__builtin_clzll((uint64_t)ns) : 0;

    return bits < STATS_BUCKETS ? bits : STATS_BUCKETS - 1;
}

void stats_add(struct stats *stats, const struct stats_call *call)
{
    uint32_t procedure =
        call->procedure < STATS_PROCEDURES ? call->procedure : STATS_PROCEDURES - 1;
    struct stats_row *row = &stats->rows[call->program][procedure];
    struct stats_client *client = find_client(stats, call->client);

    row->calls++;
    row->errors += call->failed;
    row->bytes += call->bytes;
    row->ns += call->ns > 0 ? (uint64_t)call->ns : 0;
    row->bucket[bucket_of(call->ns)]++;
    client->calls++;
    client->errors += call->failed;
    client->bytes += call->bytes;
    if (call->export) {
        struct stats_export *export = &stats->exports[call->export->number - 1];

        export->calls++;
        export->errors += call->failed;
        export->bytes += call->bytes;
    }
}

uint64_t stats_percentile(const struct stats_row *row, double part)
{
    uint64_t below = 0;

    for (unsigned i = 0; i < STATS_BUCKETS; i++) {
        below += row->bucket[i];
        if (row->calls && (double)below >= part * (double)row->calls)
            return UINT64_C(1) << i;
    }
    return 0;
}
