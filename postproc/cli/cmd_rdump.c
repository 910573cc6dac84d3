/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/cmd_rdump_file.h"

static const char about[] =
    "Looks at replay dumps (schemas/rdump.md): the tree before a trace, its operations in an "
    "order\n"
    "in which they can have happened, what each must show again, and on which ones it depends.\n"
    "\n"
    "--check: exit code 1 when the dump says what cannot be, 3 when it is damaged.\n";

int cmd_rdump(int argc, char **argv, struct err *err)
{
    struct rdump_file_args file = { 0 };
    const struct arg own[] = {
        { 'd', "dump", "FILE", "a dump as text, a line for each record", set_text, &file.dump },
        { 'j', "json", NULL, "with --dump: a JSON object on each line", set_flag, &file.json },
        { 'c', "check", "FILE", "say what is wrong with a dump", set_text, &file.check },
        { 'u', "undump", "FILE", "such text back into a dump", set_text, &file.undump },
        { 'o', "output", "FILE", "where to write; otherwise on standard output", set_text,
          &file.output },
        { 0 },
    };
    const struct args args = { "nfsdigest rdump OPTION...", about, own, NULL, NULL };
    int first, result;

    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    result = rdump_file_wanted(&file, err);
    if (result < 0)
        return result;
    if (result == 0 || first != argc)
        return err_set(err, ERR_USAGE,
                       "rdump takes one of --dump, --check and --undump, and no more: see "
                       "\"nfsdigest rdump --help\"");
    return rdump_file_run(&file, err);
}
