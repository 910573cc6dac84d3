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
    const char *value; /* what it takes, as help shows it, or NULL */
    const char *help;  /* lines after the first are indented by it; NULL: it is not shown */
    /* Takes the value; 0 or -ERR_USAGE. */
    int (*set)(void *to, const char *value, struct err *err);
    void *to;
};

struct args {
    const char *usage;      /* "nfsdigest ops [OPTION...] DATABASE" */
    const char *about;      /* paragraphs for --help, ended by a newline */
    const struct arg *own;  /* ended by one without a name */
    const struct arg *more; /* further ones under the title, or NULL */
    const char *more_title;
    int operands;        /* exactly so many; 0: the command counts them itself */
    const char *takes;   /* what they are, in words: "one database" */
    const char *program; /* what stands before the command's name in messages: "nfsreplay ", or ""
                          * if the program is the command; NULL: "nfsdigest " */
};

/* 1: go on, with argv[*first] and what follows as operands; 0: --help was printed; or -ERR_USAGE.
 */
int args_parse(const struct args *args, int argc, char **argv, int *first, struct err *err);

/* Setters. |to| is a bool, const char *, uint64_t, int64_t (ns). */
int set_flag(void *to, const char *value, struct err *err);
int set_text(void *to, const char *value, struct err *err);
int set_count(void *to, const char *value, struct err *err);
int set_duration(void *to, const char *value, struct err *err);
int set_time(void *to, const char *value, struct err *err);

#endif
