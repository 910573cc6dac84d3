/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/info_print_parts.h
 *
 * The queries whose rows info_text.c and info_json.c print.
 */
#ifndef NFSDIGEST_CLI_INFO_PRINT_PARTS_H
#define NFSDIGEST_CLI_INFO_PRINT_PARTS_H

#include "cli/info_print.h"
#include "engine.h"

extern const char info_sources[], info_totals[], info_servers[], info_pairing[], info_phases[],
    info_problems[], info_counters[];

/* Prepares one of them for |view|. */
int info_prepare(const struct info_view *view, const char *sql, sqlite3_stmt **stmt,
                 struct err *err);

/* What is said of the operations that match a filter, beside view->groups. */
struct info_matching {
    int64_t of; /* number of all operations */
    int64_t retransmitted_calls, further_replies;
};
int info_matching(const struct info_view *view, struct info_matching *matching, struct err *err);

/* Reads which encapsulations, among the counters, were not opened because the captures were read
 * without Wireshark. */
int info_unopened(sqlite3 *db, struct unopened *unopened, struct err *err);

#endif
