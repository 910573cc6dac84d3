/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/cmd_relay.c
 *
 * nfstee relay: addresses and signals around relay/relay.h.
 */
#include "base/values.h"
#include "relay/hand_over.h"
#include "tee/commands.h"
#include "tee/find_server.h"
#include "tee/portmap_answers.h"
#include "tee/relay_options.h"
#include "tee/tell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { OTHER_DESCRIPTORS = 100 /* sockets for listening, control, metrics and readers */ };

struct program {
    struct relay_options options;
    struct told told;
    struct control *control;
    struct metrics *metrics;
    struct portmap_answers *portmap;
    struct server_place server;
    uint16_t nfs_port, mount_port; /* where clients connect */
    struct timer end;
    struct hand_over *hand_over;
    int taken[HAND_OVER_SOCKETS]; /* from a predecessor, until they are used; -1: used */
    int taken_count;
    int64_t drained; /* when connections end after a hand-over */
    struct timer drain;
};

/* --- the run */

static int ended(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

static void announce(void *ctx)
{
    relay_announce(((struct told *)ctx)->relay);
}

/* Uses the predecessor's socket for |address|, if there is one.  Returns 1, 0 if there is none, or
 * a negative code. */
static int adopt(struct program *p, const struct net_address *address,
                 const struct net_address *server, struct err *err)
{
    for (int i = 0; i < p->taken_count; i++) {
        struct net_address its;
        int fd = p->taken[i];

        if (fd < 0 || net_address_of_socket(fd, &its, NULL) < 0 ||
            !net_address_equal(&its, address))
            continue;
        p->taken[i] = -1;
        return relay_adopt(p->told.relay, fd, server, err) < 0 ? -err->code : 1;
    }
    return 0;
}

/* Listens at |address|. */
static int add_at(struct program *p, const struct net_address *address,
                  const struct net_address *server, struct net_address *bound, struct err *err)
{
    int result = adopt(p, address, server, err);

    *bound = *address;
    if (result == 0)
        result = relay_add(p->told.relay, address, server, bound, err);
    if (result >= 0 && !p->options.no_udp)
        result = relay_add_udp(p->told.relay, bound, server, err);
    return result < 0 ? result : 0;
}

/* Relays one protocol, at every address that its name has. */
static int add(struct program *p, const char *listen, const struct net_address *server,
               uint16_t *port, struct err *err)
{
    const char *what = port == &p->nfs_port ? "NFS" : "MOUNT";
    struct net_address_name name;
    struct net_address found[2], bound;
    char at[NET_ADDRESS_TEXT], there[NET_ADDRESS_TEXT];
    int count;

    if (net_address_name_parse(listen, &name, err) < 0)
        return err_prefix(err, "%s", listen);
    count = net_address_resolve(&name, true, found, 2, err);
    if (count < 0)
        return err_prefix(err, "%s", listen);
    for (int i = 0; i < count; i++) {
        if (i && !name.port) /* one free port for both kinds of addresses */
            net_address_set_port(&found[i], net_address_port(&bound));
        if (add_at(p, &found[i], server, &bound, err) < 0)
            return -err->code;
        *port = net_address_port(&bound);
        if (!p->options.quiet)
            printf("%s: %s to %s\n", what, net_address_text(&bound, at),
                   net_address_text(server, there));
    }
    return 0;
}

static int begin_ring(struct program *p, struct err *err)
{
    const struct ring_door_host host = { announce, &p->told };

    if (!p->options.attach)
        return 0;
    p->told.ring = ring_new(p->options.ring_size, err);
    if (!p->told.ring)
        return err_prefix(err, "--ring");
    p->told.door = ring_door_new(p->told.loop, p->options.attach, p->told.ring, &host, err);
    return p->told.door ? 0 : err_prefix(err, "--attach");
}

static int begin_telling(struct program *p, struct err *err)
{
    const struct relay_options *o = &p->options;
    struct net_address address;
    struct metrics_setup setup;

    if (o->control) {
        p->control = control_new(p->told.loop, o->control, err);
        if (!p->control || tell_control(p->control, &p->told, err) < 0)
            return err_prefix(err, "--control");
    }
    if (!o->metrics)
        return 0;
    if (metrics_address(o->metrics, &address, err) < 0)
        return err_prefix(err, "--metrics");
    setup = tell_metrics(&p->told, &address);
    p->metrics = metrics_new(p->told.loop, &setup, err);
    return p->metrics ? 0 : err_prefix(err, "--metrics");
}

static int find_server(struct program *p, struct err *err)
{
    const struct relay_options *o = &p->options;

    if (server_find(o->to, &p->server, err) < 0)
        return -err->code;
    if (o->mount_to && net_address_parse(o->mount_to, false, &p->server.mount, err) < 0)
        return err_prefix(err, "%s", o->mount_to);
    if (p->server.mount.family && !o->mount_listen &&
        !net_address_equal(&p->server.mount, &p->server.nfs))
        return err_set(err, ERR_USAGE,
                       "%s: MOUNT is at port %u, and NFS at port %u: say --mount-listen "
                       "ADDRESS:PORT for it",
                       o->to, net_address_port(&p->server.mount), net_address_port(&p->server.nfs));
    return 0;
}

/* Rules can also come by the control socket. */
static int begin_faults(struct program *p, struct err *err)
{
    const struct relay_options *o = &p->options;

    if (!o->inject_count && !o->control)
        return 0;
    p->told.faults = faults_new(o->seed, err);
    if (!p->told.faults)
        return -err->code;
    faults_limit(p->told.faults, "a relay", RELAY_EFFECTS);
    for (uint32_t i = 0; i < o->inject_count; i++)
        if (faults_add(p->told.faults, o->inject[i], NULL, err) < 0)
            return err_prefix(err, "--inject");
    return 0;
}

static int begin_relay(struct program *p, struct err *err)
{
    const struct relay_options *o = &p->options;
    struct relay_setup setup = { .limits = LISTEN_LIMITS,
                                 .ring = p->told.ring,
                                 .faults = p->told.faults };
    struct net_address_name name = { .port = 0 };

    setup.transparent = o->transparent;
    setup.limits.connections = (uint32_t)o->connections;
    setup.limits.of_address = (uint32_t)o->of_address;
    if (o->bind) {
        if (snprintf(name.host, sizeof(name.host), "%s", o->bind) >= (int)sizeof(name.host))
            return err_set(err, ERR_USAGE, "--bind: the name is too long");
        if (net_address_resolve(&name, false, &setup.bind, 1, err) < 0)
            return err_prefix(err, "--bind");
    }
    p->told.ports = setup.ports = ports_open(o->ports, err);
    if (!setup.ports)
        return err_prefix(err, "--ports");
    p->told.relay = relay_new(p->told.loop, &setup, err);
    if (!p->told.relay && o->transparent)
        return err_prefix(err, "--transparent");
    if (!p->told.relay || add(p, o->listen, &p->server.nfs, &p->nfs_port, err) < 0)
        return -err->code;
    p->mount_port = p->nfs_port;
    return o->mount_listen ? add(p, o->mount_listen, &p->server.mount, &p->mount_port, err) : 0;
}

static int begin_portmap(struct program *p, struct err *err)
{
    const struct portmap_told told = { .nfs_port = p->nfs_port,
                                       .mount_port = p->mount_port,
                                       .udp = !p->options.no_udp,
                                       .no_acl = p->server.no_acl };
    struct net_address address;

    if (!p->options.portmap)
        return 0;
    if (net_address_parse(p->options.portmap, true, &address, err) < 0)
        return err_prefix(err, "--portmap");
    p->portmap = portmap_answers_new(p->told.loop, &address, &told, err);
    return p->portmap ? 0 : err_prefix(err, "--portmap");
}

/* --- taking over */

static int on_drain(void *ctx, struct err *err)
{
    enum { LOOK = 50000000 }; /* ns */
    struct program *p = ctx;
    int64_t now = loop_now(p->told.loop);

    if (now < p->drained && relay_connections(p->told.relay))
        return loop_set(p->told.loop, &p->drain, now + LOOK, err);
    loop_stop(p->told.loop);
    return 0;
}

static uint32_t release(void *ctx, int *sockets)
{
    struct program *p = ctx;

    relay_stop_datagrams(p->told.relay);
    if (p->told.door)
        ring_door_shut(p->told.door);
    control_free(p->control);
    metrics_free(p->metrics);
    portmap_answers_free(p->portmap);
    ports_close(p->told.ports);
    p->control = NULL;
    p->metrics = NULL;
    p->portmap = NULL;
    p->told.ports = NULL;
    return relay_sockets(p->told.relay, sockets);
}

static int given(void *ctx, struct err *err)
{
    struct program *p = ctx;

    relay_stop_listening(p->told.relay);
    p->drained = loop_now(p->told.loop) + p->options.drain;
    p->drain = (struct timer){ .due = on_drain, .ctx = p };
    return loop_set(p->told.loop, &p->drain, loop_now(p->told.loop), err);
}

static int take_over(struct program *p, struct err *err)
{
    if (p->options.upgrade)
        p->taken_count = hand_over_take(p->options.upgrade, p->taken, err);
    return p->taken_count < 0 ? err_prefix(err, "--upgrade") : 0;
}

/* Sockets that no option names are closed. */
static int await_successor(struct program *p, struct err *err)
{
    const struct hand_over_host host = { release, given, p };

    for (int i = 0; i < p->taken_count; i++)
        if (p->taken[i] >= 0)
            close(p->taken[i]);
    p->taken_count = 0;
    if (!p->options.upgrade)
        return 0;
    p->hand_over = hand_over_new(p->told.loop, p->options.upgrade, &host, err);
    return p->hand_over ? 0 : err_prefix(err, "--upgrade");
}

/* Each connection needs two descriptors, and systems allow 1024 unless a process asks for more. */
static int raise_limit(const struct relay_options *o, struct err *err)
{
    uint64_t lanes = o->mount_listen ? 2 : 1;
    uint64_t need = 2 * o->connections * lanes + (o->no_udp ? 0 : RELAY_FLOWS) + OTHER_DESCRIPTORS;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return err_set(err, ERR_SYSTEM, "the limit of file descriptors: %s", strerror(errno));
    if (limit.rlim_cur >= need)
        return 0;
    if (limit.rlim_max < need)
        return err_set(err, ERR_USAGE,
                       "%" PRIu64 " connections need %" PRIu64
                       " file descriptors, and this process "
                       "can have %" PRIu64 ": see --connections, and \"ulimit -Hn\"",
                       o->connections, need, (uint64_t)limit.rlim_max);
    limit.rlim_cur = need;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return err_set(err, ERR_SYSTEM, "the limit of file descriptors: %s", strerror(errno));
    return 0;
}

static int begin(struct program *p, struct err *err)
{
    int result;

    if (raise_limit(&p->options, err) < 0)
        return -err->code;

    p->told.loop = loop_new(err);
    if (!p->told.loop)
        return -err->code;
    p->end = (struct timer){ .due = ended, .ctx = p->told.loop };
    result = loop_take_signals(p->told.loop, err);
    if (result == 0)
        result = begin_faults(p, err);
    if (result == 0) /* before the predecessor gives up what it has */
        result = find_server(p, err);
    if (result == 0)
        result = take_over(p, err);
    if (result == 0)
        result = begin_ring(p, err);
    if (result == 0)
        result = begin_relay(p, err);
    if (result == 0)
        result = begin_portmap(p, err);
    if (result == 0)
        result = begin_telling(p, err);
    if (result == 0)
        result = await_successor(p, err);
    if (result == 0 && p->options.duration)
        result = loop_set(p->told.loop, &p->end, loop_clock() + p->options.duration, err);
    return result;
}

static void print_totals(const struct program *p)
{
    const struct relay_counts *c = relay_counts(p->told.relay);
    char to_server[VALUE_TEXT_MAX], to_client[VALUE_TEXT_MAX];

    printf("%" PRIu64 " connections, %s to the server, %s to clients\n", c->connections,
           size_text(c->to_server.bytes, to_server), size_text(c->to_client.bytes, to_client));
}

int cmd_relay(int argc, char **argv, struct err *err)
{
    struct program p = { .control = NULL };
    int result = relay_options_parse(&p.options, argc, argv, err);

    if (result != 1)
        return result;
    result = begin(&p, err);
    fflush(stdout);
    if (result == 0)
        result = loop_run(p.told.loop, err);
    if (result == 0 && !p.options.quiet)
        print_totals(&p);
    hand_over_free(p.hand_over);
    control_free(p.control);
    metrics_free(p.metrics);
    portmap_answers_free(p.portmap);
    relay_free(p.told.relay);
    faults_free(p.told.faults);
    ports_close(p.told.ports);
    ring_door_free(p.told.door);
    ring_free(p.told.ring);
    if (p.told.loop) {
        loop_unset(p.told.loop, &p.end);
        loop_unset(p.told.loop, &p.drain);
    }
    loop_free(p.told.loop);
    return result;
}
