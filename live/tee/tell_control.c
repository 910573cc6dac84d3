/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/tell.h"
#include "net/fault_control.h"

#include <arpa/inet.h>
#include <string.h>

static void put_direction(struct json *answer, const char *name,
                          const struct relay_direction_counts *c)
{
    json_object(answer, name);
    json_u64(answer, "bytes", c->bytes);
    json_u64(answer, "reads", c->reads);
    json_u64(answer, "waits", c->waits);
    json_u64(answer, "lost", c->lost);
    json_object_end(answer);
}

static void put_ring(struct json *answer, const struct told *told)
{
    struct ring_counts counts;

    if (!told->ring) {
        json_null(answer, "ring");
        return;
    }
    ring_count(told->ring, &counts);
    json_object(answer, "ring");
    json_u64(answer, "size", counts.size);
    json_u64(answer, "entries", counts.entries);
    json_u64(answer, "bytes", counts.bytes);
    json_u64(answer, "readers", told->door ? ring_door_readers(told->door) : 0);
    json_object_end(answer);
}

void tell_statistics(const struct told *told, struct json *answer)
{
    const struct relay_counts *c = relay_counts(told->relay);
    struct listen_counts listen;

    relay_listen_counts(told->relay, &listen);
    json_u64(answer, "connections", c->connections);
    json_u64(answer, "open", relay_connections(told->relay));
    json_u64(answer, "ended", c->ended);
    json_u64(answer, "reset_by_client", c->reset_by_client);
    json_u64(answer, "reset_by_server", c->reset_by_server);
    json_u64(answer, "unreachable", c->unreachable);
    json_u64(answer, "replaced", c->replaced);
    json_u64(answer, "failed", c->failed);
    json_u64(answer, "refused", listen.refused_all + listen.refused_address);
    json_u64(answer, "other_ports", ports_count(told->ports));
    json_u64(answer, "delayed", c->delayed);
    json_u64(answer, "reset_by_rule", c->reset_by_rule);
    json_object(answer, "datagrams");
    json_u64(answer, "clients", relay_flows(told->relay));
    json_u64(answer, "to_server", c->udp_to_server);
    json_u64(answer, "to_client", c->udp_to_client);
    json_u64(answer, "dropped", c->udp_dropped);
    json_u64(answer, "refused", c->udp_refused);
    json_object_end(answer);
    put_direction(answer, "to_server", &c->to_server);
    put_direction(answer, "to_client", &c->to_client);
    put_ring(answer, told);
}

static int on_statistics(void *ctx, const struct control_request *request, struct json *answer,
                         struct err *err)
{
    (void)request, (void)err;
    tell_statistics(ctx, answer);
    return 0;
}

static void put_end(struct json *answer, const char *name, const struct relay_end *end)
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    struct net_address a = { .family = AF_UNSPEC };
    char text[NET_ADDRESS_TEXT];

    if (memcmp(end->address, mapped, sizeof(mapped)) == 0) {
        a.v4.sin_family = AF_INET;
        memcpy(&a.v4.sin_addr, end->address + 12, 4);
    } else {
        a.v6.sin6_family = AF_INET6;
        a.v6.sin6_scope_id = end->scope;
        memcpy(&a.v6.sin6_addr, end->address, 16);
    }
    net_address_set_port(&a, end->port);
    json_text(answer, name, net_address_text(&a, text));
}

static void put_connection(void *ctx, uint64_t number, const struct relay_open *open)
{
    struct json *answer = ctx;

    json_object(answer, NULL);
    json_u64(answer, "number", number);
    put_end(answer, "client", &open->client);
    put_end(answer, "listens", &open->listens);
    put_end(answer, "connects", &open->connects);
    put_end(answer, "server", &open->server);
    json_u64(answer, "to_server", open->to_server);
    json_u64(answer, "to_client", open->to_client);
    json_object_end(answer);
}

static int on_connections(void *ctx, const struct control_request *request, struct json *answer,
                          struct err *err)
{
    const struct told *told = ctx;

    (void)request, (void)err;
    json_array(answer, "connections");
    relay_each(told->relay, put_connection, answer);
    json_array_end(answer);
    return 0;
}

static int on_stop(void *ctx, const struct control_request *request, struct json *answer,
                   struct err *err)
{
    const struct told *told = ctx;

    (void)request, (void)answer, (void)err;
    loop_stop(told->loop);
    return 0;
}

int tell_control(struct control *control, struct told *told, struct err *err)
{
    static const struct control_command commands[] = {
        { "statistics", NULL, "connections, bytes of both directions, and the ring",
          on_statistics },
        { "connections", NULL, "connections, with the addresses of both sides", on_connections },
        { "stop", NULL, "end the relay", on_stop },
    };

    if (told->faults && fault_control_add(control, told->faults, err) < 0)
        return -err->code;
    return control_add(control, commands, sizeof(commands) / sizeof(commands[0]), told, err);
}
