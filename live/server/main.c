/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/main.c
 *
 * ftnfsd: exports, sockets and signals around serve.h.
 */
#include "base/values.h"
#include "net/fault_control.h"
#include "net/loop.h"
#include "server/image.h"
#include "server/import.h"
#include "server/options.h"
#include "recorder/recorder.h"
#include "server/registration.h"
#include "server/serve.h"
#include "server/tell.h"
#include "wire/field.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SPIN = 50000 }; /* ns: a client's next call mostly comes sooner */

struct ftnfsd {
    struct server_options options;
    struct server server;
    struct rpc_server *rpc;
    struct net_address first; /* that it listens at */
    bool everywhere;          /* it listens at more than loopback addresses */
    struct timer end;
    struct recorder *recorder; /* or NULL, like */
    struct registration registration;
    struct control *control;
    struct metrics *metrics;
};

static void say(const char *text)
{
    fprintf(stderr, "ftnfsd: %s\n", text);
}

/* --- exports */

/* That this process can have. */
static uint64_t memory_there(void)
{
    uint64_t least = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < least)
        least = limit.rlim_cur;
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur < least)
        least = limit.rlim_cur;
    return least;
}

/* Without a limit the kernel would end the process, not refuse memory; and at a limit of the
 * process there would be none for connections. */
static uint64_t memory_of_export(const struct server_options *o)
{
    return o->memory_limit ? o->memory_limit : memory_there() / 2 / o->export_count;
}

static int copy_directory(const struct ftnfsd *p, const struct export_wanted *wanted, struct fs *fs,
                          struct err *err)
{
    struct import_counts counts;
    char size[VALUE_TEXT_MAX], objects[VALUE_TEXT_MAX];

    if (import_tree(fs, wanted->directory, &counts, err) < 0)
        return -err->code;
    if (counts.objects && !p->options.quiet)
        printf("%s: a copy of %s, %s objects, %s\n", wanted->name, wanted->directory,
               count_text(counts.objects, objects), size_text(counts.bytes, size));
    if (counts.extended && !p->options.quiet)
        printf("%s: extended attributes and access lists of %s objects were not copied\n",
               wanted->name, count_text(counts.extended, objects));
    return 0;
}

static int make_image(const struct ftnfsd *p, const struct export_wanted *wanted, struct fs *fs,
                      struct err *err)
{
    struct image_counts counts;
    char size[VALUE_TEXT_MAX], objects[VALUE_TEXT_MAX];

    if (image_load(fs, wanted->image, &counts, err) < 0)
        return err_prefix(err, "--image");
    if (p->options.quiet)
        return 0;
    printf("%s: the tree of %s, %s objects, %s of contents made up\n", wanted->name, wanted->image,
           count_text(counts.objects, objects), size_text(counts.bytes, size));
    if (counts.roots)
        printf("%s: %s objects without an entry are root-N, with their numbers\n", wanted->name,
               count_text(counts.roots, objects));
    if (counts.further)
        printf("%s: %s links that no entry shows are in scratch\n", wanted->name,
               count_text(counts.further, objects));
    return 0;
}

/* Makes what the export begins with. */
static int furnish(const struct ftnfsd *p, const struct export_wanted *wanted, struct fs *fs,
                   struct err *err)
{
    if (wanted->directory)
        return copy_directory(p, wanted, fs, err);
    return wanted->image ? make_image(p, wanted, fs, err) : 0;
}

static int add_export(struct ftnfsd *p, const struct export_wanted *wanted, struct err *err)
{
    const struct server_options *o = &p->options;
    struct fs_config config = { .fsid = p->server.service.export_count + 1,
                                .capacity = o->capacity,
                                .memory = memory_of_export(o),
                                .objects = o->objects,
                                .user_capacity = o->user_capacity,
                                .user_objects = o->user_objects,
                                .root_mode = 0777 | MODE_STICKY,
                                .no_atime = o->no_atime };
    struct export_options options = { .name = wanted->name,
                                      .read_only = wanted->read_only,
                                      .squash = wanted->squash,
                                      .anonymous_uid = wanted->anonymous_uid,
                                      .anonymous_gid = wanted->anonymous_gid };
    struct fs *fs;

    if (!wanted->squash_said)
        options.squash = p->everywhere ? SQUASH_ROOT : SQUASH_NONE;
    config.keep_unstable = o->control != NULL; /* a fault may come by it */
    for (uint32_t i = 0; i < o->fault_count; i++)
        config.keep_unstable |= strstr(o->faults[i], "lose-unstable") != NULL;
    fs = fs_new(&config, err);
    if (!fs)
        return -ERR_SYSTEM;
    if (furnish(p, wanted, fs, err) < 0) {
        fs_free(fs);
        return -err->code;
    }
    return service_export(&p->server.service, &options, fs, err);
}

/* --- addresses */

/* Listens at |address| and |*port|, which becomes what it is if it was 0. */
static int listen_at_port(struct ftnfsd *p, const struct net_address *address, uint16_t *port,
                          struct err *err)
{
    struct net_address at = *address, bound;
    int result;

    net_address_set_port(&at, *port);
    result = rpc_server_listen_both(p->rpc, &at, &bound, err);
    if (result == 0)
        *port = net_address_port(&bound);
    return result;
}

/* Every program at the port of NFS; also at those of MOUNT and PORTMAP, if they have their own. */
static int listen_at(struct ftnfsd *p, const struct net_address *address, struct err *err)
{
    struct server *s = &p->server;
    int result = listen_at_port(p, address, &s->nfs_port, err);

    p->everywhere |= !net_address_is_loopback(address);
    if (result < 0)
        return result;
    if (!p->first.family)
        p->first = *address;
    if (!p->options.mount_port_said)
        s->mount_port = s->nfs_port;
    else if (s->mount_port != s->nfs_port)
        result = listen_at_port(p, address, &s->mount_port, err);
    if (result == 0 && s->portmap_port)
        result = listen_at_port(p, address, &s->portmap_port, err);
    return result;
}

static int listen_to_name(struct ftnfsd *p, const char *text, struct err *err)
{
    struct net_address_name name = { .port = 0 };
    struct net_address found[OPTIONS_LISTEN_MAX];
    int count, result = 0;

    if (snprintf(name.host, sizeof(name.host), "%s", text) >= (int)sizeof(name.host))
        return err_set(err, ERR_USAGE, "--listen: the name is too long");
    count = net_address_resolve(&name, true, found, OPTIONS_LISTEN_MAX, err);
    if (count < 0)
        return count;
    for (int i = 0; i < count && result == 0; i++)
        result = listen_at(p, &found[i], err);
    return result;
}

/* ::1 may be missing. */
static int listen_to_loopback(struct ftnfsd *p, struct err *err)
{
    struct net_address v4 = { .v4 = { .sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
    struct net_address v6 = { .v6 = { .sin6_family = AF_INET6,
                                      .sin6_addr = IN6ADDR_LOOPBACK_INIT } };
    int result = listen_at(p, &v4, err);

    if (result == 0)
        listen_at(p, &v6, NULL);
    return result;
}

static int listen_to_all(struct ftnfsd *p, struct err *err)
{
    int result = p->options.listen_count ? 0 : listen_to_loopback(p, err);

    for (uint32_t i = 0; i < p->options.listen_count && result == 0; i++)
        result = listen_to_name(p, p->options.listen[i], err);
    return result;
}

/* --- what a person sees */

/* A word of a command, in quotes if a shell would take it for something else. */
static void print_word(const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "/:._-+,@%[]";

    if (!word[strspn(word, plain)]) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*word);
    putchar('\'');
}

static void print_exports(const struct ftnfsd *p)
{
    const struct service *service = &p->server.service;
    unsigned nfs = p->server.nfs_port, mount = p->server.mount_port;
    struct net_address at = p->first;
    char host[NET_ADDRESS_TEXT], url[NFS_ADDRESS_TEXT], place[NFS_ADDRESS_TEXT];

    net_address_name_wildcard(&at);
    net_address_host_text(&at, host);
    for (uint32_t i = 0; i < service->export_count; i++) {
        const char *name = service->exports[i].name;
        struct nfs_address address = { .nfs_port = (uint16_t)nfs, .mount_port = (uint16_t)mount };

        snprintf(address.host, sizeof(address.host), "%s", host);
        snprintf(address.path, sizeof(address.path), "%s", name);
        printf("mount -t nfs -o vers=3,proto=tcp,port=%u,mountproto=tcp,mountport=%u,nolock ", nfs,
               mount);
        snprintf(place, sizeof(place), p->first.family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
                 name);
        print_word(place);
        printf(" /mnt\n%s\n", nfs_address_text(&address, url));
    }
    fflush(stdout);
}

static void print_totals(const struct ftnfsd *p)
{
    const struct rpc_server_counts *c = rpc_server_counts(p->rpc);
    uint64_t refused = 0;
    char calls[VALUE_TEXT_MAX], replies[VALUE_TEXT_MAX];

    for (size_t i = 0; i < sizeof(c->refused) / sizeof(c->refused[0]); i++)
        refused += c->refused[i];
    printf("%s calls, %s replies, %" PRIu64 " refused, %" PRIu64 " connections, %" PRIu64
           " messages that are no calls\n",
           count_text(c->calls, calls), count_text(c->replies, replies), refused, c->connections,
           c->not_rpc + c->not_a_call + c->too_long + c->cut);
}

/* --- recording */

static void record_call(void *ctx, const struct rpc_call *call)
{
    struct ftnfsd *p = ctx;

    recorder_put(p->recorder, &(struct recorded){ &call->ends.peer, &call->ends.local,
                                                  call->transport == RPC_UDP, call->message });
}

static void record_reply(void *ctx, const struct rpc_call *call, struct bytes reply, int64_t now)
{
    struct ftnfsd *p = ctx;

    (void)now;
    recorder_put(p->recorder, &(struct recorded){ &call->ends.local, &call->ends.peer,
                                                  call->transport == RPC_UDP, reply });
}

/* --- the run */

static int ended(void *ctx, struct err *err)
{
    struct ftnfsd *p = ctx;

    (void)err;
    loop_stop(p->server.loop);
    return 0;
}

static int begin_telling(struct ftnfsd *p, struct err *err)
{
    const struct server_options *o = &p->options;
    struct metrics_setup setup;

    if (o->control) {
        p->control = control_new(p->server.loop, o->control, err);
        if (!p->control || tell_control(p->control, &p->server, err) < 0 ||
            fault_control_add(p->control, p->server.faults, err) < 0)
            return -err->code;
    }
    if (!o->metrics.family)
        return 0;
    setup = tell_metrics(&p->server, &o->metrics);
    p->metrics = metrics_new(p->server.loop, &setup, err);
    return p->metrics ? 0 : err_prefix(err, "--metrics");
}

static int begin(struct ftnfsd *p, struct err *err)
{
    const struct server_options *o = &p->options;
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    const struct rpc_tap tap = { record_call, record_reply, p };
    int result = service_init(&p->server.service, err);

    p->server.service.transfer_max = (uint32_t)o->transfer_size;
    p->server.loop = loop_new(err);
    if (result < 0 || !p->server.loop)
        return -err->code;
    if (o->record && !(p->recorder = recorder_new(o->record, err)))
        return -err->code;
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
        loop_spin(p->server.loop, SPIN);
    limits.memory = o->net_memory;
    p->rpc = rpc_server_new(p->server.loop, &limits, p->recorder ? &tap : NULL, err);
    if (!p->rpc)
        return err->code == ERR_USAGE ? err_prefix(err, "--net-memory") : -err->code;
    p->server.nfs_port = (uint16_t)o->port;
    p->server.mount_port = (uint16_t)o->mount_port;
    p->server.portmap_port = (uint16_t)o->portmap_port;
    result = loop_take_signals(p->server.loop, err);
    if (result == 0)
        result = listen_to_all(p, err);
    for (uint32_t i = 0; i < o->export_count && result == 0; i++)
        result = add_export(p, &o->exports[i], err);
    if (result == 0)
        result = serve_begin(&p->server, p->rpc, o->fault_seed, err);
    for (uint32_t i = 0; i < o->fault_count && result == 0; i++)
        if (faults_add(p->server.faults, o->faults[i], NULL, err) < 0)
            result = err_prefix(err, "--fault %s (see --fault help)", o->faults[i]);
    if (result == 0)
        result = begin_telling(p, err);
    if (result == 0 && o->register_) {
        p->registration = (struct registration){ p->server.nfs_port, p->server.mount_port, false };
        result = registration_begin(&p->registration, err);
    }
    p->end = (struct timer){ .due = ended, .ctx = p };
    if (result == 0 && o->duration)
        result = loop_set(p->server.loop, &p->end, loop_clock() + o->duration, err);
    return result;
}

static int run(struct ftnfsd *p, struct err *err)
{
    int result = begin(p, err);

    if (result == 0 && !p->options.quiet)
        print_exports(p);
    if (result == 0)
        result = loop_run(p->server.loop, err);
    if (result == 0 && !p->options.quiet)
        print_totals(p);
    if (p->server.loop)
        loop_unset(p->server.loop, &p->end);
    if (registration_end(&p->registration, result == 0 ? err : NULL) < 0 && result == 0)
        result = -err->code;
    control_free(p->control);
    metrics_free(p->metrics);
    serve_end(&p->server);
    rpc_server_free(p->rpc);
    loop_free(p->server.loop);
    if (result == 0)
        result = recorder_end(p->recorder, err);
    else
        recorder_end(p->recorder, NULL);
    return result;
}

static int print_fault_help(struct err *err)
{
    struct buf help = { 0 };
    int result = fault_help(NULL, &help);

    if (result == 0)
        fwrite(help.data, 1, help.len, stdout);
    buf_free(&help);
    return result < 0 ? err_memory(err, "the help") : 0;
}

int main(int argc, char **argv)
{
    static struct ftnfsd program; /* its list of mounts is long */
    struct err err = { 0 };
    int result;

    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        puts("ftnfsd " NFSDIGEST_VERSION);
        return 0;
    }
    wire_init();
    if (argc > 1 && strcmp(argv[1], "ctl") == 0) {
        result = control_ctl(argc - 2, argv + 2, stdout, &err);
        if (result < 0)
            say(err.text);
        return result < 0 ? -result : result;
    }
    result = options_parse(&program.options, argc, argv, &err);
    if (result == 1)
        result = program.options.fault_help ? print_fault_help(&err) : run(&program, &err);
    options_free(&program.options);
    if (fflush(stdout) != 0 && result >= 0)
        result = err_set(&err, ERR_SYSTEM, "standard output: cannot be written");
    if (result < 0)
        say(err.text);
    return result < 0 ? -result : result;
}
