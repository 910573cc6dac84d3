/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/filter_args.h
 *
 * Makes the filters of operations (store/filter.h) options of a command.
 */
#ifndef NFSDIGEST_CLI_FILTER_ARGS_H
#define NFSDIGEST_CLI_FILTER_ARGS_H

#include "show/args.h"
#include "store/filter.h"

#include <sqlite3.h>

enum { FILTER_ARG_COUNT = 19 };

/* The options that |filter| was made of: "--client 10.0.0.2 --uid 1000", at most |size| bytes. */
void filter_arg_words(struct filter *filter, char *text, size_t size);

/* Fills |table|, including its last row.  Parsing the arguments then sets |to|, which must not
 * move. */
void filter_arg_table(struct filter *to, struct arg table[FILTER_ARG_COUNT]);

/* Says on standard error that no operation matches, and what the trace has instead: its time, or
 * its clients. */
int filter_say_none(sqlite3 *db, const struct filter *filter, struct err *err);

#endif
