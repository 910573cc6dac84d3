/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/relay_options.h"
#include "base/values.h"
#include "metrics/metrics.h"
#include "net/address.h"
#include "net/listen.h"
#include "show/args.h"
#include "tee/find_server.h"

#include <inttypes.h>
#include <string.h>

static int set_size(void *to, const char *value, struct err *err)
{
    return parse_size(value, to)
               ? 0
               : err_set(err, ERR_USAGE, "\"%s\" is not a size such as 512k, 64M or 2G", value);
}

/* These three are told apart from their defaults: alone they would do nothing. */
static int set_ring(void *to, const char *value, struct err *err)
{
    struct relay_options *o = to;

    o->has_ring = true;
    return set_size(&o->ring_size, value, err);
}

static int set_drain(void *to, const char *value, struct err *err)
{
    struct relay_options *o = to;

    o->has_drain = true;
    return set_duration(&o->drain, value, err);
}

static int set_seed(void *to, const char *value, struct err *err)
{
    struct relay_options *o = to;

    o->has_seed = true;
    return set_count(&o->seed, value, err);
}

static int add_rule(void *to, const char *value, struct err *err)
{
    struct relay_options *o = to;

    if (o->inject_count == RELAY_RULES_MAX)
        return err_set(err, ERR_USAGE, "more than %d rules", RELAY_RULES_MAX);
    o->inject[o->inject_count++] = value;
    return 0;
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

static int check_address(const char *name, const char *text, struct err *err)
{
    struct net_address_name parsed;

    return text && net_address_name_parse(text, &parsed, err) < 0 ? err_prefix(err, "--%s", name)
                                                                  : 0;
}

/* Of a server, to which the relay connects: its port must be known. */
static int check_server(const char *name, const char *text, struct err *err)
{
    struct net_address_name parsed;

    if (!text)
        return 0;
    if (net_address_name_parse(text, &parsed, err) < 0)
        return err_prefix(err, "--%s", name);
    return parsed.port
               ? 0
               : err_set(err, ERR_USAGE,
                         "--%s: \"%s\": port 0 is not a server's port: say at which port the "
                         "server listens, such as HOST:2049",
                         name, text);
}

/* Of PORTMAP: who has to ask where it is cannot ask. */
static int check_portmap(const char *text, struct err *err)
{
    struct net_address_name parsed;

    if (check_address("portmap", text, err) < 0)
        return -err->code;
    if (!text || net_address_name_parse(text, &parsed, err) < 0 || parsed.port)
        return 0;
    return err_set(err, ERR_USAGE,
                   "--portmap: port 0 would be one that no client knows: clients ask at port 111");
}

static int check_idle(const struct relay_options *o, struct err *err)
{
    if (o->has_ring && !o->attach)
        return err_set(err, ERR_USAGE,
                       "--ring needs --attach: nobody could read the ring; say --attach PATH, too, "
                       "or leave --ring out");
    if (o->has_drain && !o->upgrade)
        return err_set(err, ERR_USAGE,
                       "--drain needs --upgrade: no successor could take over; say --upgrade PATH, "
                       "too, or leave --drain out");
    if (o->has_seed && !o->inject_count && !o->control)
        return err_set(
            err, ERR_USAGE,
            "--seed needs rules, which alone are random: say --inject RULE, or --control "
            "PATH by which rules can come, or leave --seed out");
    return 0;
}

int relay_options_check(const struct relay_options *o, struct err *err)
{
    if (!o->listen || !o->to)
        return err_set(err, ERR_USAGE,
                       "say --listen ADDRESS:PORT for the clients, and --to HOST:PORT for the "
                       "server");
    if (check_address("listen", o->listen, err) < 0 ||
        check_address("mount-listen", o->mount_listen, err) < 0 ||
        (!server_is_nfs_address(o->to) && check_server("to", o->to, err) < 0) ||
        check_server("mount-to", o->mount_to, err) < 0 ||
        check_address("nlm-listen", o->nlm_listen, err) < 0 ||
        check_address("nsm-listen", o->nsm_listen, err) < 0 || check_portmap(o->portmap, err) < 0)
        return -err->code;
    if (server_is_nfs_address(o->to)) {
        if (o->mount_to)
            return err_set(
                err, ERR_USAGE,
                "--mount-to: --to nfs://... says where MOUNT is; add ?mountport=N there");
    } else if (!o->mount_listen != !o->mount_to) {
        return err_set(err, ERR_USAGE, "--mount-listen and --mount-to need each other");
    }
    if ((o->nlm_listen || o->nsm_listen) && !(o->transparent && server_is_nfs_address(o->to)))
        return err_set(
            err, ERR_USAGE,
            "--nlm-listen and --nsm-listen need --transparent, because servers call clients "
            "back, and --to nfs://..., because PORTMAP knows the server's ports");
    if (check_idle(o, err) < 0)
        return -err->code;
    if (o->bind && o->transparent)
        return err_set(err, ERR_USAGE, "--bind and --transparent both say where to connect from");
    if (!o->connections || o->connections > UINT32_MAX || !o->of_address ||
        o->of_address > UINT32_MAX)
        return err_set(err, ERR_USAGE, "numbers of connections are from 1 to %" PRIu32, UINT32_MAX);
    return 1;
}

void relay_options_begin(struct relay_options *o, struct arg *args)
{
    const struct listen_limits limits = LISTEN_LIMITS;
    /* clang-format off */
    const struct arg table[] = {
        { 'l', "listen", "ADDRESS:PORT", "where clients connect; without ADDRESS, everywhere",
          set_text, &o->listen },
        { 0, "to", "SERVER", "HOST:PORT of its NFS; or nfs://HOST/EXPORT: its\nPORTMAP is asked where NFS and MOUNT are", set_text, &o->to },
        { 0, "mount-listen", "ADDRESS:PORT", "where clients connect for MOUNT, if it has another\n"
          "port than NFS", set_text, &o->mount_listen },
        { 0, "mount-to", "HOST:PORT", "the server's MOUNT", set_text, &o->mount_to },
        { 0, "nlm-listen", "ADDRESS:PORT", "where clients connect for locks, with --transparent", set_text, &o->nlm_listen },
        { 0, "nsm-listen", "ADDRESS:PORT", "where clients tell that they restarted, with\n--transparent", set_text, &o->nsm_listen },
        { 0, "portmap", "ADDRESS:PORT", "answer here where NFS and MOUNT are", set_text, &o->portmap },
        { 0, "no-udp", NULL, "relay TCP only", set_flag, &o->no_udp },
        { 0, "bind", "ADDRESS", "connect to the server from this address", set_text, &o->bind },
        { 0, "transparent", NULL, "connect to the server from the clients' addresses", set_flag,
          &o->transparent },
        { 0, "ports", "FILE", "keep here which ports were taken, and what was used\ninstead", set_text,
          &o->ports },
        { 'a', "attach", "PATH", "let processes see what passes, through this Unix\nsocket", set_text,
          &o->attach },
        { 0, "ring", "SIZE", "memory for what passes (64M)", set_ring, o },
        { 0, "connections", "N", "most connections (1024)", set_count, &o->connections },
        { 0, "per-client", "N", "most connections of one client address (256)", set_count,
          &o->of_address },
        { 0, "control", "PATH", "take commands on this Unix socket; see \"nfstee ctl\"", set_text,
          &o->control },
        { 0, "metrics", "[ADDRESS:]PORT", "metrics for Prometheus, over HTTP", metrics_known_address, &o->metrics },
        { 0, "upgrade", "PATH", "take over from the relay that has this Unix socket,\nand let a successor take over by it",
          set_text, &o->upgrade },
        { 0, "drain", "TIME", "after a successor took over, keep connections so long\n(0)",
          set_drain, o },
        { 0, "inject", "RULE", "delay calls or reset connections, to test clients:\nWRITE:delay=250ms:p=0.01; repeat it for more",
          add_rule, o },
        { 0, "seed", "N", "seed of the rules' random numbers (1)", set_seed, o },
        { 0, "for", "TIME", "end after this time", set_duration, &o->duration },
        { 'q', "quiet", NULL, "print nothing but errors", set_flag, &o->quiet },
        { 'j', "json", NULL, "print JSON: a line for each address at which it listens,\nand one at the end",
          set_flag, &o->json },
        { 0 },
    };
    /* clang-format on */

    _Static_assert(sizeof(table) / sizeof(*table) <= RELAY_ARGS, "the table is longer");
    memcpy(args, table, sizeof(table));
    memset(o, 0, sizeof(*o));
    o->ring_size = 64 << 20;
    o->seed = 1;
    o->connections = limits.connections;
    o->of_address = limits.of_address;
}

int relay_options_parse(struct relay_options *o, int argc, char **argv, struct err *err)
{
    struct arg table[RELAY_ARGS];
    const struct args args = { .usage = "nfstee relay --listen ADDRESS:PORT --to SERVER "
                                        "[OPTION...]",
                               .about = about,
                               .own = table,
                               .takes = "no arguments",
                               .program = "nfstee " };
    int first, result;

    relay_options_begin(o, table);
    result = args_parse(&args, argc, argv, &first, err);
    if (result == 1 && first < argc)
        return err_set(err, ERR_USAGE, "\"%s\": nfstee relay takes no arguments, only options",
                       argv[first]);
    return result == 1 ? relay_options_check(o, err) : result;
}
