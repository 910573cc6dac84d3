/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/traffic.h
 *
 * The part of a trace that "outage", "hang" and "starve" look at: one client, one server, a span of
 * time.  SQL gets it as ?1 to ?4, which are NULL if there is no limit.
 */
#ifndef NFSDIGEST_CLI_TRAFFIC_H
#define NFSDIGEST_CLI_TRAFFIC_H

#include "show/args.h"

#include <sqlite3.h>

enum { TRAFFIC_ARG_COUNT = 5 };

struct traffic {
    const char *client_text, *server_text, *from_text, *to_text; /* as the user gave them */
    char client[48], server[48];                                 /* as the database has them */
    int64_t from, to;                                            /* ns; INT64_MIN: unset */
    int64_t first, last; /* of the trace: times of the first and the last packet */
};

/* Fills the options, including the last row of the table. */
void traffic_arg_table(struct traffic *to, struct arg table[TRAFFIC_ARG_COUNT]);

/* Reads what the user gave, and says on standard error if nothing in the trace matches it.  Fails
 * if the trace has no times. */
int traffic_read(struct traffic *traffic, sqlite3 *db, struct err *err);

/* Prepares |sql| and binds ?1 to ?4. */
int traffic_prepare(const struct traffic *traffic, sqlite3 *db, const char *sql,
                    sqlite3_stmt **stmt, struct err *err);

/* Conditions for these parameters, on operation o, and on something with client, server and a
 * time. */
#define TRAFFIC_OF(client, server, time)                                                           \
    " (?1 IS NULL OR " client " = ?1) AND (?2 IS NULL OR " server " = ?2)"                         \
    " AND (?3 IS NULL OR " time " >= ?3) AND (?4 IS NULL OR " time " < ?4)"
#define TRAFFIC_OPERATION TRAFFIC_OF("o.client", "o.server", "ifnull(o.call_time, o.reply_time)")
#define TRAFFIC_EVENT TRAFFIC_OF("e.client", "e.server", "e.time")

#endif
