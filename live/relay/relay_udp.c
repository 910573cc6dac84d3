/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay_udp.c
 *
 * Relays datagrams.  Each client address and port is a flow: a socket of its own to the server,
 * from the client's port as over TCP.  A flow ends after RELAY_FLOW_IDLE without datagrams; when
 * there are RELAY_FLOWS, the one that was idle longest goes.  UDP may lose datagrams, and what
 * cannot be sent at once is dropped and counted: clients send again.
 */
#include "base/digest.h"
#include "relay/relay_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    BUCKETS = 1024,
    READS = 32, /* of one flow and round */
};

struct flow {
    struct udp_lane *lane;
    uint64_t number;
    struct datagram_ends client;
    struct relay_open ends; /* with the bytes so far */
    struct watch watch;     /* of the socket to the server */
    int64_t used;
    struct flow *next, **self;    /* of the bucket */
    struct flow *younger, *older; /* by |used| */
};

struct udp_lane {
    struct relay_udp *udp;
    struct datagram_socket *socket;
    struct net_address server, local;
};

struct relay_udp {
    struct relay *relay;
    struct udp_lane lanes[RELAY_LANES];
    uint32_t lane_count, count;
    struct flow *buckets[BUCKETS];
    struct flow *youngest, *oldest;
    struct timer sweep;
    uint64_t key;
};

/* --- flows */

static uint32_t bucket_of(const struct relay_udp *udp, const struct net_address *peer)
{
    struct relay_end end = { .port = net_address_port(peer) };

    ports_address(peer, end.address);
    return (uint32_t)(XXH3_64bits_withSeed(&end, sizeof(end), udp->key) % BUCKETS);
}

/* A client that sends to two addresses of the relay has a flow for each: each answers it. */
static struct flow *find(const struct udp_lane *lane, uint32_t bucket,
                         const struct datagram_ends *ends)
{
    struct flow *flow = lane->udp->buckets[bucket];

    while (flow && (flow->lane != lane || !net_address_equal(&flow->client.peer, &ends->peer) ||
                    !net_address_same_host(&flow->client.local, &ends->local)))
        flow = flow->next;
    return flow;
}

static void unlink_age(struct relay_udp *udp, struct flow *flow)
{
    *(flow->younger ? &flow->younger->older : &udp->youngest) = flow->older;
    *(flow->older ? &flow->older->younger : &udp->oldest) = flow->younger;
}

static void link_age(struct relay_udp *udp, struct flow *flow)
{
    flow->used = loop_now(udp->relay->loop);
    flow->younger = NULL;
    flow->older = udp->youngest;
    *(flow->older ? &flow->older->younger : &udp->oldest) = flow;
    udp->youngest = flow;
}

static void use(struct flow *flow)
{
    unlink_age(flow->lane->udp, flow);
    link_age(flow->lane->udp, flow);
}

static void copy_entry(struct flow *flow, uint16_t kind, uint64_t offset, uint16_t flags,
                       struct bytes payload)
{
    struct relay *relay = flow->lane->udp->relay;
    const struct ring_entry e = { .connection = flow->number,
                                  .offset = offset,
                                  .time = relay_copy_clock(),
                                  .kind = kind,
                                  .flags = flags };

    if (relay->setup.ring)
        ring_put_whole(relay->setup.ring, &e, payload);
}

static void copy_open(struct flow *flow, uint16_t flags)
{
    copy_entry(flow, RELAY_OPEN, 0, flags | RELAY_DATAGRAMS,
               (struct bytes){ (const uint8_t *)&flow->ends, sizeof(flow->ends) });
}

static void end_flow(struct flow *flow)
{
    struct relay_udp *udp = flow->lane->udp;
    int fd = flow->watch.fd;

    copy_entry(flow, RELAY_CLOSED, 0, RELAY_WHY_RELAY, (struct bytes){ 0 });
    loop_unwatch(udp->relay->loop, &flow->watch);
    close(fd);
    unlink_age(udp, flow);
    *flow->self = flow->next;
    if (flow->next)
        flow->next->self = flow->self;
    udp->count--;
    free(flow);
}

static int on_sweep(void *ctx, struct err *err)
{
    struct relay_udp *udp = ctx;
    int64_t now = loop_now(udp->relay->loop);

    while (udp->oldest && udp->oldest->used + RELAY_FLOW_IDLE <= now)
        end_flow(udp->oldest);
    if (!udp->oldest)
        return 0;
    return loop_set(udp->relay->loop, &udp->sweep, udp->oldest->used + RELAY_FLOW_IDLE, err);
}

/* --- to clients */

static int on_reply(void *ctx, uint32_t events, struct err *err)
{
    struct flow *flow = ctx;
    struct relay *relay = flow->lane->udp->relay;

    (void)events, (void)err;
    for (int i = 0; i < READS; i++) {
        ssize_t got = recv(flow->watch.fd, relay->chunk, RELAY_CHUNK, 0);
        const struct bytes data = { relay->chunk, got > 0 ? (uint32_t)got : 0 };

        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (got < 0) { /* the server's machine says that nobody listens */
            relay->counts.udp_refused++;
            continue;
        }
        relay->counts.udp_to_client++;
        relay->counts.to_client.bytes += data.len;
        if (!datagram_send(flow->lane->socket, &flow->client, data))
            relay->counts.udp_dropped++;
        copy_entry(flow, RELAY_TO_CLIENT, flow->ends.to_client, 0, data);
        flow->ends.to_client += data.len;
        use(flow);
    }
    return 0;
}

/* --- to the server */

static struct flow *new_flow(struct udp_lane *lane, uint32_t bucket,
                             const struct datagram_ends *ends)
{
    struct relay_udp *udp = lane->udp;
    struct relay *relay = udp->relay;
    struct flow *flow;
    int fd;

    if (udp->count == RELAY_FLOWS)
        end_flow(udp->oldest);
    flow = calloc(1, sizeof(*flow));
    fd = flow ? relay_connect(relay, &lane->local, &lane->server, &ends->peer, SOCK_DGRAM) : -1;
    if (fd < 0) {
        free(flow);
        return NULL;
    }
    flow->watch = (struct watch){ .fd = fd, .ready = on_reply, .ctx = flow };
    if ((!udp->sweep.place &&
         loop_set(relay->loop, &udp->sweep, loop_now(relay->loop) + RELAY_FLOW_IDLE, NULL) < 0) ||
        loop_watch(relay->loop, &flow->watch, EPOLLIN, NULL) < 0) {
        close(fd);
        free(flow);
        return NULL;
    }
    datagram_keep_waiting(fd);
    flow->lane = lane;
    flow->number = ++relay->last_number;
    flow->client = *ends;
    relay_set_end(&flow->ends.client, &ends->peer);
    relay_set_end(&flow->ends.listens, &ends->local);
    relay_set_end_of(&flow->ends.connects, fd, false);
    relay_set_end_of(&flow->ends.server, fd, true);
    flow->next = udp->buckets[bucket];
    flow->self = &udp->buckets[bucket];
    if (flow->next)
        flow->next->self = &flow->next;
    udp->buckets[bucket] = flow;
    link_age(udp, flow);
    udp->count++;
    copy_open(flow, 0);
    return flow;
}

static int on_call(void *ctx, struct bytes data, const struct datagram_ends *ends, struct err *err)
{
    struct udp_lane *lane = ctx;
    struct relay *relay = lane->udp->relay;
    uint32_t bucket = bucket_of(lane->udp, &ends->peer);
    struct flow *flow = find(lane, bucket, ends);
    ssize_t sent;

    (void)err; /* what fails for one client does not end the relay */
    if (!flow)
        flow = new_flow(lane, bucket, ends);
    if (!flow) {
        relay->counts.failed++;
        return 0;
    }
    relay->counts.udp_to_server++;
    relay->counts.to_server.bytes += data.len;
    sent = send(flow->watch.fd, data.data, data.len, MSG_NOSIGNAL);
    if (sent < 0 && errno == ECONNREFUSED) /* that was about an earlier one */
        sent = send(flow->watch.fd, data.data, data.len, MSG_NOSIGNAL);
    if (sent < 0)
        relay->counts.udp_dropped++;
    copy_entry(flow, RELAY_TO_SERVER, flow->ends.to_server, 0, data);
    flow->ends.to_server += data.len;
    use(flow);
    return 0;
}

/* --- owners */

static struct relay_udp *udp_of(struct relay *relay)
{
    struct relay_udp *udp = relay->udp ? relay->udp : calloc(1, sizeof(*udp));

    if (!udp || relay->udp)
        return udp;
    udp->relay = relay;
    udp->sweep = (struct timer){ .due = on_sweep, .ctx = udp };
    if (getrandom(&udp->key, sizeof(udp->key), GRND_NONBLOCK) < 0)
        udp->key = (uint64_t)loop_clock();
    relay->udp = udp;
    return udp;
}

static int add_lane(struct relay *relay, const struct net_address *listen,
                    const struct net_address *server, struct err *err)
{
    struct relay_udp *udp = udp_of(relay);
    struct udp_lane *lane;
    struct datagram_host host = { .received = on_call };

    if (!udp)
        return err_memory(err, "the relay of datagrams");
    if (udp->lane_count == RELAY_LANES)
        return err_set(err, ERR_USAGE, "more than %d addresses to relay", RELAY_LANES);
    lane = &udp->lanes[udp->lane_count];
    *lane = (struct udp_lane){ .udp = udp, .server = *server };
    if (relay_find_local(relay, server, &lane->local, err) < 0)
        return -ERR_SYSTEM;
    host.ctx = lane;
    lane->socket = datagram_open(relay->loop, listen, &DATAGRAM_LIMITS, &host, err);
    if (!lane->socket)
        return -err->code;
    udp->lane_count++;
    return 0;
}

int relay_add_udp(struct relay *relay, const struct net_address *listen,
                  const struct net_address *server, struct err *err)
{
    if (add_lane(relay, listen, server, err) < 0)
        return -err->code;
    relay->udp_places[relay->udp_place_count++] = (struct udp_place){ *listen, *server };
    return 0;
}

int relay_resume_datagrams(struct relay *relay, struct err *err)
{
    if (relay->udp)
        return 0;
    for (uint32_t i = 0; i < relay->udp_place_count; i++)
        if (add_lane(relay, &relay->udp_places[i].listen, &relay->udp_places[i].server, err) < 0) {
            relay_stop_datagrams(relay);
            return -err->code;
        }
    return 0;
}

void relay_udp_free(struct relay_udp *udp)
{
    if (!udp)
        return;
    while (udp->oldest)
        end_flow(udp->oldest);
    loop_unset(udp->relay->loop, &udp->sweep);
    for (uint32_t i = 0; i < udp->lane_count; i++)
        datagram_free(udp->lanes[i].socket);
    free(udp);
}

void relay_udp_announce(struct relay_udp *udp)
{
    for (struct flow *flow = udp ? udp->oldest : NULL; flow; flow = flow->younger)
        copy_open(flow, RELAY_ANNOUNCED);
}

uint32_t relay_udp_count(const struct relay_udp *udp)
{
    return udp ? udp->count : 0;
}
