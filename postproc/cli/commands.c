/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/commands.h"
#include "show/args.h"

#include <string.h>

int commands_run(const struct command *table, const char *about, int argc, char **argv,
                 struct err *err)
{
    size_t len = strlen(argv[0]);
    const struct command *row;

    if (args_wants_table(argc, argv))
        return commands_table(table, err);
    if (argc < 2)
        return err_set(err, ERR_USAGE, "%s: missing subcommand: see \"nfsdigest %s --help\"",
                       argv[0], argv[0]);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        printf("usage: nfsdigest %s COMMAND [OPTION...] [ARGUMENT...]\n\n%s\nCommands:\n", argv[0],
               about);
        commands_print(table, stdout);
        printf("\n\"nfsdigest %s COMMAND --help\" lists a command's options.\n", argv[0]);
        return 0;
    }
    for (row = table; row->name; row++)
        if (strncmp(row->name, argv[0], len) == 0 && row->name[len] == ' ' &&
            strcmp(row->name + len + 1, argv[1]) == 0) {
            argv[1] = (char *)row->name;
            return row->run(argc - 1, argv + 1, err);
        }
    return err_set(err, ERR_USAGE, "no such command: \"%s %s\": see \"nfsdigest %s --help\"",
                   argv[0], argv[1], argv[0]);
}
