/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/tell_metrics.c
 *
 * ftnfsd's metrics.  Latencies are histograms with a bucket for each power of two.
 */
#include "server/tell.h"
#include "wire/field.h"

enum {
    CALLS,
    ERRORS,
    BYTES,
    LATENCY,
    CONNECTIONS,
    NET_MEMORY,
    NET_WAITS,
    NET_WAITING,
    NET_CLOSED,
    REFUSED,
    NO_CALLS,
    CACHE_HITS,
    CACHE_ENTRIES,
    USED,
    OBJECTS
};

static const struct metric table[] = {
    [CALLS] = { "ftnfsd_calls_total", METRIC_COUNTER, "calls that were answered", "procedure" },
    [ERRORS] = { "ftnfsd_errors_total", METRIC_COUNTER, "calls that failed", "procedure" },
    [BYTES] = { "ftnfsd_data_bytes_total", METRIC_COUNTER, "bytes read and written", "procedure" },
    [LATENCY] = { "ftnfsd_latency_seconds", METRIC_HISTOGRAM, "from a call's arrival to its reply",
                  "procedure" },
    [CONNECTIONS] = { "ftnfsd_connections_total", METRIC_COUNTER, "TCP connections", NULL },
    [NET_MEMORY] = { "ftnfsd_net_memory_bytes", METRIC_GAUGE,
                     "calls and replies under way over TCP", NULL },
    [NET_WAITS] = { "ftnfsd_net_memory_waits_total", METRIC_COUNTER,
                    "times that a connection had to wait for memory", NULL },
    [NET_WAITING] = { "ftnfsd_net_memory_waiting", METRIC_GAUGE, "connections that wait for memory",
                      NULL },
    [NET_CLOSED] = { "ftnfsd_net_memory_closed_total", METRIC_COUNTER,
                     "connections that were closed because others waited for their memory", NULL },
    [REFUSED] = { "ftnfsd_refused_total", METRIC_COUNTER, "calls that RPC refused", NULL },
    [NO_CALLS] = { "ftnfsd_not_rpc_total", METRIC_COUNTER, "messages that are no calls", NULL },
    [CACHE_HITS] = { "ftnfsd_reply_cache_hits_total", METRIC_COUNTER,
                     "retransmissions that were answered from the cache of replies", NULL },
    [CACHE_ENTRIES] = { "ftnfsd_reply_cache_entries", METRIC_GAUGE, "replies in the cache", NULL },
    [USED] = { "ftnfsd_export_used_bytes", METRIC_GAUGE, "bytes that files take", "export" },
    [OBJECTS] = { "ftnfsd_export_objects", METRIC_GAUGE, "files and directories", "export" },
};
enum { COUNT = sizeof(table) / sizeof(table[0]) };

static const char *name_of(uint32_t procedure)
{
    const struct procedure *p = procedure_find(NFS3_PROGRAM, NFS3_VERSION, procedure);

    return p ? p->name : "others";
}

static void put_rows(const struct server *server, struct metrics_page *page, unsigned which)
{
    for (uint32_t i = 0; i < STATS_PROCEDURES; i++) {
        const struct stats_row *row = &server->stats.rows[STATS_NFS][i];
        const char *labels[] = { name_of(i) };

        if (row->calls)
            metrics_page_u64(page, &table[which], labels,
                             which == CALLS    ? row->calls
                             : which == ERRORS ? row->errors
                                               : row->bytes);
    }
}

static void put_latencies(const struct server *server, struct metrics_page *page)
{
    double bounds[STATS_BUCKETS - 1];

    for (unsigned i = 0; i < STATS_BUCKETS - 1; i++)
        bounds[i] = (double)(UINT64_C(1) << i) / 1e9;
    for (uint32_t i = 0; i < STATS_PROCEDURES; i++) {
        const struct stats_row *row = &server->stats.rows[STATS_NFS][i];
        const char *labels[] = { name_of(i) };
        struct metric_histogram h = { STATS_BUCKETS - 1, bounds, row->bucket,
                                      (double)row->ns / 1e9 };

        if (row->calls)
            metrics_page_histogram(page, &table[LATENCY], labels, &h);
    }
}

static void put_exports(const struct server *server, struct metrics_page *page, unsigned which)
{
    static const struct fs_caller root = { 0, 0, 0, NULL };

    for (uint32_t i = 0; i < server->service.export_count; i++) {
        const struct export *e = &server->service.exports[i];
        struct fs_space space;

        fs_space(e->fs, &root, &space);
        metrics_page_u64(page, &table[which], (const char *[]){ e->name },
                         which == USED ? space.total_bytes - space.free_bytes
                                       : space.total_objects - space.free_objects);
    }
}

static int collect(void *ctx, struct metrics_page *page, struct err *err)
{
    const struct server *server = ctx;
    const struct rpc_server_counts *rpc = rpc_server_counts(server->rpc);
    struct rpc_server_memory memory;
    struct replies_counts replies;
    uint64_t refused = 0;

    (void)err;
    rpc_server_memory(server->rpc, &memory);
    replies_count(server->replies, &replies);
    for (unsigned i = 0; i < sizeof(rpc->refused) / sizeof(rpc->refused[0]); i++)
        refused += rpc->refused[i];
    put_rows(server, page, CALLS);
    put_rows(server, page, ERRORS);
    put_rows(server, page, BYTES);
    put_latencies(server, page);
    metrics_page_u64(page, &table[CONNECTIONS], NULL, rpc->connections);
    metrics_page_u64(page, &table[NET_MEMORY], NULL, memory.held);
    metrics_page_u64(page, &table[NET_WAITS], NULL, memory.waits);
    metrics_page_u64(page, &table[NET_WAITING], NULL, memory.waiting);
    metrics_page_u64(page, &table[NET_CLOSED], NULL, rpc->hoards);
    metrics_page_u64(page, &table[REFUSED], NULL, refused);
    metrics_page_u64(page, &table[NO_CALLS], NULL,
                     rpc->not_rpc + rpc->not_a_call + rpc->too_long + rpc->cut);
    metrics_page_u64(page, &table[CACHE_HITS], NULL, replies.hits);
    metrics_page_u64(page, &table[CACHE_ENTRIES], NULL, replies.entries);
    put_exports(server, page, USED);
    put_exports(server, page, OBJECTS);
    return 0;
}

struct metrics_setup tell_metrics(struct server *server, const struct net_address *address)
{
    return (struct metrics_setup){ *address, table, COUNT, collect, server };
}
