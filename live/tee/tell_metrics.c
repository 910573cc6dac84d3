/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/tell.h"

enum {
    CONNECTIONS,
    OPEN,
    RESETS,
    UNREACHABLE,
    REFUSED,
    BYTES,
    READS,
    WAITS,
    LOST,
    DATAGRAMS,
    DROPPED,
    OTHER_PORTS,
    INJECTED,
    RING_ENTRIES,
    RING_BYTES,
    RING_SIZE,
    READERS,
    COUNT
};

static const struct metric table[COUNT] = {
    [CONNECTIONS] = { "nfstee_connections_total", METRIC_COUNTER, "connections of clients", NULL },
    [OPEN] = { "nfstee_open_connections", METRIC_GAUGE, "connections that are open", NULL },
    [RESETS] = { "nfstee_resets_total", METRIC_COUNTER, "connections that one side has reset",
                 "side" },
    [UNREACHABLE] = { "nfstee_unreachable_total", METRIC_COUNTER,
                      "connections for which the server could not be reached", NULL },
    [REFUSED] = { "nfstee_refused_total", METRIC_COUNTER,
                  "connections above the limits, or that the system refused", NULL },
    [BYTES] = { "nfstee_bytes_total", METRIC_COUNTER, "bytes that were read", "to" },
    [READS] = { "nfstee_reads_total", METRIC_COUNTER, "times that bytes were read", "to" },
    [WAITS] = { "nfstee_waits_total", METRIC_COUNTER,
                "times that the receiver did not take all bytes at once", "to" },
    [LOST] = { "nfstee_lost_bytes_total", METRIC_COUNTER,
               "bytes that waited when their connection was reset", "to" },
    [DATAGRAMS] = { "nfstee_datagrams_total", METRIC_COUNTER, "datagrams that came", "to" },
    [DROPPED] = { "nfstee_dropped_datagrams_total", METRIC_COUNTER,
                  "datagrams that could not be sent", NULL },
    [OTHER_PORTS] = { "nfstee_other_ports", METRIC_GAUGE,
                      "clients for which the relay connects from another port than theirs", NULL },
    [INJECTED] = { "nfstee_injected_total", METRIC_COUNTER,
                   "calls that were delayed, and connections that were reset, by rules", "effect" },
    [RING_ENTRIES] = { "nfstee_ring_entries_total", METRIC_COUNTER, "entries of the ring", NULL },
    [RING_BYTES] = { "nfstee_ring_bytes_total", METRIC_COUNTER, "bytes that were copied to it",
                     NULL },
    [RING_SIZE] = { "nfstee_ring_size_bytes", METRIC_GAUGE, "the ring's size", NULL },
    [READERS] = { "nfstee_readers", METRIC_GAUGE, "readers that are attached", NULL },
};

static void put(struct metrics_page *page, unsigned which, const char *label, uint64_t value)
{
    metrics_page_u64(page, &table[which], label ? (const char *[]){ label } : NULL, value);
}

static void put_both(struct metrics_page *page, unsigned which, uint64_t server, uint64_t client)
{
    put(page, which, "server", server);
    put(page, which, "client", client);
}

static int collect(void *ctx, struct metrics_page *page, struct err *err)
{
    const struct told *told = ctx;
    const struct relay_counts *c = relay_counts(told->relay);
    struct ring_counts ring;
    struct listen_counts listen;

    (void)err;
    relay_listen_counts(told->relay, &listen);
    put(page, CONNECTIONS, NULL, c->connections);
    put(page, OPEN, NULL, relay_connections(told->relay));
    put_both(page, RESETS, c->reset_by_server, c->reset_by_client);
    put(page, UNREACHABLE, NULL, c->unreachable);
    put(page, REFUSED, NULL, listen.refused_all + listen.refused_address + c->failed);
    put_both(page, BYTES, c->to_server.bytes, c->to_client.bytes);
    put_both(page, READS, c->to_server.reads, c->to_client.reads);
    put_both(page, WAITS, c->to_server.waits, c->to_client.waits);
    put_both(page, LOST, c->to_server.lost, c->to_client.lost);
    put_both(page, DATAGRAMS, c->udp_to_server, c->udp_to_client);
    put(page, DROPPED, NULL, c->udp_dropped);
    put(page, OTHER_PORTS, NULL, ports_count(told->ports));
    put(page, INJECTED, "delay", c->delayed);
    put(page, INJECTED, "close", c->reset_by_rule);
    if (told->ring) {
        ring_count(told->ring, &ring);
        put(page, RING_ENTRIES, NULL, ring.entries);
        put(page, RING_BYTES, NULL, ring.bytes);
        put(page, RING_SIZE, NULL, ring.size);
        put(page, READERS, NULL, ring_door_readers(told->door));
    }
    return 0;
}

struct metrics_setup tell_metrics(struct told *told, const struct net_address *address)
{
    return (struct metrics_setup){ *address, table, COUNT, collect, told };
}
