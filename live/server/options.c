/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/options.c
 *
 * ftnfsd's options as one table.
 */
#include "server/options.h"
#include "base/values.h"
#include "metrics/metrics.h"
#include "net/rpc_server.h"
#include "show/args.h"

#include <stdlib.h>
#include <string.h>

enum { PORT_MAX = 65535 };

static int add_export(void *to, const char *value, struct err *err)
{
    struct server_options *o = to;
    struct export_wanted *e;

    if (o->export_count == EXPORTS_MAX)
        return err_set(err, ERR_USAGE, "more than %d exports", EXPORTS_MAX);
    e = &o->exports[o->export_count++];
    e->anonymous_uid = e->anonymous_gid = ANONYMOUS_ID;
    return export_wanted_parse(value, e, err);
}

static int set_image(void *to, const char *value, struct err *err)
{
    struct server_options *o = to;
    struct export_wanted *e = o->export_count ? &o->exports[o->export_count - 1] : NULL;

    if (!e)
        return err_set(err, ERR_USAGE, "say --export /NAME before it");
    if (e->image || e->directory)
        return err_set(err, ERR_USAGE, "%s has %s already; an export begins with one tree", e->name,
                       e->image ? "an image" : "a directory");
    e->image = value;
    return 0;
}

static int add_listen(void *to, const char *value, struct err *err)
{
    struct server_options *o = to;

    if (o->listen_count == OPTIONS_LISTEN_MAX)
        return err_set(err, ERR_USAGE, "more than %d addresses", OPTIONS_LISTEN_MAX);
    o->listen[o->listen_count++] = value;
    return 0;
}

static int add_fault(void *to, const char *value, struct err *err)
{
    struct server_options *o = to;

    if (o->fault_count == OPTIONS_FAULTS_MAX)
        return err_set(err, ERR_USAGE, "more than %d faults", OPTIONS_FAULTS_MAX);
    o->faults[o->fault_count++] = value;
    o->fault_help |= strcmp(value, "help") == 0;
    return 0;
}

static int set_port(void *to, const char *value, struct err *err)
{
    uint64_t port;

    if (!parse_number(value, &port) || port > PORT_MAX)
        return err_set(err, ERR_USAGE, "\"%s\" is not a port", value);
    *(uint64_t *)to = port;
    return 0;
}

static int set_portmap_port(void *to, const char *value, struct err *err)
{
    int result = set_port(to, value, err);

    return result < 0 || *(uint64_t *)to
               ? result
               : err_set(err, ERR_USAGE,
                         "port 0 would be one that no client knows: clients ask at port 111");
}

static int set_mount_port(void *to, const char *value, struct err *err)
{
    struct server_options *o = to;

    o->mount_port_said = true;
    return set_port(&o->mount_port, value, err);
}

static int set_size(void *to, const char *value, struct err *err)
{
    return parse_size(value, to)
               ? 0
               : err_set(err, ERR_USAGE, "\"%s\" is not a size such as 512k, 64M or 2G", value);
}

static int set_transfer(void *to, const char *value, struct err *err)
{
    uint64_t *size = to;
    int result = set_size(to, value, err);

    if (result == 0 && (*size < FS_PAGE || *size > TRANSFER_MAX))
        return err_set(err, ERR_USAGE, "the size must be from 4k to 1M");
    return result;
}

static const char about[] =
    "An NFSv3 server that keeps its files in memory: for tests and demos, without\n"
    "root, kernel or configuration.  It serves NFS, MOUNT and NFSACL over TCP and UDP\n"
    "at one port, on the loopback interface unless --listen says otherwise, and prints\n"
    "how to mount it.  Files are gone when it ends.\n"
    "\n"
    "\"ftnfsd ctl PATH COMMAND [ARGUMENT...]\" sends a command to an ftnfsd that runs with\n"
    "--control PATH.  The command help lists all commands.\n";

static int check(struct server_options *o, struct err *err)
{
    if (!o->memory)
        return err_set(err, ERR_USAGE,
                       "say --memory: files are kept in memory only, and are gone at the end");
    if (!o->export_count)
        return err_set(err, ERR_USAGE,
                       "nothing to serve: say --export /name or --export /name=DIR");
    for (uint32_t i = 0; i < o->export_count; i++)
        o->exports[i].read_only |= o->read_only;
    return 1;
}

int options_parse(struct server_options *o, int argc, char **argv, struct err *err)
{
    /* clang-format off */
    const struct arg table[] = {
        { 'm', "memory", NULL, "keep all files in memory", set_flag, &o->memory },
        { 0, "export", "/NAME[(OPTION,...)][=DIR]",
          "serve a file system as /NAME; with a copy of\nwhat is below DIR at the start; OPTION: ro, rw,\n"
          "root_squash, no_root_squash, all_squash,\nanonuid=N, anongid=N; repeat it for more",
          add_export, o },
        { 0, "image", "FILE", "the export named before begins with the tree of a\n"
          "replay dump or an mtree file; contents are made up", set_image, o },
        { 'l', "listen", "ADDRESS", "address or name to listen at, instead of 127.0.0.1\nand ::1; "
          "repeat it for more", add_listen, o },
        { 0, "port", "PORT", "port of NFS (2049); 0: one that is free", set_port, &o->port },
        { 0, "mount-port", "PORT", "port of MOUNT (the same as that of NFS)", set_mount_port, o },
        { 0, "register", NULL, "tell this machine's rpcbind where NFS and MOUNT are", set_flag,
          &o->register_ },
        { 0, "portmap", "PORT", "answer at this port, too, where NFS and MOUNT are", set_portmap_port,
          &o->portmap_port },
        { 0, "read-only", NULL, "all exports are read-only", set_flag, &o->read_only },
        { 0, "capacity", "SIZE", "bytes that the files of an export can hold", set_size,
          &o->capacity },
        { 0, "memory-limit", "SIZE",
          "memory that each export can take; without it, all\nexports together take at most half of the machine's", set_size,
          &o->memory_limit },
        { 0, "max-objects", "N", "files and directories that an export can hold", set_count,
          &o->objects },
        { 0, "user-capacity", "SIZE", "quota of each user but root, in bytes", set_size,
          &o->user_capacity },
        { 0, "user-objects", "N", "quota of each user but root, in objects", set_count,
          &o->user_objects },
        { 0, "transfer-size", "SIZE", "most bytes of a READ or WRITE (1M)", set_transfer,
          &o->transfer_size },
        { 0, "net-memory", "SIZE", "memory for calls and replies under way of all TCP\nconnections (256M)",
          set_size, &o->net_memory },
        { 0, "no-atime", NULL, "reading does not change access times", set_flag, &o->no_atime },
        { 0, "fault", "SPEC", "answer wrongly, late or not at all:\nREAD:delay=250ms:p=0.01; repeat it for more; help:\nlist what a fault can have",
          add_fault, o },
        { 0, "seed", "N", "seed of the faults' random numbers (1)", set_count, &o->fault_seed },
        { 0, "control", "PATH", "take commands on this Unix socket; see \"ftnfsd ctl\"", set_text,
          &o->control },
        { 0, "metrics", "[ADDRESS:]PORT", "metrics for Prometheus, over HTTP", metrics_known_address, &o->metrics },
        { 0, "record", "FILE", "record its own traffic (.nfsr)", set_text, &o->record },
        { 0, "for", "TIME", "end after this time", set_duration, &o->duration },
        { 'q', "quiet", NULL, "print nothing but errors", set_flag, &o->quiet },
        { 0 },
    };
    /* clang-format on */
    const struct args args = { .usage = "ftnfsd --memory --export /NAME[=DIR]... [OPTION...]",
                               .about = about,
                               .own = table,
                               .takes = "no arguments",
                               .program = "" };
    int first, result;

    memset(o, 0, sizeof(*o));
    o->port = NFS3_PORT;
    o->transfer_size = TRANSFER_MAX;
    o->net_memory = RPC_SERVER_LIMITS.memory;
    o->fault_seed = 1;
    result = args_parse(&args, argc, argv, &first, err);
    if (result == 1 && o->fault_help)
        return 1;
    if (result == 1 && first < argc)
        return err_set(err, ERR_USAGE, "\"%s\": ftnfsd takes no arguments, only options",
                       argv[first]);
    return result == 1 ? check(o, err) : result;
}

void options_free(struct server_options *o)
{
    for (uint32_t i = 0; i < o->export_count; i++) {
        free(o->exports[i].name);
        free(o->exports[i].directory);
    }
}
