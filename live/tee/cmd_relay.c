/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/cmd_relay.c
 *
 * nfstee relay: addresses and signals around relay/relay.h.
 */
#include "base/values.h"
#include "tee/commands.h"
#include "tee/relay_program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { OTHER_DESCRIPTORS = 100 /* sockets for listening, control, metrics and readers */ };

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

static void mark(void *ctx, const uint8_t *bytes)
{
    _Static_assert((int)RING_DOOR_MARK == (int)RELAY_MARK_SIZE, "the door's marks are the relay's");
    relay_mark(((struct told *)ctx)->relay, bytes);
}

static int begin_ring(struct relay_program *p, struct err *err)
{
    const struct ring_door_host host = { announce, &p->told, mark };

    if (!p->options.attach)
        return 0;
    p->told.ring = ring_new(p->options.ring_size, err);
    if (!p->told.ring)
        return err_prefix(err, "--ring");
    p->told.door = ring_door_new(p->told.loop, p->options.attach, p->told.ring, &host, err);
    return p->told.door ? 0 : err_prefix(err, "--attach");
}

int relay_program_control(struct relay_program *p, struct err *err)
{
    if (!p->options.control || p->control)
        return 0;
    p->control = control_new(p->told.loop, p->options.control, err);
    if (p->control && tell_control(p->control, &p->told, err) == 0)
        return 0;
    control_free(p->control);
    p->control = NULL;
    return err_prefix(err, "--control");
}

int relay_program_metrics(struct relay_program *p, struct err *err)
{
    struct metrics_setup setup;

    if (!p->options.metrics.family || p->metrics)
        return 0;
    setup = tell_metrics(&p->told, &p->options.metrics);
    p->metrics = metrics_new(p->told.loop, &setup, err);
    return p->metrics ? 0 : err_prefix(err, "--metrics");
}

static int find_server(struct relay_program *p, struct err *err)
{
    const struct relay_options *o = &p->options;

    if (server_find(o->to, o->transparent, &p->server, err) < 0)
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
static int begin_faults(struct relay_program *p, struct err *err)
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

static void print_place_json(const char *name, const struct net_address *at,
                             const struct net_address *server)
{
    char here[NET_ADDRESS_TEXT], there[NET_ADDRESS_TEXT];
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_text(&j, "listens_for", name);
    json_text(&j, "at", net_address_text(at, here));
    json_text(&j, "server", net_address_text(server, there));
    json_object_end(&j);
    json_end(&j);
}

static void print_place(const char *name, const struct net_address *at,
                        const struct net_address *server)
{
    char here[NET_ADDRESS_TEXT], there[NET_ADDRESS_TEXT];

    printf("%s: %s to %s\n", name, net_address_text(at, here), net_address_text(server, there));
}

/* Relays one program, and notes where. */
static int listen_for(struct relay_program *p, struct relay_place *place,
                      enum portmap_service service, struct err *err)
{
    struct net_address bound;

    place->tell = p->options.json ? print_place_json : p->options.quiet ? NULL : print_place;
    if (relay_listen(p->told.relay, place, &p->taken, &bound, err) < 0)
        return -err->code;
    p->ports.tcp[service] = net_address_port(&bound);
    p->ports.udp[service] = place->udp_port ? net_address_port(&bound) : 0;
    return 0;
}

/* Servers without TCP for them are of the past. */
static int listen_for_locks(struct relay_program *p, const char *name, const char *listen,
                            const struct lock_ports *at, enum portmap_service service,
                            struct err *err)
{
    const struct relay_options *o = &p->options;
    struct relay_place place = { .name = name,
                                 .listen = listen ? listen : o->listen,
                                 .free_port = !listen,
                                 .server = p->server.nfs,
                                 .udp_port = o->no_udp ? 0 : at->udp };

    net_address_set_port(&place.server, at->tcp);
    return at->tcp ? listen_for(p, &place, service, err) : 0;
}

static int begin_listening(struct relay_program *p, struct err *err)
{
    const struct relay_options *o = &p->options;
    const struct server_place *s = &p->server;
    struct relay_place place = { .name = "NFS",
                                 .listen = o->listen,
                                 .server = s->nfs,
                                 .udp_port = o->no_udp ? 0 : net_address_port(&s->nfs) };

    if (listen_for(p, &place, PORTMAP_NFS, err) < 0)
        return -err->code;
    p->ports.tcp[PORTMAP_MOUNT] = p->ports.tcp[PORTMAP_NFS];
    p->ports.udp[PORTMAP_MOUNT] = p->ports.udp[PORTMAP_NFS];
    if (o->mount_listen) {
        place.name = "MOUNT";
        place.listen = o->mount_listen;
        place.server = s->mount;
        place.udp_port = o->no_udp ? 0 : net_address_port(&s->mount);
        if (listen_for(p, &place, PORTMAP_MOUNT, err) < 0)
            return -err->code;
    }
    if (*s->no_locks && !o->quiet && !o->json)
        printf("NLM and NSM are not relayed: %s\n", s->no_locks);
    if (listen_for_locks(p, "NLM", o->nlm_listen, &s->nlm, PORTMAP_NLM, err) < 0)
        return -err->code;
    return listen_for_locks(p, "NSM", o->nsm_listen, &s->nsm, PORTMAP_NSM, err);
}

/* The first address of the name that can reach the server. */
static int find_bind(const struct relay_program *p, struct net_address *bind, struct err *err)
{
    enum { MOST = 16 };
    const sa_family_t family = p->server.nfs.family;
    struct net_address_name name = { .port = 0 };
    struct net_address found[MOST];
    int count;

    if (snprintf(name.host, sizeof(name.host), "%s", p->options.bind) >= (int)sizeof(name.host))
        return err_set(err, ERR_USAGE, "--bind: the name is too long");
    count = net_address_resolve(&name, false, found, MOST, err);
    if (count < 0)
        return err_prefix(err, "--bind");
    for (int i = 0; i < count; i++)
        if (found[i].family == family) {
            *bind = found[i];
            return 0;
        }
    return err_set(err, ERR_USAGE, "--bind: %s is not an address of IPv%d, which the server has",
                   p->options.bind, family == AF_INET6 ? 6 : 4);
}

static int begin_relay(struct relay_program *p, struct err *err)
{
    const struct relay_options *o = &p->options;
    struct relay_setup setup = { .limits = LISTEN_LIMITS,
                                 .ring = p->told.ring,
                                 .faults = p->told.faults };

    setup.transparent = o->transparent;
    setup.limits.connections = (uint32_t)o->connections;
    setup.limits.of_address = (uint32_t)o->of_address;
    if (o->bind && find_bind(p, &setup.bind, err) < 0)
        return -err->code;
    p->told.ports = setup.ports = ports_open(o->ports, err);
    if (!setup.ports)
        return err_prefix(err, "--ports");
    p->told.relay = relay_new(p->told.loop, &setup, err);
    if (!p->told.relay && o->transparent)
        return err_prefix(err, "--transparent");
    return p->told.relay ? begin_listening(p, err) : -err->code;
}

int relay_program_portmap(struct relay_program *p, struct err *err)
{
    struct net_address address;

    if (!p->options.portmap || p->portmap)
        return 0;
    if (net_address_parse(p->options.portmap, true, &address, err) < 0)
        return err_prefix(err, "--portmap");
    p->ports.no_acl = p->server.no_acl;
    p->portmap = portmap_answers_new(p->told.loop, &address, &p->ports, err);
    return p->portmap ? 0 : err_prefix(err, "--portmap");
}

/* --- taking over */

static int take_over(struct relay_program *p, struct err *err)
{
    if (p->options.upgrade)
        p->taken.count = hand_over_take(p->options.upgrade, p->told.loop, p->taken.sockets,
                                        &p->predecessor, err);
    return p->taken.count < 0 ? err_prefix(err, "--upgrade") : 0;
}

/* The last step: the predecessor goes on if this process does not get here. */
static int await_successor(struct relay_program *p, struct err *err)
{
    relay_taken_close(&p->taken); /* those that no option names */
    if (p->options.upgrade && relay_successor_await(p, err) < 0)
        return err_prefix(err, "--upgrade");
    if (p->predecessor < 0)
        return 0;
    return hand_over_confirm(p->predecessor, p->told.loop, err) < 0
               ? err_prefix(err, "--upgrade: %s", p->options.upgrade)
               : 0;
}

/* Each connection needs two descriptors, and systems allow 1024 unless a process asks for more. */
static int raise_limit(const struct relay_options *o, struct err *err)
{
    uint64_t lanes = 1 + (o->mount_listen != NULL) + (o->transparent ? 2 : 0);
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

static int begin(struct relay_program *p, struct err *err)
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
    if (result == 0) /* before it says where it listens */
        result = relay_program_control(p, err);
    if (result == 0)
        result = relay_program_metrics(p, err);
    if (result == 0)
        result = begin_relay(p, err);
    if (result == 0)
        result = relay_program_portmap(p, err);
    if (result == 0 && p->options.duration)
        result = loop_set(p->told.loop, &p->end, loop_clock() + p->options.duration, err);
    if (result == 0)
        result = await_successor(p, err);
    return result;
}

static void print_totals(const struct relay_program *p)
{
    const struct relay_counts *c = relay_counts(p->told.relay);
    char to_server[VALUE_TEXT_MAX], to_client[VALUE_TEXT_MAX];

    if (p->options.json) {
        struct json j = { .out = stdout };

        json_object(&j, NULL);
        tell_statistics(&p->told, &j);
        json_object_end(&j);
        json_end(&j);
        return;
    }
    printf("%" PRIu64 " connections, %s to the server, %s to clients\n", c->connections,
           size_text(c->to_server.bytes, to_server), size_text(c->to_client.bytes, to_client));
}

int cmd_relay(int argc, char **argv, struct err *err)
{
    struct relay_program p = { .predecessor = -1 };
    int result = relay_options_parse(&p.options, argc, argv, err);

    if (result != 1)
        return result;
    result = begin(&p, err);
    fflush(stdout);
    if (result == 0)
        result = loop_run(p.told.loop, err);
    if (result == 0 && (!p.options.quiet || p.options.json))
        print_totals(&p);
    relay_successor_end(&p);
    control_free(p.control);
    metrics_free(p.metrics);
    portmap_answers_free(p.portmap);
    relay_free(p.told.relay);
    faults_free(p.told.faults);
    ports_close(p.told.ports);
    ring_door_free(p.told.door);
    ring_free(p.told.ring);
    if (p.told.loop)
        loop_unset(p.told.loop, &p.end);
    loop_free(p.told.loop);
    if (p.predecessor >= 0)
        close(p.predecessor); /* takes back what is free now, unless it gave its sockets */
    return result;
}
