/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/tell_control.c
 *
 * The commands of ftnfsd's control socket, but for those about faults (net/fault_control.h).
 */
#include "server/tell_parts.h"

static void put_row(struct json *answer, const struct stats_row *row, enum stats_program p,
                    uint32_t number)
{
    char text[TELL_NUMBER];

    json_object(answer, NULL);
    json_text(answer, "program", tell_program(p));
    json_text(answer, "procedure", tell_procedure(p, number, text));
    json_u64(answer, "calls", row->calls);
    json_u64(answer, "errors", row->errors);
    json_u64(answer, "bytes", row->bytes);
    json_u64(answer, "mean_ns", row->ns / row->calls);
    json_u64(answer, "p50_ns_below", stats_percentile(row, 0.5));
    json_u64(answer, "p99_ns_below", stats_percentile(row, 0.99));
    json_object_end(answer);
}

static void put_clients(struct json *answer, const struct stats *stats)
{
    json_array(answer, "clients");
    for (uint32_t i = 0; i < stats->client_count; i++) {
        const struct stats_client *c = &stats->clients[i];
        char text[NET_ADDRESS_TEXT];

        if (!c->calls)
            continue;
        json_object(answer, NULL);
        json_text(answer, "client", i ? net_address_host_text(&c->address, text) : "others");
        json_u64(answer, "calls", c->calls);
        json_u64(answer, "errors", c->errors);
        json_u64(answer, "bytes", c->bytes);
        json_object_end(answer);
    }
    json_array_end(answer);
}

static void put_datagrams(struct json *answer, const struct server *server)
{
    struct datagram_counts counts;

    rpc_server_datagram_counts(server->rpc, &counts);
    json_object(answer, "datagrams");
    json_u64(answer, "received", counts.received);
    json_u64(answer, "lost", counts.lost);
    json_u64(answer, "too_long", counts.too_long);
    json_u64(answer, "sent", counts.sent);
    json_u64(answer, "dropped", counts.dropped);
    json_u64(answer, "failed", counts.failed);
    json_object_end(answer);
}

static void put_net_memory(struct json *answer, const struct server *server)
{
    struct rpc_server_memory memory;

    rpc_server_memory(server->rpc, &memory);
    json_object(answer, "net_memory");
    json_u64(answer, "limit", memory.limit);
    json_u64(answer, "held", memory.held);
    json_u64(answer, "most", memory.most);
    json_u64(answer, "waits", memory.waits);
    json_u64(answer, "waiting", memory.waiting);
    json_u64(answer, "closed", rpc_server_counts(server->rpc)->hoards);
    json_object_end(answer);
}

/* Calls that RPC refused, by status. */
static void put_refused(struct json *answer, const struct rpc_server_counts *counts)
{
    json_object(answer, "refused");
    for (uint32_t i = 0; i < sizeof(counts->refused) / sizeof(counts->refused[0]); i++)
        if (rpc_status_name(i) && i != RPC_SUCCESS)
            json_u64(answer, rpc_status_name(i), counts->refused[i]);
    json_object_end(answer);
}

/* Messages that are no calls, and connections. */
static void put_ends(struct json *answer, const struct server *server)
{
    const struct rpc_server_counts *counts = rpc_server_counts(server->rpc);
    const struct listen_counts *door = rpc_server_listen_counts(server->rpc);

    json_object(answer, "no_calls");
    json_u64(answer, "not_rpc", counts->not_rpc);
    json_u64(answer, "not_a_call", counts->not_a_call);
    json_object_end(answer);
    json_object(answer, "connections");
    json_u64(answer, "begun", counts->connections);
    json_u64(answer, "refused", door->refused_all);
    json_u64(answer, "refused_address", door->refused_address);
    json_u64(answer, "failed", door->failed);
    json_u64(answer, "pauses", door->pauses);
    json_object_end(answer);
    json_object(answer, "closed");
    for (unsigned i = 0; i < TELL_ENDS; i++)
        json_u64(answer, tell_ends[i].why, tell_end_count(counts, i));
    json_object_end(answer);
}

static int on_statistics(void *ctx, const struct control_request *request, struct json *answer,
                         struct err *err)
{
    const struct server *server = ctx;
    struct replies_counts replies;

    (void)request, (void)err;
    json_array(answer, "procedures");
    for (unsigned p = 0; p < STATS_PROGRAMS; p++)
        for (uint32_t n = 0; n < STATS_PROCEDURES; n++)
            if (server->stats.rows[p][n].calls)
                put_row(answer, &server->stats.rows[p][n], p, n);
    json_array_end(answer);
    json_u64(answer, "null_calls", rpc_server_counts(server->rpc)->null_calls);
    put_clients(answer, &server->stats);
    put_refused(answer, rpc_server_counts(server->rpc));
    put_ends(answer, server);
    put_datagrams(answer, server);
    put_net_memory(answer, server);
    replies_count(server->replies, &replies);
    json_object(answer, "cache_of_replies");
    json_u64(answer, "entries", replies.entries);
    json_u64(answer, "bytes", replies.bytes);
    json_u64(answer, "hits", replies.hits);
    json_u64(answer, "under_way", replies.under_way);
    json_u64(answer, "misses", replies.misses);
    json_object_end(answer);
    return 0;
}

static int on_exports(void *ctx, const struct control_request *request, struct json *answer,
                      struct err *err)
{
    static const char *const squash[] = { "no_root_squash", "root_squash", "all_squash" };
    static const struct fs_caller root = { 0, 0, 0, NULL };
    const struct server *server = ctx;

    (void)request, (void)err;
    json_array(answer, "exports");
    for (uint32_t i = 0; i < server->service.export_count; i++) {
        const struct export *e = &server->service.exports[i];
        const struct stats_export *s = &server->stats.exports[i];
        struct fs_space space;

        fs_space(e->fs, &root, &space);
        json_object(answer, NULL);
        json_text(answer, "name", e->name);
        json_bool(answer, "read_only", e->read_only);
        json_text(answer, "squash", squash[e->squash]);
        json_u64(answer, "bytes_used", space.total_bytes - space.free_bytes);
        json_u64(answer, "objects", space.total_objects - space.free_objects);
        json_u64(answer, "memory", fs_memory(e->fs));
        json_u64(answer, "calls", s->calls);
        json_u64(answer, "errors", s->errors);
        json_u64(answer, "bytes", s->bytes);
        json_object_end(answer);
    }
    json_array_end(answer);
    return 0;
}

static int on_mounts(void *ctx, const struct control_request *request, struct json *answer,
                     struct err *err)
{
    const struct mounts *mounts = &((struct server *)ctx)->mounts;

    (void)request, (void)err;
    json_array(answer, "mounts");
    for (uint32_t i = 0; i < mounts->count; i++) {
        json_object(answer, NULL);
        json_text(answer, "client", mounts->list[i].host);
        json_text(answer, "path", mounts->list[i].path);
        json_object_end(answer);
    }
    json_array_end(answer);
    return 0;
}

static void put_connection(void *ctx, uint64_t number, const struct datagram_ends *ends)
{
    struct json *answer = ctx;
    char text[NET_ADDRESS_TEXT];

    json_object(answer, NULL);
    json_u64(answer, "number", number);
    json_text(answer, "client", net_address_text(&ends->peer, text));
    json_text(answer, "server", net_address_text(&ends->local, text));
    json_object_end(answer);
}

static int on_connections(void *ctx, const struct control_request *request, struct json *answer,
                          struct err *err)
{
    const struct server *server = ctx;

    (void)request, (void)err;
    json_array(answer, "connections");
    rpc_server_each(server->rpc, put_connection, answer);
    json_array_end(answer);
    return 0;
}

static int on_check(void *ctx, const struct control_request *request, struct json *answer,
                    struct err *err)
{
    const struct server *server = ctx;

    (void)request;
    for (uint32_t i = 0; i < server->service.export_count; i++)
        if (fs_check(server->service.exports[i].fs, err) < 0)
            return err_prefix(err, "%s", server->service.exports[i].name);
    json_u64(answer, "exports", server->service.export_count);
    return 0;
}

static int on_stop(void *ctx, const struct control_request *request, struct json *answer,
                   struct err *err)
{
    const struct server *server = ctx;

    (void)request, (void)answer, (void)err;
    loop_stop(server->loop);
    return 0;
}

int tell_control(struct control *control, struct server *server, struct err *err)
{
    static const struct control_command commands[] = {
        { "statistics", NULL,
          "calls by procedure and client, what was refused, connections and why they were closed, "
          "datagrams, memory of connections, the cache of replies",
          on_statistics },
        { "exports", NULL, "exports, what is in them, and calls", on_exports },
        { "mounts", NULL, "who mounted what", on_mounts },
        { "connections", NULL, "TCP connections", on_connections },
        { "check", NULL, "verify the file systems; takes time in proportion to their size",
          on_check },
        { "stop", NULL, "end ftnfsd", on_stop },
    };

    return control_add(control, commands, sizeof(commands) / sizeof(commands[0]), server, err);
}
