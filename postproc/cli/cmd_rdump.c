/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"
#include "cli/cmd_rdump_file.h"
#include "cli/cmd_rdump_make.h"
#include "show/args.h"

#include <stddef.h>

static const char about[] =
    "Makes a replay dump from a trace database, a record stream or a capture\n"
    "(schemas/rdump.md): the initial tree, the operations in an order in which they\n"
    "can have happened, and for each operation the results that it must show again\n"
    "and the operations on which it depends.  A part of a trace is repaired so that\n"
    "it can be replayed alone.\n"
    "\n"
    "Can also show, check and read back dumps.  --check has exit code 1 if a dump\n"
    "contains something impossible, and 3 if it is damaged.\n";

static int set_copies(void *to, const char *value, struct err *err)
{
    if (set_count(to, value, err) < 0)
        return -ERR_USAGE;
    return *(uint64_t *)to ? 0 : err_set(err, ERR_USAGE, "at least one copy");
}

/* Long: it is the table of options, which point into what is local. */
int cmd_rdump(int argc, char **argv, struct err *err)
{
    struct rdump_file_args file = { 0 };
    struct rdump_make_args make = { .from = INT64_MIN, .to = INT64_MAX };
    const struct arg own[] = {
        { 'o', "output", "FILE", "write to this file", set_text, &file.output },
        { 0, "granularity", "WHAT",
          "object: dependencies between whole objects; fine:\n"
          "between attributes, byte ranges and names (fine)",
          set_text, &make.granularity },
        { 0, "client", "ADDRESS", "take only operations of this client", set_text, &make.client },
        { 0, "uid", "N", "take only operations of this user", set_text, &make.uid },
        { 0, "gid", "N", "take only operations of this group", set_text, &make.gid },
        { 0, "under", "PATH",
          "take only operations on this path and below, as\n"
          "ops shows paths",
          set_text, &make.under },
        { 'f', "from", "TIME",
          "take only operations called at this time or later\n"
          "(UTC); the tree is the one at this time",
          set_time, &make.from },
        { 't', "to", "TIME", "take only operations called before this time", set_time, &make.to },
        { 0, "split-by", "WHAT",
          "make a dump for each client, uid, gid or subtree\n"
          "(directory in the root of an export); the name of\n"
          "the part is added to the file name",
          set_text, &make.split_by },
        { 0, "time-scale", "FACTOR", "divide times and latencies by FACTOR (1)", set_text,
          &make.time_scale },
        { 0, "copies", "N", "make N copies of the trace, side by side (1)", set_copies,
          &make.copies },
        { 0, "delay", "TIME",
          "start each copy but the first after a random time\n"
          "below TIME",
          set_duration, &make.delay },
        { 0, "seed", "N", "seed of these random times (0)", set_count, &make.seed },
        { 0, "with-results", NULL,
          "store the values that each operation must show\n"
          "again, not only their digest",
          set_flag, &make.with_results },
        { 'j', "json", NULL,
          "report in JSON, also with --check; with --dump, print\n"
          "a JSON object on each line",
          set_flag, &make.json },
        { 'd', "dump", "FILE", "show a dump as text, a line for each record", set_text,
          &file.dump },
        { 0, "check", "FILE", "report what is wrong with a dump", set_text, &file.check },
        { 0, "undump", "FILE", "make a dump from text of --dump", set_text, &file.undump },
        { 0 },
    };
    const struct args args = { "nfsdigest rdump [OPTION...] --output FILE DATABASE|FILE\n"
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
