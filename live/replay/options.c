/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/options.c
 *
 * One table of options for all commands; each row says which commands have it.
 */
#include "replay/operands.h"
#include "replay/options_values.h"

#include <stdio.h>
#include <string.h>

enum {
    ALL = REPLAY_POPULATE | REPLAY_CLEAN | REPLAY_PLAY,
    ONLY_POPULATE = 8,
    NOT_CURVE = 16,
    ONLY_CURVE = 32, /* a bit of REPLAY_CURVE */
    ONLY_ONE = 128,  /* not several processes */
    PACED = REPLAY_PLAY | NOT_CURVE,
    PACED_ALONE = PACED | ONLY_ONE,
    ALL_PACED = ALL | NOT_CURVE
};

static const int64_t default_timeout = INT64_C(10000000000);

struct row {
    int commands;
    struct arg arg;
};

static const char *usage_of(enum replay_command command)
{
    return command == REPLAY_POPULATE ? "nfsreplay populate [OPTION...] DUMP... [SERVER=]TARGET..."
           : command == REPLAY_CLEAN  ? "nfsreplay clean [OPTION...] DUMP... [SERVER=]TARGET..."
           : command == REPLAY_RANKS
               ? "mpirun -n N nfsreplay-mpi play [OPTION...] DUMP... [SERVER=]TARGET..."
           : command == REPLAY_PLAY  ? "nfsreplay play [OPTION...] DUMP... [SERVER=]TARGET..."
           : command == REPLAY_CURVE ? "nfsreplay curve [OPTION...] -o DIR DUMP TARGET..."
                                     : "nfsreplay run [OPTION...] DUMP... [SERVER=]TARGET...";
}

static const char *about_of(enum replay_command command)
{
    return command == REPLAY_POPULATE
               ? "Makes the tree of DUMP on a server, through NFS: what existed before the first\n"
                 "operation.  What is there already stays; an interrupted run continues.\n"
                 "Each of several dumps or copies has a directory of its own.\n"
                 "TARGET is an export, nfs://HOST[:PORT]/EXPORT[?nfsport=N&mountport=N].  It must\n"
                 "be empty, or have the tree of this dump.  If the trace has several servers, say\n"
                 "SERVER=TARGET for each.\n"
           : command == REPLAY_CLEAN
               ? "Removes the tree that \"nfsreplay populate\" made, whatever was played on it.\n"
           : command == REPLAY_RUN
               ? "Makes the tree of DUMP as \"nfsreplay populate\" does, and plays the operations "
                 "as\n"
                 "\"nfsreplay play\" does.  DUMP@DELAY begins later, such as trace.rdump@2s.\n"
           : command == REPLAY_CURVE
               ? "Measures latency against throughput.  On each target DUMP is played as fast as\n"
                 "possible, then at --points rates, in equal steps up to the one that was "
                 "reached.\n"
                 "Before each run the tree is removed and made again.\n"
           : command == REPLAY_RANKS
               ? "Plays as \"nfsreplay play\" does, in N processes, on one machine or several: "
                 "each\n"
                 "plays the operations of some of the clients.  \"nfsreplay populate\" makes the "
                 "tree\n"
                 "before, and \"nfsreplay clean\" removes it.  All machines read DUMP at the same "
                 "path;\n"
                 "the first process writes the report.\n"
               : "Plays the operations of DUMP on the tree that \"nfsreplay populate\" made, and\n"
                 "compares each answer with that of the trace.  DUMP@DELAY begins later, such as\n"
                 "trace.rdump@2s.\n";
}

static bool has_option(enum replay_command command, int commands)
{
    if (commands == ONLY_POPULATE)
        return command == REPLAY_POPULATE;
    if (command == REPLAY_RANKS && commands & ONLY_ONE)
        return false;
    return commands & (int)command && !(command == REPLAY_CURVE && commands & NOT_CURVE);
}

/* The targets of a curve are measured one after the other, so none stands for a server. */
static int check_curve(const struct replay_options *o, struct err *err)
{
    if (!o->output)
        return err_set(err, ERR_USAGE, "say -o DIR: a new folder for the curves");
    if (o->dump_count > 1 || o->dumps[0].delay >= 0)
        return err_set(err, ERR_USAGE, "nfsreplay curve takes one dump, without a delay");
    for (uint32_t i = 0; i < o->target_count; i++)
        if (o->targets[i].server)
            return err_set(err, ERR_USAGE, "\"%s\": nfsreplay curve takes targets without SERVER=",
                           o->targets[i].server);
    return 1;
}

/* One of these would be ignored silently. */
static int check_pace(struct replay_options *o, struct err *err)
{
    if (o->rate > 0 && (o->pace_said || o->scale_said))
        return err_set(err, ERR_USAGE, "--rate cannot be used with %s",
                       o->pace_said ? "--pace" : "--tscale");
    if (o->scale_said && o->pace == PACE_ASAP)
        return err_set(err, ERR_USAGE, "--tscale cannot be used with --pace asap");
    if (o->rate > 0)
        o->pace = PACE_RATE;
    return 1;
}

/* Options that would do nothing. */
static int check_reading(const struct replay_options *o, struct err *err)
{
    if (o->check_contents && !o->check)
        return err_set(err, ERR_USAGE,
                       "--contents needs --check: populate writes files, and reads "
                       "none");
    if (o->check && o->force)
        return err_set(err, ERR_USAGE,
                       "--force cannot be used with --check, which changes nothing");
    if (o->check && o->contents_said && !o->check_contents)
        return err_set(err, ERR_USAGE, "--fill with --check needs --contents, which reads files");
    return 1;
}

/* Long because of the table. */
int replay_options(struct replay_options *o, enum replay_command command, int argc, char **argv,
                   struct err *err)
{
    bool plays = command & REPLAY_PLAY;
    const char *connections_help =
        plays ? "connections to each target, instead of one for each\nclient of the trace"
              : "connections to each target (4)";
    const char *outstanding_help =
        plays ? "calls under way, in all (128 for each connection)" : "calls under way (256)";
    const char *force_help =
        command == REPLAY_PLAY || command == REPLAY_RANKS
            ? "go on, though the server has smaller transfer sizes\nthan the trace needs, or its "
              "tree was played on"
            : "go on, though the server has less space, or smaller\ntransfer sizes, than the trace "
              "needs";
    const char *seed_help = command == REPLAY_CURVE ? "seed of --pick random (0)"
                                                    : "seed of --pick random and --start-delay (0)";
    /* clang-format off */
    const struct row rows[] = {
        { ONLY_POPULATE, { 0, "check", NULL,
          "change nothing; say what is not as the dump wants it", set_flag, &o->check } },
        { ONLY_POPULATE, { 0, "contents", NULL,
          "--check reads all files, too, and compares them", set_flag, &o->check_contents } },
        { REPLAY_POPULATE, { 0, "fill", "KIND",
          "contents of files: fill (a function of object and\noffset, so that each READ is checked), sparse, zero,\n"
          "random, or compressible=R, where R bytes become one\n(fill)", options_fill, o } },
        { ONLY_CURVE, { 0, "points", "N", "rates up to the highest one (10)", options_points,
          &o->points } },
        { PACED, { 0, "pace", "WHAT",
          "trace: at the times of the trace; asap: as soon as\ndependencies allow it (trace)", options_pace, o } },
        { PACED, { 0, "tscale", "FACTOR", "play FACTOR times as fast as the trace (1)", options_scale,
          o } },
        { PACED, { 0, "rate", "N", "N operations a second, instead of --pace", options_rate, o } },
        { REPLAY_PLAY, { 0, "order", "WHAT",
          "what an operation waits for: dependencies, trace (all\nbefore it), or none (dependencies)", options_order, o } },
        { REPLAY_PLAY, { 0, "pick", "WHICH",
          "which operation goes first if several may: oldest,\nnewest or random (oldest)", options_pick, o } },
        { REPLAY_PLAY, { 0, "seed", "N", seed_help, set_count, &o->seed } },
        { ALL_PACED, { 0, "copies", "N", "that each dump has, each with a tree of its own (1)",
          options_copies, &o->copies } },
        { PACED_ALONE, { 0, "loop", "N",
          "play N times, one after the other; what changed is\nremoved and made again in between (1)",
          options_number, &o->rounds } },
        { PACED, { 0, "start-delay", "TIME",
          "each dump and copy begins later, by chance up to\nTIME", set_duration, &o->start_delay } },
        { REPLAY_PLAY, { 0, "warm-up", "TIME|N",
          "play the first TIME of the trace, or N operations, at\nfull speed, and do not measure them",
          options_warm_up, o } },
        { REPLAY_PLAY, { 0, "stop-after", "N", "play only the first N operations", options_stop_after,
          &o->stop_after } },
        { REPLAY_PLAY, { 0, "duration", "TIME", "end after this time", options_end, &o->duration } },
        { REPLAY_PLAY, { 0, "give-up", "TIME", "send nothing more to a server that answers nothing for\nso long; 0s: never (120s)",
          set_duration, &o->give_up } },
        { REPLAY_PLAY, { 0, "ignore", "GROUPS",
          "do not compare these: type, mode, owner, nlink,\nsize, links, identity, access, text, read, names,\n"
          "behind, some-names; commas between them", options_ignore, o } },
        { REPLAY_PLAY, { 'r', "rules", "RULES",
          "accept what these allow: a set of \"nfsdigest compare\"\n(linux-knfsd, ganesha, ftnfsd), or a file, such as\n"
          "./my.conf; for dumps --with-results; may be repeated", options_rules, o } },
        { PACED, { 'o', "output", "RUN", "keep the report in this new folder", set_text, &o->output } },
        { PACED_ALONE, { 0, "record", "FILE",
          "record the calls and replies (.nfsr); \"nfsdigest\ncompare\" aligns them with the trace", set_text,
          &o->record } },
        { ONLY_CURVE, { 'o', "output", "DIR", "keep the curves, and the reports of all runs, in this new\nfolder",
          set_text, &o->output } },
        { PACED, { 'j', "json", NULL, "print the report as JSON", set_flag, &o->json } },
        { ONLY_CURVE, { 'j', "json", NULL, "print the curves as JSON, at the end", set_flag, &o->json } },
        { ONLY_POPULATE, { 'j', "json", NULL, "print JSON: a line for each tree and each difference",
          set_flag, &o->trees_json } },
        { REPLAY_CLEAN, { 'j', "json", NULL, "print JSON: a line for each tree", set_flag,
          &o->trees_json } },
        { REPLAY_PLAY, { 0, "partial", NULL, "play a damaged dump up to the damage", set_flag,
          &o->partial } },
        { ALL, { 'c', "connections", "N",
          connections_help, options_number, &o->connections } },
        { REPLAY_POPULATE | REPLAY_PLAY, { 0, "outstanding", "N", outstanding_help, options_number,
          &o->outstanding } },
        { ALL, { 0, "udp", NULL, "use UDP", set_flag, &o->udp } },
        { ALL, { 0, "privileged", NULL, "connect from privileged ports; this needs root", set_flag,
          &o->privileged } },
        { REPLAY_POPULATE | REPLAY_PLAY, { 0, "force", NULL,
          force_help, set_flag, &o->force } },
        { ALL, { 'q', "quiet", NULL, "print nothing but errors and differences", set_flag,
          &o->quiet } },
    };
    /* clang-format on */
    struct arg table[sizeof(rows) / sizeof(rows[0]) + 1] = { 0 };
    const struct args args = { .usage = usage_of(command),
                               .about = about_of(command),
                               .own = table,
                               .takes = "a dump and at least one target",
                               .program =
                                   command == REPLAY_RANKS ? "nfsreplay-mpi " : "nfsreplay " };
    uint32_t count = 0;
    int first, result;

    memset(o, 0, sizeof(*o));
    contents_parse("fill", &o->contents, NULL);
    o->scale = 1;
    o->timeout = default_timeout;
    o->give_up = 12 * default_timeout;
    o->points = 10;
    o->copies = o->rounds = 1;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (has_option(command, rows[i].commands))
            table[count++] = rows[i].arg;
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (argc - first < 2)
        return err_set(err, ERR_USAGE, "%s%s takes a dump and at least one target", args.program,
                       argv[0]);
    o->quiet |= o->json; /* nothing else on standard output */
    if (operands_parse(o, argc - first, argv + first, err) < 0)
        return -err->code;
    result = command == REPLAY_CURVE ? check_curve(o, err) : check_pace(o, err);
    if (result == 1)
        result = check_reading(o, err);
    if (result == 1 && o->rule_count &&
        rules_load(o->rule_names, o->rule_count, &o->rules, err) < 0)
        return -err->code;
    return result;
}

void replay_options_free(struct replay_options *o)
{
    rules_free(o->rules);
    o->rules = NULL;
}

const char *replay_pace_text(const struct replay_options *o, char text[REPLAY_PACE_TEXT])
{
    if (o->pace == PACE_RATE)
        snprintf(text, REPLAY_PACE_TEXT, "%g operations a second", o->rate);
    else if (o->pace == PACE_ASAP)
        snprintf(text, REPLAY_PACE_TEXT, "as soon as possible");
    else if (o->scale != 1)
        snprintf(text, REPLAY_PACE_TEXT, "%g times as fast as the trace", o->scale);
    else
        snprintf(text, REPLAY_PACE_TEXT, "at the pace of the trace");
    return text;
}
