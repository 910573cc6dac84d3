/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/cmd_relay.c
 *
 * nfstee relay: options, addresses and signals around relay/relay.h.
 */
#include "base/values.h"
#include "relay/hand_over.h"
#include "show/args.h"
#include "tee/commands.h"
#include "tee/portmap_answers.h"
#include "tee/tell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    CONNECTIONS = 1024,
    OTHER_DESCRIPTORS = 100, /* sockets for listening, control, metrics and readers */
};

struct relay_options {
    const char *listen, *to, *mount_listen, *mount_to;
    const char *attach, *bind, *ports, *control, *metrics, *upgrade, *portmap;
    uint64_t ring_size, connections, of_address;
    int64_t duration; /* ns; 0: until a signal */
    int64_t drain;    /* ns */
    bool no_udp, quiet;
};

struct program {
    struct relay_options options;
    struct told told;
    struct control *control;
    struct metrics *metrics;
    struct portmap_answers *portmap;
    uint16_t nfs_port, mount_port; /* where clients connect */
    struct timer end;
    struct hand_over *hand_over;
    int taken[HAND_OVER_SOCKETS]; /* from a predecessor, until they are used; -1: used */
    int taken_count;
    int64_t drained; /* when connections end after a hand-over */
    struct timer drain;
};

/* --- options */

static int set_size(void *to, const char *value, struct err *err)
{
    return parse_size(value, to)
               ? 0
               : err_set(err, ERR_USAGE, "\"%s\" is not a size such as 512k, 64M or 2G", value);
}

static const char about[] =
    "Passes the bytes of NFS clients on to a server, and the server's to the clients.\n"
    "It makes one connection to the server for each one of a client, from the same port\n"
    "number.  Clients mount the relay's address instead of the server's:\n"
    "\n"
    "    nfstee relay --listen :2049 --to server.example:2049\n"
    "\n"
    "With --attach, other processes can see what passes, through a ring in shared\n"
    "memory.  They cannot change it, and the relay does not wait for them.\n";

static int check(const struct relay_options *o, struct err *err)
{
    if (!o->listen || !o->to)
        return err_set(err, ERR_USAGE,
                       "say --listen ADDRESS:PORT for the clients, and --to HOST:PORT for the "
                       "server");
    if (!o->mount_listen != !o->mount_to)
        return err_set(err, ERR_USAGE, "--mount-listen and --mount-to need each other");
    if (!o->connections || o->connections > UINT32_MAX || !o->of_address ||
        o->of_address > UINT32_MAX)
        return err_set(err, ERR_USAGE, "numbers of connections are from 1 to %" PRIu32, UINT32_MAX);
    return 1;
}

static int parse(struct relay_options *o, int argc, char **argv, struct err *err)
{
    /* clang-format off */
    const struct arg table[] = {
        { 'l', "listen", "ADDRESS:PORT", "where clients connect; without ADDRESS, everywhere",
          set_text, &o->listen },
        { 't', "to", "HOST:PORT", "the server's NFS", set_text, &o->to },
        { 0, "mount-listen", "ADDRESS:PORT", "where clients connect for MOUNT, if it has another\n"
          "port than NFS", set_text, &o->mount_listen },
        { 0, "mount-to", "HOST:PORT", "the server's MOUNT", set_text, &o->mount_to },
        { 0, "portmap", "ADDRESS:PORT", "answer here where NFS and MOUNT are", set_text, &o->portmap },
        { 0, "no-udp", NULL, "relay TCP only", set_flag, &o->no_udp },
        { 0, "bind", "ADDRESS", "connect to the server from this address", set_text, &o->bind },
        { 0, "ports", "FILE", "keep here which ports were taken, and what was used\ninstead", set_text,
          &o->ports },
        { 'a', "attach", "PATH", "let processes see what passes, through this Unix\nsocket", set_text,
          &o->attach },
        { 0, "ring", "SIZE", "memory for what passes (64M)", set_size, &o->ring_size },
        { 0, "connections", "N", "most connections (1024)", set_count, &o->connections },
        { 0, "per-client", "N", "most connections of one client address (256)", set_count,
          &o->of_address },
        { 0, "control", "PATH", "take commands on this Unix socket; see \"nfstee ctl\"", set_text,
          &o->control },
        { 0, "metrics", "[ADDRESS:]PORT", "metrics for Prometheus, over HTTP", set_text, &o->metrics },
        { 0, "upgrade", "PATH", "take over from the relay that has this Unix socket,\nand let a successor take over by it",
          set_text, &o->upgrade },
        { 0, "drain", "TIME", "after a successor took over, keep connections so long\n(0)",
          set_duration, &o->drain },
        { 0, "for", "TIME", "end after this time", set_duration, &o->duration },
        { 'q', "quiet", NULL, "print nothing but errors", set_flag, &o->quiet },
        { 0 },
    };
    /* clang-format on */
    const struct args args = { .usage = "nfstee relay --listen ADDRESS:PORT --to HOST:PORT "
                                        "[OPTION...]",
                               .about = about,
                               .own = table,
                               .takes = "no arguments",
                               .program = "nfstee " };
    const struct listen_limits limits = LISTEN_LIMITS;
    int first, result;

    memset(o, 0, sizeof(*o));
    o->ring_size = 64 << 20;
    o->connections = CONNECTIONS;
    o->of_address = limits.of_address;
    result = args_parse(&args, argc, argv, &first, err);
    if (result == 1 && first < argc)
        return err_set(err, ERR_USAGE, "\"%s\": nfstee relay takes no arguments, only options",
                       argv[first]);
    return result == 1 ? check(o, err) : result;
}

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
static int add(struct program *p, const char *listen, const char *to, uint16_t *port,
               struct err *err)
{
    const char *what = port == &p->nfs_port ? "NFS" : "MOUNT";
    struct net_address_name name;
    struct net_address server, found[2], bound;
    char at[NET_ADDRESS_TEXT], there[NET_ADDRESS_TEXT];
    int count;

    if (net_address_parse(to, false, &server, err) < 0)
        return err_prefix(err, "%s", to);
    if (net_address_name_parse(listen, &name, err) < 0)
        return err_prefix(err, "%s", listen);
    count = net_address_resolve(&name, true, found, 2, err);
    if (count < 0)
        return err_prefix(err, "%s", listen);
    for (int i = 0; i < count; i++) {
        if (i && !name.port) /* one free port for both kinds of addresses */
            net_address_set_port(&found[i], net_address_port(&bound));
        if (add_at(p, &found[i], &server, &bound, err) < 0)
            return -err->code;
        *port = net_address_port(&bound);
        if (!p->options.quiet)
            printf("%s: %s to %s\n", what, net_address_text(&bound, at),
                   net_address_text(&server, there));
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

static int begin_relay(struct program *p, struct err *err)
{
    const struct relay_options *o = &p->options;
    struct relay_setup setup = { .limits = LISTEN_LIMITS, .ring = p->told.ring };
    struct net_address_name name = { .port = 0 };

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
    if (!p->told.relay || add(p, o->listen, o->to, &p->nfs_port, err) < 0)
        return -err->code;
    p->mount_port = p->nfs_port;
    return o->mount_listen ? add(p, o->mount_listen, o->mount_to, &p->mount_port, err) : 0;
}

static int begin_portmap(struct program *p, struct err *err)
{
    const struct portmap_told told = { p->nfs_port, p->mount_port, !p->options.no_udp };
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
    int result = parse(&p.options, argc, argv, err);

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
