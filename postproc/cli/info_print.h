/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/info_print.h
 *
 * Prints a summary of a trace database on standard output, for "nfsdigest info".
 */
#ifndef NFSDIGEST_CLI_INFO_PRINT_H
#define NFSDIGEST_CLI_INFO_PRINT_H

#include "store/operation_groups.h"
#include "store/operation_intervals.h"

struct info_view {
    sqlite3 *db;
    const char *name;            /* as the user gave it */
    const struct filter *filter; /* NULL: all operations match */
    bool only_tables;            /* nothing but the tables by procedure, client and path */
    unsigned tables;             /* bits 1 << enum group_by */
    struct operation_groups groups;
};

int info_text(const struct info_view *view, struct err *err);
int info_json(const struct info_view *view, struct err *err);
/* The table that was chosen; all numbers as they are, times in ns. */
void info_csv(const struct info_view *view);

/* Print a line or an object for each interval. */
void info_intervals_text(const struct intervals *intervals);
void info_intervals_csv(const struct intervals *intervals);
int info_intervals_json(const char *name, const struct intervals *intervals, struct err *err);

#endif
