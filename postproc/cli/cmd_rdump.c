/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/cmd_rdump_file.h"
#include "cli/cmd_rdump_make.h"

#include <stddef.h>

static const char about[] =
    "Makes a replay dump of a trace database (schemas/rdump.md): the tree before the trace, its\n"
    "operations in an order in which they can have happened, what each must show again, and on\n"
    "which ones it depends.  A part of a trace is repaired so that it can be replayed alone.\n"
    "Or shows, checks and reads back such dumps: --check has exit code 1 when a dump says what\n"
    "cannot be, 3 when it is damaged.\n";

static int set_copies(void *to, const char *value, struct err *err)
{
    if (set_count(to, value, err) < 0)
        return -ERR_USAGE;
    return *(uint64_t *)to ? 0 : err_set(err, ERR_USAGE, "at least one copy");
}

int cmd_rdump(int argc, char **argv, struct err *err)
{
    struct rdump_file_args file = { 0 };
    struct rdump_make_args make = { .from = INT64_MIN, .to = INT64_MAX };
    const struct arg own[] = {
        { 'o', "output", "FILE", "where to write", set_text, &file.output },
        { 'g', "granularity", "WHAT",
          "what dependencies are about: object, or fine: attributes,\nbyte ranges and names (fine)",
          set_text, &make.granularity },
        { 0, "client", "ADDRESS", "only this client's operations", set_text, &make.client },
        { 0, "uid", "N", "only those of this user", set_text, &make.uid },
        { 0, "gid", "N", "only those of this group", set_text, &make.gid },
        { 'u', "under", "PATH", "only those on this path and below, as ops shows paths", set_text,
          &make.under },
        { 'f', "from", "TIME", "only those called since (UTC); the tree is that of this time",
          set_time, &make.from },
        { 't', "to", "TIME", "only those called before", set_time, &make.to },
        { 's', "split-by", "WHAT",
          "a dump for each client, uid, gid or subtree (directory in\nthe root of an export); the "
          "part's name goes into the file's",
          set_text, &make.split_by },
        { 0, "time-scale", "FACTOR", "times and latencies are divided by it (1)", set_text,
          &make.time_scale },
        { 'n', "copies", "N", "that many of the tree and its operations, side by side (1)",
          set_copies, &make.copies },
        { 0, "delay", "TIME", "each further copy begins a random time later, below this one",
          set_duration, &make.delay },
        { 0, "seed", "N", "of these random times (0)", set_count, &make.seed },
        { 'r', "with-results", NULL,
          "store the values that each operation must show again, not only\ntheir digest", set_flag,
          &make.with_results },
        { 'j', "json", NULL, "say in JSON what was made; with --dump: an object on each line",
          set_flag, &make.json },
        { 'd', "dump", "FILE", "a dump as text, a line for each record", set_text, &file.dump },
        { 'c', "check", "FILE", "say what is wrong with a dump", set_text, &file.check },
        { 0, "undump", "FILE", "text of --dump back into a dump", set_text, &file.undump },
        { 0 },
    };
    const struct args args = { "nfsdigest rdump [OPTION...] --output FILE DATABASE\n"
                               "       nfsdigest rdump --dump|--check|--undump FILE [OPTION...]",
                               about, own, NULL, NULL };
    int first, result;

    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    file.json = make.json && (file.dump || file.check || file.undump);
    result = rdump_file_wanted(&file, err);
    if (result < 0)
        return result;
    if (result > 0 && first == argc && !rdump_make_wanted(&make))
        return rdump_file_run(&file, err);
    if (result > 0 || argc - first != 1)
        return err_set(err, ERR_USAGE,
                       "rdump takes a database, or one of --dump, --check and --undump: see "
                       "\"nfsdigest rdump --help\"");
    make.output = file.output;
    return rdump_make_run(argv[first], &make, err);
}
