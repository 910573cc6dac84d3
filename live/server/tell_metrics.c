/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/tell_metrics.c
 *
 * ftnfsd's metrics.  Latencies are histograms with a bucket for each power of two.
 */
#include "server/tell_parts.h"

enum {
    CALLS,
    ERRORS,
    BYTES,
    LATENCY,
    CLIENT_CALLS,
    CLIENT_ERRORS,
    CLIENT_BYTES,
    CONNECTIONS,
    NOT_ACCEPTED,
    CLOSED,
    NET_MEMORY,
    NET_WAITS,
    NET_WAITING,
    NET_CLOSED,
    REFUSED,
    NO_CALLS,
    CACHE_HITS,
    CACHE_ENTRIES,
    USED,
    OBJECTS,
    EXPORT_CALLS,
    EXPORT_ERRORS,
    EXPORT_BYTES
};

static const struct metric table[] = {
    [CALLS] = { "ftnfsd_calls_total", METRIC_COUNTER, "calls that were answered",
                "program procedure" },
    [ERRORS] = { "ftnfsd_errors_total", METRIC_COUNTER, "calls that failed", "program procedure" },
    [BYTES] = { "ftnfsd_data_bytes_total", METRIC_COUNTER, "bytes read and written",
                "program procedure" },
    [LATENCY] = { "ftnfsd_latency_seconds", METRIC_HISTOGRAM, "from a call's arrival to its reply",
                  "program procedure" },
    [CLIENT_CALLS] = { "ftnfsd_client_calls_total", METRIC_COUNTER, "calls of a client", "client" },
    [CLIENT_ERRORS] = { "ftnfsd_client_errors_total", METRIC_COUNTER,
                        "calls of a client that failed", "client" },
    [CLIENT_BYTES] = { "ftnfsd_client_data_bytes_total", METRIC_COUNTER,
                       "bytes that a client read and wrote", "client" },
    [CONNECTIONS] = { "ftnfsd_connections_total", METRIC_COUNTER, "TCP connections", NULL },
    [NOT_ACCEPTED] = { "ftnfsd_connections_refused_total", METRIC_COUNTER,
                       "TCP connections above the bounds, which were closed at once", NULL },
    [CLOSED] = { "ftnfsd_connections_closed_total", METRIC_COUNTER,
                 "TCP connections that were not closed by their clients", "why" },
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
    [EXPORT_CALLS] = { "ftnfsd_export_calls_total", METRIC_COUNTER, "calls for an export",
                       "export" },
    [EXPORT_ERRORS] = { "ftnfsd_export_errors_total", METRIC_COUNTER,
                        "calls for an export that failed", "export" },
    [EXPORT_BYTES] = { "ftnfsd_export_data_bytes_total", METRIC_COUNTER,
                       "bytes of an export that were read and written", "export" },
};
enum { COUNT = sizeof(table) / sizeof(table[0]) };

static void put_rows(const struct server *server, struct metrics_page *page, unsigned which)
{
    static const double second = 1e9;
    double bounds[STATS_BUCKETS - 1];

    for (unsigned i = 0; i < STATS_BUCKETS - 1; i++)
        bounds[i] = (double)(UINT64_C(1) << i) / second;
    for (unsigned i = 0; i < STATS_PROGRAMS * STATS_PROCEDURES; i++) {
        enum stats_program p = i / STATS_PROCEDURES;
        uint32_t number = i % STATS_PROCEDURES;
        const struct stats_row *row = &server->stats.rows[p][number];
        char text[TELL_NUMBER];
        const char *labels[] = { tell_program(p), tell_procedure(p, number, text) };

        if (!row->calls)
            continue;
        if (which == LATENCY)
            metrics_page_histogram(page, &table[which], labels,
                                   &(struct metric_histogram){ STATS_BUCKETS - 1, bounds,
                                                               row->bucket,
                                                               (double)row->ns / second });
        else
            metrics_page_u64(page, &table[which], labels,
                             which == CALLS    ? row->calls
                             : which == ERRORS ? row->errors
                                               : row->bytes);
    }
}

static void put_clients(const struct stats *stats, struct metrics_page *page, unsigned which)
{
    for (uint32_t i = 0; i < stats->client_count; i++) {
        const struct stats_client *c = &stats->clients[i];
        char text[NET_ADDRESS_TEXT];
        const char *labels[] = { i ? net_address_host_text(&c->address, text) : "others" };

        if (c->calls)
            metrics_page_u64(page, &table[which], labels,
                             which == CLIENT_CALLS    ? c->calls
                             : which == CLIENT_ERRORS ? c->errors
                                                      : c->bytes);
    }
}

static void put_exports(const struct server *server, struct metrics_page *page, unsigned which)
{
    static const struct fs_caller root = { 0, 0, 0, NULL };

    for (uint32_t i = 0; i < server->service.export_count; i++) {
        const struct export *e = &server->service.exports[i];
        const struct stats_export *s = &server->stats.exports[i];
        struct fs_space space;

        fs_space(e->fs, &root, &space);
        metrics_page_u64(page, &table[which], (const char *[]){ e->name },
                         which == USED            ? space.total_bytes - space.free_bytes
                         : which == OBJECTS       ? space.total_objects - space.free_objects
                         : which == EXPORT_CALLS  ? s->calls
                         : which == EXPORT_ERRORS ? s->errors
                                                  : s->bytes);
    }
}

static int collect(void *ctx, struct metrics_page *page, struct err *err)
{
    const struct server *server = ctx;
    const struct rpc_server_counts *rpc = rpc_server_counts(server->rpc);
    const struct listen_counts *door = rpc_server_listen_counts(server->rpc);
    struct rpc_server_memory memory;
    struct replies_counts replies;
    uint64_t refused = 0;

    (void)err;
    rpc_server_memory(server->rpc, &memory);
    replies_count(server->replies, &replies);
    for (unsigned i = 0; i < sizeof(rpc->refused) / sizeof(rpc->refused[0]); i++)
        refused += rpc->refused[i];
    for (unsigned which = CALLS; which <= LATENCY; which++)
        put_rows(server, page, which);
    for (unsigned which = CLIENT_CALLS; which <= CLIENT_BYTES; which++)
        put_clients(&server->stats, page, which);
    metrics_page_u64(page, &table[CONNECTIONS], NULL, rpc->connections);
    metrics_page_u64(page, &table[NOT_ACCEPTED], NULL, door->refused_all + door->refused_address);
    for (unsigned i = 0; i < TELL_ENDS; i++)
        metrics_page_u64(page, &table[CLOSED], (const char *[]){ tell_ends[i].why },
                         tell_end_count(rpc, i));
    metrics_page_u64(page, &table[NET_MEMORY], NULL, memory.held);
    metrics_page_u64(page, &table[NET_WAITS], NULL, memory.waits);
    metrics_page_u64(page, &table[NET_WAITING], NULL, memory.waiting);
    metrics_page_u64(page, &table[NET_CLOSED], NULL, rpc->hoards);
    metrics_page_u64(page, &table[REFUSED], NULL, refused);
    metrics_page_u64(page, &table[NO_CALLS], NULL,
                     rpc->not_rpc + rpc->not_a_call + rpc->too_long + rpc->cut);
    metrics_page_u64(page, &table[CACHE_HITS], NULL, replies.hits);
    metrics_page_u64(page, &table[CACHE_ENTRIES], NULL, replies.entries);
    for (unsigned which = USED; which <= EXPORT_BYTES; which++)
        put_exports(server, page, which);
    return 0;
}

struct metrics_setup tell_metrics(struct server *server, const struct net_address *address)
{
    return (struct metrics_setup){ *address, table, COUNT, collect, server };
}
