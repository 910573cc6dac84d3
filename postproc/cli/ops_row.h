/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/ops_row.h
 *
 * An operation as a row of ops_select, and how it is printed on standard output, for
 * "nfsdigest ops".
 */
#ifndef NFSDIGEST_CLI_OPS_ROW_H
#define NFSDIGEST_CLI_OPS_ROW_H

#include "base/err.h"
#include "base/values.h"
#include "cli/body_print.h"

#include <sqlite3.h>
#include <stdbool.h>

/* Its columns. */
enum {
    OP_ID,
    OP_CALL_TIME,
    OP_REPLY_TIME,
    OP_LATENCY,
    OP_CLIENT,
    OP_CLIENT_PORT,
    OP_SERVER,
    OP_SERVER_PORT,
    OP_TRANSPORT,
    OP_XID,
    OP_PROGRAM,
    OP_VERSION,
    OP_PROCEDURE,
    OP_PROCEDURE_NAME,
    OP_PATH,
    OP_PATH2,
    OP_OBJECT,
    OP_OBJECT2,
    OP_NEW_OBJECT,
    OP_OFFSET,
    OP_COUNT,
    OP_RPC_STATUS,
    OP_RPC_STATUS_NAME,
    OP_STATUS,
    OP_STATUS_NAME,
    OP_PAIRING,
    OP_PAIRING_NAME,
    OP_CALL_SOURCE,
    OP_CALL_FRAME,
    OP_REPLY_SOURCE,
    OP_REPLY_FRAME,
    OP_CALL_FLAGS,
    OP_REPLY_FLAGS,
    OP_UID,
    OP_GID,
    OP_DATA_LENGTH,
    OP_DATA_DIGEST,
    OP_DEPENDS_ON,
    OP_RETRANSMISSIONS,
    OP_COPIES,
    OP_ARGUMENTS,
    OP_ARGUMENTS_LENGTH,
    OP_RESULT,
    OP_RESULT_LENGTH,
    OP_COUNTERPART,
    OP_COUNTERPART_COPY,
    OP_MACHINE,
    OP_PHASE,
    OP_CALLS_RESENT,
    OP_WAITED, /* ns from the first call to the reply that ended the resending */
};

/* Conditions on operation o follow. */
extern const char ops_select[];

static inline bool ops_is_null(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL;
}

static inline const char *ops_value(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

/* The bodies that can be decoded: up to two into |bodies|. */
int ops_bodies(sqlite3_stmt *s, struct fields_body bodies[2], bool is_result[2]);

/* When it was called, or answered where only that is known; NULL: no packet has a time. */
const char *ops_when(sqlite3_stmt *s, char text[VALUE_TEXT_MAX]);

/* What can be shown of an operation, under its name in JSON. */
struct ops_column {
    const char *name;
    int column; /* of ops_select, or one of these: */
};
enum { OPS_TIME = -1, OPS_PROGRAM_NAME = -2 };
extern const struct ops_column ops_columns[]; /* the last one has no name */

/* A line, and with |fields| further lines with the decoded bodies. */
void ops_text(sqlite3_stmt *s, bool fields);
void ops_json(sqlite3_stmt *s, bool fields);

/* Which columns are printed. */
enum { OPS_CHOSEN_MAX = 64 };
struct ops_chosen {
    const struct ops_column *columns[OPS_CHOSEN_MAX];
    int count;
    bool csv; /* RFC 4180; otherwise tabs */
};

/* |names|: separated by commas; NULL: the usual ones.  Returns -ERR_USAGE for a name that does not
 * exist; the message has those that do. */
int ops_choose(struct ops_chosen *chosen, const char *names, struct err *err);
/* Prints the names of the columns, or the values of a row. */
void ops_heading(const struct ops_chosen *chosen);
void ops_values(const struct ops_chosen *chosen, sqlite3_stmt *s);

#endif
