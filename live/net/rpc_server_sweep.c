/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/rpc_server_sweep.c
 *
 * Which connections take too much time or memory.  One timer sweeps all of them, so that a call
 * costs no timer; it comes sooner while connections wait for memory.  Contract: rpc_server.h.
 */
#include "net/rpc_server_parts.h"

enum { SPAN_MIN = 1000000, PARTS = 4, MANY = 64, HOARD_PARTS = 5 };

/* Whether it is our turn. */
static bool is_stopped(const struct rpc_connection *c)
{
    return c->held || c->server->full || record_stream_is_waiting(c->stream);
}

/* How long memory may be hoarded: the shorter, the more wait for it. */
static int64_t hoard_span(const struct rpc_server *server)
{
    uint32_t waiting = server->memory.in.waiting + server->memory.out.waiting;
    int64_t part = waiting / MANY < HOARD_PARTS ? 1 + waiting / MANY : HOARD_PARTS;

    return server->limits.hoard / part;
}

/* Whether it waits for the rest of a record too long.  What waits for us does not count. */
static bool is_slow(struct rpc_connection *c, int64_t now)
{
    const struct rpc_server_limits *limits = &c->server->limits;

    if (is_stopped(c) || record_stream_is_stopped(c->stream) ||
        (c->input_seen == 0 && c->last_record)) {
        c->incomplete_since = 0;
        return false;
    }
    if (c->incomplete_since == 0 || c->last_record > c->incomplete_since) {
        c->incomplete_since = now;
        return false;
    }
    return limits->slow && now - c->incomplete_since >= limits->slow;
}

static bool is_idle(struct rpc_connection *c, bool moved, int64_t now)
{
    int64_t idle = c->server->limits.idle;

    if (moved || c->kept_count || is_stopped(c))
        c->active = now;
    else if (c->last_record > c->active)
        c->active = c->last_record;
    return idle && now - c->active >= idle;
}

/* After is_idle. */
static bool hoards(const struct rpc_connection *c, int64_t now)
{
    return c->server->limits.hoard && record_stream_hoards(c->stream) &&
           now - c->active >= hoard_span(c->server);
}

static void sweep(struct rpc_connection *c, int64_t now, int64_t span)
{
    struct rpc_server_counts *counts = &c->server->counts;
    uint64_t input = record_stream_input(c->stream), output = record_stream_output(c->stream);
    bool moved = input != c->input_seen || output != c->output_seen;

    if (!moved && c->last_record < now - span)
        record_stream_trim(c->stream);
    c->input_seen = input;
    c->output_seen = output;
    if (is_slow(c, now))
        rpc_connection_close(c, &counts->slow);
    else if (is_idle(c, moved, now))
        rpc_connection_close(c, &counts->idle);
    else if (hoards(c, now))
        rpc_connection_close(c, &counts->hoards);
}

static int64_t part_of(int64_t ns)
{
    return ns && ns / PARTS < SPAN_MIN ? SPAN_MIN : ns / PARTS;
}

/* Time between two sweeps; 0: there is none. */
static int64_t span_of(const struct rpc_server *server)
{
    const struct rpc_server_limits *limits = &server->limits;
    int64_t least = limits->slow;

    if (limits->idle && (!least || limits->idle < least))
        least = limits->idle;
    if (limits->hoard && server->memory.in.waiting + server->memory.out.waiting &&
        (!least || hoard_span(server) < least))
        least = hoard_span(server);
    return part_of(least);
}

static int on_sweep(void *ctx, struct err *err)
{
    struct rpc_server *server = ctx;
    int64_t now = loop_now(server->loop), span = span_of(server);
    struct rpc_connection *next;

    for (struct rpc_connection *c = server->connections; c; c = next) {
        next = c->next;
        sweep(c, now, span);
    }
    span = span_of(server);
    return span ? loop_set(server->loop, &server->sweep, now + span, err) : 0;
}

/* Connections begin to wait for memory. */
static void on_crowd(void *ctx)
{
    struct rpc_server *server = ctx;
    int64_t at = loop_now(server->loop) + part_of(server->limits.hoard / HOARD_PARTS);

    if (server->limits.hoard && (!server->sweep.place || at < server->sweep.at))
        loop_set(server->loop, &server->sweep, at, NULL); /* without memory: when it comes anyway */
}

struct record_limits rpc_server_stream_limits(struct rpc_server *server)
{
    const struct rpc_server_limits *limits = &server->limits;

    return (struct record_limits){ .record_max = limits->record_max,
                                   .output_stop = limits->output_stop,
                                   .answer =
                                       2 * limits->reply_max, /* a program may send it again */
                                   .memory = limits->memory ? &server->memory : NULL };
}

int rpc_server_watch_over(struct rpc_server *server, struct err *err)
{
    const struct rpc_server_limits *limits = &server->limits;
    struct record_limits of_stream = rpc_server_stream_limits(server);
    int64_t span = span_of(server);
    int result = 0;

    server->sweep = (struct timer){ .due = on_sweep, .ctx = server };
    if (limits->memory)
        result = record_memory_init(&server->memory, limits->memory, limits->listen.connections,
                                    &of_stream, err);
    server->memory.in.crowd = server->memory.out.crowd = on_crowd;
    server->memory.in.ctx = server->memory.out.ctx = server;
    if (result == 0 && span)
        result = loop_set(server->loop, &server->sweep, loop_clock() + span, err);
    return result;
}

void rpc_server_memory(const struct rpc_server *server, struct rpc_server_memory *sum)
{
    const struct budget *in = &server->memory.in, *out = &server->memory.out;

    *sum = (struct rpc_server_memory){ .limit = server->limits.memory,
                                       .held = in->held + out->held,
                                       .most = in->most + out->most,
                                       .waits = in->waits + out->waits,
                                       .waiting = in->waiting + out->waiting };
}
