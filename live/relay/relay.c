/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay.c
 *
 * The relay's connections: accepting them, connecting to the server, and their ends.  Contract:
 * relay.h.
 */
#include "relay/relay_parts.h"
#include "net/source_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

/* --- ends */

static void set_linger(int fd, int on)
{
    const struct linger linger = { .l_onoff = on, .l_linger = 0 };

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

static void count_end(struct pair *pair, enum relay_why why)
{
    struct relay_counts *c = &pair->relay->counts;

    c->to_server.lost += pair->to_server.held_len;
    c->to_client.lost += pair->to_client.held_len;
    if (why == RELAY_WHY_ENDED)
        c->ended++;
    else if (why == RELAY_WHY_CLIENT)
        c->reset_by_client++;
    else if (why == RELAY_WHY_SERVER)
        c->reset_by_server++;
}

/* The server's side is reset by close, because it lingers for no time (relay.h). */
void relay_end(struct pair *pair, enum relay_why why)
{
    struct relay *relay = pair->relay;

    if (pair->connected) {
        count_end(pair, why);
        relay_copy_mark(pair, RELAY_CLOSED, 0, why);
    }
    loop_unwatch(relay->loop, &pair->client.watch);
    loop_unwatch(relay->loop, &pair->server.watch);
    if (why == RELAY_WHY_ENDED)
        set_linger(pair->server.fd, 0);
    else
        set_linger(pair->client.fd, 1);
    close(pair->client.fd);
    if (pair->server.fd >= 0)
        close(pair->server.fd);
    listeners_left(pair->lane->listeners, &pair->client_address);
    relay_inject_end(pair);
    free(pair->to_server.held);
    free(pair->to_client.held);
    *pair->self = pair->next;
    if (pair->next)
        pair->next->self = pair->self;
    relay->open--;
    free(pair);
}

/* --- connecting */

void relay_set_end(struct relay_end *end, const struct net_address *address)
{
    ports_address(address, end->address);
    end->port = net_address_port(address);
    end->scope = address->family == AF_INET6 ? address->v6.sin6_scope_id : 0;
}

void relay_set_end_of(struct relay_end *end, int fd, bool peer)
{
    struct net_address a = { .family = AF_UNSPEC };

    if ((peer ? net_address_of_peer(fd, &a, NULL) : net_address_of_socket(fd, &a, NULL)) == 0)
        relay_set_end(end, &a);
}

static int on_connected(void *ctx, uint32_t events, struct err *err)
{
    struct side *side = ctx;
    struct pair *pair = side->pair;
    int error = 0;
    socklen_t len = sizeof(error);

    (void)events, (void)err;
    if (getsockopt(side->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error) {
        pair->relay->counts.unreachable++;
        relay_end(pair, RELAY_WHY_SERVER);
        return 0;
    }
    relay_set_end_of(&pair->ends.connects, side->fd, false);
    relay_set_end_of(&pair->ends.server, side->fd, true);
    pair->connected = true;
    side->watch.ready = relay_pass_ready;
    pair->client.watch.ready = relay_pass_ready;
    relay_copy_open(pair, 0);
    relay_pass_begin(pair);
    return 0;
}

/* Until the server is reached, a client can only go. */
static int on_waiting(void *ctx, uint32_t events, struct err *err)
{
    struct side *side = ctx;

    (void)err;
    if (events & (EPOLLHUP | EPOLLERR))
        relay_end(side->pair, RELAY_WHY_CLIENT);
    return 0;
}

int relay_connect(struct relay *relay, const struct net_address *local,
                  const struct net_address *server, const struct net_address *client, int type)
{
    struct ports *ports = relay->setup.ports;
    uint16_t port = ports_find(ports, client);
    struct source_port from = { SOURCE_PORT_FIXED, relay->setup.transparent ? *client : *local,
                                relay->setup.transparent };
    struct net_address ours;
    int fd, error = 0;

    net_address_set_port(&from.local, port);
    if (port && source_port_connect(&from, server, type, &fd, &error, NULL) == 0)
        return fd;
    if (port && error != EADDRINUSE && error != EADDRNOTAVAIL && error != EACCES)
        return -ERR_SYSTEM;
    from.kind = port && port < IPPORT_RESERVED && error != EACCES ? SOURCE_PORT_PRIVILEGED
                                                                  : SOURCE_PORT_ANY;
    if (source_port_connect(&from, server, type, &fd, &error, NULL) < 0)
        return -ERR_SYSTEM;
    if (net_address_of_socket(fd, &ours, NULL) == 0)
        ports_note(ports, client, net_address_port(&ours));
    return fd;
}

static bool same_end(const struct relay_end *a, const struct relay_end *b)
{
    return a->port == b->port && a->scope == b->scope &&
           memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

/* A client that was restarted may come from the port of a connection whose end nobody has told the
 * relay yet.  One port can also have connections to several addresses of the relay at once. */
static void end_earlier(struct pair *begun)
{
    struct relay *relay = begun->relay;
    struct pair *next;

    for (struct pair *pair = relay->pairs; pair; pair = next) {
        next = pair->next;
        if (pair != begun && same_end(&pair->ends.client, &begun->ends.client) &&
            same_end(&pair->ends.listens, &begun->ends.listens)) {
            relay->counts.replaced++;
            relay_end(pair, RELAY_WHY_CLIENT);
        }
    }
}

static struct pair *new_pair(struct lane *lane, int fd, const struct net_address *client)
{
    struct relay *relay = lane->relay;
    struct pair *pair = calloc(1, sizeof(*pair));

    if (!pair)
        return NULL;
    *pair = (struct pair){ .relay = relay,
                           .lane = lane,
                           .number = ++relay->last_number,
                           .client_address = *client,
                           .client = { pair, { .fd = -1, .ready = on_waiting }, fd },
                           .server = { pair, { .fd = -1, .ready = on_connected }, -1 },
                           .next = relay->pairs,
                           .self = &relay->pairs };
    pair->client.watch.ctx = &pair->client;
    pair->server.watch.ctx = &pair->server;
    pair->to_server = (struct pass){ .from = &pair->client,
                                     .to = &pair->server,
                                     .kind = RELAY_TO_SERVER,
                                     .counts = &relay->counts.to_server };
    pair->to_client = (struct pass){ .from = &pair->server,
                                     .to = &pair->client,
                                     .kind = RELAY_TO_CLIENT,
                                     .counts = &relay->counts.to_client };
    relay_set_end(&pair->ends.client, client);
    relay_set_end_of(&pair->ends.listens, fd, false);
    if (pair->next)
        pair->next->self = &pair->next;
    relay->pairs = pair;
    relay->open++;
    return pair;
}

static int begin_pair(struct pair *pair, struct err *err)
{
    struct relay *relay = pair->relay;
    const int one = 1;

    setsockopt(pair->server.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    /* peers that vanished must not keep a connection for ever */
    setsockopt(pair->server.fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    setsockopt(pair->client.fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    set_linger(pair->server.fd, 1);
    pair->client.watch.fd = pair->client.fd;
    if (loop_watch(relay->loop, &pair->client.watch, 0, err) < 0) {
        pair->client.watch.fd = -1;
        return -ERR_SYSTEM;
    }
    pair->server.watch.fd = pair->server.fd;
    if (loop_watch(relay->loop, &pair->server.watch, EPOLLOUT, err) < 0) {
        pair->server.watch.fd = -1;
        return -ERR_SYSTEM;
    }
    return 0;
}

static int on_accepted(void *ctx, int fd, const struct net_address *peer, struct err *err)
{
    struct lane *lane = ctx;
    struct relay *relay = lane->relay;
    struct pair *pair;

    (void)err; /* what fails for one client does not end the relay */
    relay->counts.connections++;
    pair = new_pair(lane, fd, peer);
    if (!pair) {
        relay->counts.failed++;
        listeners_left(lane->listeners, peer);
        close(fd);
        return 0;
    }
    end_earlier(pair);
    pair->server.fd = relay_connect(relay, &lane->local, &lane->server, peer, SOCK_STREAM);
    if (pair->server.fd < 0 || begin_pair(pair, NULL) < 0) {
        if (pair->server.fd < 0)
            relay->counts.unreachable++;
        else
            relay->counts.failed++;
        relay_end(pair, RELAY_WHY_RELAY);
    }
    return 0;
}

/* --- owners */

struct relay *relay_new(struct loop *loop, const struct relay_setup *setup, struct err *err)
{
    struct relay *relay;

    if (setup->transparent && source_port_allow_transparent(err) < 0)
        return NULL;
    relay = calloc(1, sizeof(*relay));
    if (!relay) {
        err_memory(err, "the relay");
        return NULL;
    }
    relay->loop = loop;
    relay->setup = *setup;
    return relay;
}

void relay_free(struct relay *relay)
{
    if (!relay)
        return;
    while (relay->pairs)
        relay_end(relay->pairs, RELAY_WHY_RELAY);
    relay_udp_free(relay->udp);
    for (uint32_t i = 0; i < relay->lane_count; i++)
        listeners_free(relay->lanes[i].listeners);
    free(relay);
}

/* The address that the system would connect from: a port can only be chosen together with one, if
 * clients on this machine have the same port at other addresses.  One that cannot be used would
 * make every connection fail. */
int relay_find_local(const struct relay *relay, const struct net_address *server,
                     struct net_address *local, struct err *err)
{
    const struct source_port any = { .kind = SOURCE_PORT_ANY, .local = relay->setup.bind };
    char host[NET_ADDRESS_TEXT], there[NET_ADDRESS_TEXT];
    int fd, error, result;

    if (source_port_connect(&any, server, SOCK_DGRAM, &fd, &error, err) < 0) {
        net_address_text(server, there);
        if (!any.local.family)
            return err_prefix(err, "%s", there);
        net_address_host_text(&any.local, host);
        return err_prefix(err, "%s: from %s", there, host);
    }
    result = net_address_of_socket(fd, local, err);
    close(fd);
    return result;
}

int relay_add_server(struct relay *relay, const struct net_address *server, struct err *err)
{
    struct lane *lane = &relay->lanes[relay->lane_count];
    const struct listen_host host = { on_accepted, lane };

    if (relay->lane_count == RELAY_LANES)
        return err_set(err, ERR_USAGE, "more than %d servers to relay to", RELAY_LANES);
    *lane = (struct lane){ .relay = relay, .server = *server };
    if (relay_find_local(relay, server, &lane->local, err) < 0)
        return -ERR_SYSTEM;
    lane->listeners = listeners_new(relay->loop, &relay->setup.limits, &host, err);
    if (!lane->listeners)
        return -ERR_SYSTEM;
    relay->lane_count++;
    return 0;
}

/* The server that was added last. */
static struct listeners *listeners_of_last(struct relay *relay)
{
    return relay->lanes[relay->lane_count - 1].listeners;
}

int relay_add(struct relay *relay, const struct net_address *listen, struct net_address *bound,
              struct err *err)
{
    return listeners_add(listeners_of_last(relay), listen, bound, err);
}

int relay_adopt(struct relay *relay, int fd, struct err *err)
{
    return listeners_adopt(listeners_of_last(relay), fd, err);
}

uint32_t relay_sockets(const struct relay *relay, int *fds)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < relay->lane_count; i++)
        count += listeners_sockets(relay->lanes[i].listeners, fds + count);
    return count;
}

void relay_stop_listening(struct relay *relay)
{
    for (uint32_t i = 0; i < relay->lane_count; i++)
        listeners_stop(relay->lanes[i].listeners);
}

int relay_pause(struct relay *relay, struct err *err)
{
    for (uint32_t i = 0; i < relay->lane_count; i++)
        if (listeners_pause(relay->lanes[i].listeners, err) < 0)
            return -err->code;
    relay->setup.ports = NULL;
    return 0;
}

int relay_go_on(struct relay *relay, struct ports *ports, struct err *err)
{
    relay->setup.ports = ports;
    for (uint32_t i = 0; i < relay->lane_count; i++)
        if (listeners_go_on(relay->lanes[i].listeners, err) < 0)
            return -err->code;
    return 0;
}

void relay_stop_datagrams(struct relay *relay)
{
    relay_udp_free(relay->udp);
    relay->udp = NULL;
}

void relay_announce(struct relay *relay)
{
    relay_copy_marks(relay); /* first, so that readers know the calls */
    for (struct pair *pair = relay->pairs; pair; pair = pair->next)
        if (pair->connected)
            relay_copy_open(pair, RELAY_ANNOUNCED);
    relay_udp_announce(relay->udp);
}

const struct relay_counts *relay_counts(const struct relay *relay)
{
    return &relay->counts;
}

uint32_t relay_connections(const struct relay *relay)
{
    return relay->open;
}

uint32_t relay_flows(const struct relay *relay)
{
    return relay_udp_count(relay->udp);
}

void relay_listen_counts(const struct relay *relay, struct listen_counts *sum)
{
    *sum = (struct listen_counts){ 0 };
    for (uint32_t i = 0; i < relay->lane_count; i++) {
        const struct listen_counts *c = listeners_counts(relay->lanes[i].listeners);

        sum->accepted += c->accepted;
        sum->refused_all += c->refused_all;
        sum->refused_address += c->refused_address;
        sum->failed += c->failed;
        sum->pauses += c->pauses;
    }
}

void relay_each(const struct relay *relay,
                void (*each)(void *ctx, uint64_t number, const struct relay_open *open), void *ctx)
{
    for (const struct pair *pair = relay->pairs; pair; pair = pair->next) {
        struct relay_open open = pair->ends;

        open.to_server = pair->to_server.offset;
        open.to_client = pair->to_client.offset;
        if (pair->connected)
            each(ctx, pair->number, &open);
    }
}
