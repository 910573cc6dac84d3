/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/args.c
 *
 * Makes getopt's tables and the help text of a command from its table of options, and has the
 * functions that set values.  The contract is in args.h.
 */
#include "show/args.h"
#include "base/values.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { OPTIONS_MAX = 48, LONG_BASE = 256, HELP_COLUMN = 28 };

static void print_options(const struct arg *table)
{
    for (const struct arg *arg = table; arg && arg->name; arg++) {
        char left[64];
        const char *help = arg->help;
        int len;

        if (!help)
            continue;
        len = snprintf(left, sizeof(left), "  %c%c%s--%s%s%s", arg->letter ? '-' : ' ',
                       arg->letter ? arg->letter : ' ', arg->letter ? ", " : "  ", arg->name,
                       arg->value ? " " : "", arg->value ? arg->value : "");

        printf("%-*s%s", HELP_COLUMN, left, len >= HELP_COLUMN ? "\n" : "");
        for (bool first = len < HELP_COLUMN; *help; first = false) {
            size_t line = strcspn(help, "\n");

            printf("%*s%.*s\n", first ? 0 : HELP_COLUMN, "", (int)line, help);
            help += line + (help[line] == '\n');
        }
    }
}

static const struct arg help_option[] = { { 'h', "help", NULL, "show this", NULL, NULL }, { 0 } };

static void print_help(const struct args *args)
{
    printf("usage: %s\n\n%s\nOptions:\n", args->usage, args->about);
    print_options(args->own);
    print_options(help_option);
    if (args->more) {
        printf("\n%s:\n", args->more_title);
        print_options(args->more);
    }
}

/* --- as a table */

static void print_rows(const char *command, const struct arg *table)
{
    for (const struct arg *arg = table; arg && arg->name; arg++) {
        char letter[] = { arg->letter ? arg->letter : '-', '\0' };

        if (!arg->help)
            continue;
        printf("option\t%s\t%s\t%s\t%s\t", command, letter, arg->name,
               arg->value ? arg->value : "-");
        for (const char *c = arg->help; *c; c++)
            putchar(*c == '\n' || *c == '\t' ? ' ' : *c);
        putchar('\n');
    }
}

static void print_table(const struct args *args, const char *command)
{
    if (args->program && !*args->program)
        command = "-";
    print_rows(command, args->own);
    print_rows(command, args->more);
    print_rows(command, help_option);
}

bool args_wants_table(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], ARGS_TABLE) == 0;
}

/* --- parsing */

struct getopt_table {
    struct option options[OPTIONS_MAX];
    const struct arg *args[OPTIONS_MAX];
    char letters[OPTIONS_MAX * 2 + 3];
    int count;
};

static void add_options(struct getopt_table *table, const struct arg *args)
{
    size_t len = strlen(table->letters);

    for (; args && args->name && table->count < OPTIONS_MAX - 2; args++) {
        table->args[table->count] = args;
        table->options[table->count] =
            (struct option){ args->name, args->value ? required_argument : no_argument, NULL,
                             LONG_BASE + table->count };
        table->count++;
        if (!args->letter)
            continue;
        table->letters[len++] = args->letter;
        if (args->value)
            table->letters[len++] = ':';
        table->letters[len] = '\0';
    }
}

static const struct arg *find(const struct getopt_table *table, int c)
{
    if (c >= LONG_BASE)
        return table->args[c - LONG_BASE];
    for (int i = 0; i < table->count; i++)
        if (table->args[i]->letter == c)
            return table->args[i];
    return NULL;
}

static const char *program_of(const struct args *args)
{
    return args->program ? args->program : "nfsdigest ";
}

int args_parse(const struct args *args, int argc, char **argv, int *first, struct err *err)
{
    struct getopt_table table = { .letters = ":h" };
    int c;

    if (args_wants_table(argc, argv)) {
        print_table(args, argv[0]);
        return 0;
    }
    add_options(&table, args->own);
    add_options(&table, args->more);
    table.options[table.count] = (struct option){ "help", no_argument, NULL, 'h' };
    optind = 0; /* begin anew: main has used getopt's state */
    opterr = 0;
    while ((c = getopt_long(argc, argv, table.letters, table.options, NULL)) != -1) {
        const struct arg *arg;

        if (c == 'h') {
            print_help(args);
            return 0;
        }
        if (c == '?' || c == ':')
            return err_set(err, ERR_USAGE, "%s %s: see \"%s%s --help\"", argv[optind - 1],
                           c == ':' ? "needs a value" : "is not an option, or ambiguous",
                           program_of(args), argv[0]);
        arg = find(&table, c);
        if (arg && arg->set(arg->to, optarg, err) < 0)
            return err_prefix(err, "--%s", arg->name);
    }
    *first = optind;
    if (args->operands && argc - optind != args->operands)
        return err_set(err, ERR_USAGE, "%s takes %s: see \"%s%s --help\"", argv[0], args->takes,
                       program_of(args), argv[0]);
    return 1;
}

int set_flag(void *to, const char *value, struct err *err)
{
    (void)value, (void)err;
    *(bool *)to = true;
    return 0;
}

int set_text(void *to, const char *value, struct err *err)
{
    (void)err;
    *(const char **)to = value;
    return 0;
}

int set_count(void *to, const char *value, struct err *err)
{
    return parse_number(value, to) ? 0 : err_set(err, ERR_USAGE, "\"%s\" is not a number", value);
}

int set_duration(void *to, const char *value, struct err *err)
{
    return parse_duration(value, to)
               ? 0
               : err_set(err, ERR_USAGE, "\"%s\" is not a duration such as 1.5ms or 2s", value);
}

int set_time(void *to, const char *value, struct err *err)
{
    return parse_time(value, to)
               ? 0
               : err_set(
                     err, ERR_USAGE,
                     "\"%s\" is not a time such as \"2026-11-21 05:48:01.5\" (UTC) or 1763704081.5",
                     value);
}
