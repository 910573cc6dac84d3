/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/tool.h"
#include "show/args.h"

#include <stdbool.h>
#include <string.h>

void commands_print(const struct command *table, FILE *out)
{
    int width = 8;

    for (const struct command *row = table; row->name; row++)
        if ((int)strlen(row->name) + 1 > width)
            width = (int)strlen(row->name) + 1;
    for (; table->name; table++)
        fprintf(out, "  %-*s %s\n", width, table->name, table->help);
}

static void print_help(const struct tool *tool, FILE *out)
{
    fprintf(out, "%s\nCommands:\n", tool->about);
    commands_print(tool->commands, out);
    fprintf(out, "\n%s", tool->codes);
}

static bool is_either(const char *word, const char *one, const char *other)
{
    return strcmp(word, one) == 0 || strcmp(word, other) == 0;
}

int commands_table(const struct command *table, struct err *err)
{
    char option[] = ARGS_TABLE;
    int result = 0;

    for (; result == 0 && table->name; table++) {
        char *argv[] = { (char *)table->name, option, NULL };

        fprintf(stdout, "command\t%s\t%s\n", table->name, table->help);
        if (table->run)
            result = table->run(2, argv, err);
    }
    return result;
}

int tool_run(const struct tool *tool, int argc, char **argv, struct err *err)
{
    char *help[] = { argv[0], argc > 2 ? argv[2] : NULL, (char *)"--help", NULL };

    if (argc < 2) {
        print_help(tool, stderr);
        return ERR_USAGE;
    }
    if (is_either(argv[1], "--version", "-V")) {
        fprintf(stdout, "%s %s\n", tool->name, tool->version);
        return 0;
    }
    if (args_wants_table(argc, argv)) {
        if (tool->prepare)
            tool->prepare();
        return commands_table(tool->commands, err);
    }
    if (is_either(argv[1], "--help", "-h") || (strcmp(argv[1], "help") == 0 && argc == 2)) {
        print_help(tool, stdout);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0) {
        argv = help;
        argc = 3;
    }
    for (const struct command *row = tool->commands; row->name; row++)
        if (row->run && strcmp(argv[1], row->name) == 0) {
            if (tool->prepare)
                tool->prepare();
            return row->run(argc - 1, argv + 1, err);
        }
    return err_set(err, ERR_USAGE, "no such command: \"%s\": see \"%s --help\"", argv[1],
                   tool->name);
}
