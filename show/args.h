/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/args.h
 *
 * The options of a command as one table.  The table parses them and prints their help.
 */
#ifndef NFSDIGEST_SHOW_ARGS_H
#define NFSDIGEST_SHOW_ARGS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct arg {
    char letter;       /* 0: there is only the long form */
    const char *name;  /* without dashes */
    const char *value; /* its value as help shows it; NULL: it takes none */
    const char *help;  /* help indents the lines after the first; NULL: not shown in help */
    /* Sets |to| from the value.  Returns 0 or -ERR_USAGE. */
    int (*set)(void *to, const char *value, struct err *err);
    void *to;
};

struct args {
    const char *usage;      /* "nfsdigest ops [OPTION...] DATABASE" */
    const char *about;      /* paragraphs for --help, ended by a newline */
    const struct arg *own;  /* the last one has no name */
    const struct arg *more; /* further options, listed under |more_title|; or NULL */
    const char *more_title;
    int operands;        /* the exact number; 0: the command checks it itself */
    const char *takes;   /* the operands in words: "one database" */
    const char *program; /* text before the command's name in messages: "nfsreplay ", or "" if the
                          * program is the command; NULL: "nfsdigest " */
};

/* The only argument that makes a command print its options as a table, and a program also its
 * commands.  Completion in shells is made from it, and a test reads it.  Columns are separated by
 * tabs, and "-" is nothing:
 *   option  COMMAND  LETTER  NAME  VALUE  HELP
 *   command COMMAND  HELP
 * COMMAND is "-" if the program is the command, and "key new" for a subcommand. */
#define ARGS_TABLE "--complete-table"
bool args_wants_table(int argc, char **argv);

/* Parses the options.  Returns 1 if the command should run: its operands begin at argv[*first].
 * Returns 0 after --help or the table was printed, or -ERR_USAGE. */
int args_parse(const struct args *args, int argc, char **argv, int *first, struct err *err);

/* Setters.  |to| points to a bool, const char *, uint64_t, and int64_t (ns) for the last two. */
int set_flag(void *to, const char *value, struct err *err);
int set_text(void *to, const char *value, struct err *err);
int set_count(void *to, const char *value, struct err *err);
int set_duration(void *to, const char *value, struct err *err);
int set_time(void *to, const char *value, struct err *err);

#endif
