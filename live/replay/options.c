/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/options.c
 *
 * One table of options for all commands; each row says which commands have it.
 */
#include "replay/options.h"
#include "show/args.h"

#include <stdio.h>
#include <string.h>

enum { ALL = REPLAY_POPULATE | REPLAY_CLEAN | REPLAY_PLAY, RUN = REPLAY_POPULATE | REPLAY_PLAY };

static int set_fill(void *to, const char *value, struct err *err)
{
    struct replay_options *o = to;

    o->contents_said = true;
    return contents_parse(value, &o->contents, err);
}

static int set_number(void *to, const char *value, struct err *err)
{
    int result = set_count(to, value, err);

    if (result == 0 && (*(uint64_t *)to < 1 || *(uint64_t *)to > 65536))
        return err_set(err, ERR_USAGE, "\"%s\" is not a number from 1 to 65,536", value);
    return result;
}

struct row {
    int commands;
    struct arg arg;
};

static const char *usage_of(enum replay_command command)
{
    return command == REPLAY_POPULATE ? "nfsreplay populate [OPTION...] DUMP [SERVER=]TARGET..."
           : command == REPLAY_CLEAN  ? "nfsreplay clean [OPTION...] DUMP [SERVER=]TARGET..."
           : command == REPLAY_PLAY   ? "nfsreplay play [OPTION...] DUMP [SERVER=]TARGET..."
                                      : "nfsreplay run [OPTION...] DUMP [SERVER=]TARGET...";
}

static const char *about_of(enum replay_command command)
{
    return command == REPLAY_POPULATE
               ? "Makes the tree of DUMP on a server, through NFS: what existed before the first\n"
                 "operation.  What is there already stays; an interrupted run continues.\n"
                 "TARGET is an export, nfs://HOST[:PORT]/EXPORT[?nfsport=N&mountport=N].  It must\n"
                 "be empty, or have the tree of this dump.  If the trace has several servers, say\n"
                 "SERVER=TARGET for each.\n"
           : command == REPLAY_CLEAN
               ? "Removes the tree that \"nfsreplay populate\" made, whatever was played on it.\n"
               : "Plays the operations of DUMP on the tree that \"nfsreplay populate\" made, and\n"
                 "compares each answer with that of the trace.\n";
}

/* [SERVER=]TARGET; the address may have a '=', too. */
static int add_target(struct replay_options *o, const char *text, struct err *err)
{
    const char *address = strstr(text, "nfs://");
    struct replay_target *t;

    if (o->target_count == REPLAY_TARGETS_MAX)
        return err_set(err, ERR_USAGE, "more than %d targets", REPLAY_TARGETS_MAX);
    if (!address || (address > text && address[-1] != '=') || address == text + 1)
        return err_set(err, ERR_USAGE,
                       "\"%s\" is not a target: nfs://HOST/EXPORT, or SERVER=nfs://HOST/EXPORT",
                       text);
    t = &o->targets[o->target_count++];
    t->address = address;
    if (address > text) {
        t->server = text;
        t->server_len = (uint32_t)(address - text - 1);
    }
    return 0;
}

int replay_options(struct replay_options *o, enum replay_command command, int argc, char **argv,
                   struct err *err)
{
    /* clang-format off */
    const struct row rows[] = {
        { REPLAY_POPULATE, { 0, "check", NULL,
          "change nothing; say what is not as the dump wants it", set_flag, &o->check } },
        { RUN, { 0, "fill", "KIND",
          "contents of files: fill (a function of object and\noffset, so that each READ is checked), sparse, zero,\n"
          "random, or compressible=R, where R bytes become one\n(fill)", set_fill, o } },
        { ALL, { 'c', "connections", "N", "connections to each target (4)", set_number,
          &o->connections } },
        { RUN, { 0, "outstanding", "N", "calls under way (256)", set_number, &o->outstanding } },
        { ALL, { 0, "udp", NULL, "use UDP", set_flag, &o->udp } },
        { ALL, { 0, "privileged", NULL, "connect from privileged ports; this needs root", set_flag,
          &o->privileged } },
        { RUN, { 0, "force", NULL,
          "go on, though the server has less space, or smaller\ntransfer sizes, than the trace needs",
          set_flag, &o->force } },
        { ALL, { 'q', "quiet", NULL, "print nothing but errors and differences", set_flag,
          &o->quiet } },
    };
    /* clang-format on */
    struct arg table[sizeof(rows) / sizeof(rows[0]) + 1] = { 0 };
    const struct args args = { .usage = usage_of(command),
                               .about = about_of(command),
                               .own = table,
                               .takes = "a dump and at least one target",
                               .program = "nfsreplay " };
    uint32_t count = 0;
    int first, result;

    memset(o, 0, sizeof(*o));
    contents_parse("fill", &o->contents, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].commands & (int)command)
            table[count++] = rows[i].arg;
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (argc - first < 2)
        return err_set(err, ERR_USAGE, "nfsreplay %s takes a dump and at least one target",
                       argv[0]);
    o->dump = argv[first];
    for (int i = first + 1; i < argc && result == 1; i++)
        if (add_target(o, argv[i], err) < 0)
            result = -err->code;
    return result;
}
