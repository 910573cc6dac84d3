/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store_parts.h
 *
 * Shared by the files of postproc/store.
 */
#ifndef NFSDIGEST_STORE_STORE_PARTS_H
#define NFSDIGEST_STORE_STORE_PARTS_H

#include "base/cleanup.h"
#include "store/stream_ends.h"
#include "store/ids.h"
#include "store/sql.h"
#include "store/store.h"

#include <stdatomic.h>

/* Statements that are prepared once; sql.c has the texts. */
enum statement {
    SQL_PUT_FLOW,
    SQL_PUT_CREDENTIAL,
    SQL_PUT_OBJECT,
    SQL_PUT_PATH,
    SQL_PUT_NAME,
    SQL_PUT_OPERATION,
    SQL_PUT_CONTENTS,
    SQL_PUT_RETRANSMISSION,
    SQL_PUT_COPY,
    SQL_PUT_PROBLEM,
    SQL_PUT_CONNECTION_EVENT,
    SQL_PUT_COUNTER,
    SQL_PUT_WAITING,
    SQL_PUT_WAITING_COUNTER,
    SQL_LEARN_OBJECT,
    SQL_FIND_OBJECT,
    SQL_FIND_CREDENTIAL,
    SQL_FIND_PATH,
    SQL_PATH_TEXT,
    SQL_NAME_OF_OBJECT,
    SQL_COMPLETE_OPERATION,
    SQL_GET_OPERATION,
    SQL_DELETE_OPERATION,
    SQL_MOVE_RETRANSMISSIONS,
    SQL_MOVE_COPIES,
    SQL_COUNT
};

/* Changes of the counts of one source. */
struct source_delta {
    int64_t operations, calls, replies, retransmissions, copies, problems;
    bool any;
};

struct source_base {
    int64_t source;
    uint64_t frames; /* before it */
};

struct store {
    sqlite3 *db;
    struct cleanup cleanup; /* of an open transaction, and of |temporary| */
    atomic_bool ending;     /* set to end the running statement: see undo */
    char *path;
    enum store_mode mode;
    char *temporary; /* name of a new database until store_publish; NULL: it has its own name */
    bool overtaken;  /* another process made it first */
    bool ready;      /* the schema is there */
    bool open;       /* a source was begun */
    bool indexed;    /* the indexes are there */
    bool follows;    /* sources are committed in parts */
    bool marked;     /* as unfinished, by this process */
    bool unfinished; /* as another process left it */
    int changes;     /* sqlite3_total_changes when a part was committed */
    sqlite3_stmt *sql[SQL_COUNT];

    int64_t version; /* store_version when the transaction began, or at the last commit */

    /* of the source: */
    int64_t source;
    enum store_kind kind;
    bool provisional;
    uint64_t operation_base; /* added to operation ids of records */
    int64_t known_names;     /* greatest name_event before */
    struct store_totals totals;
    bool has_end;       /* totals are from the record */
    uint32_t flow_base; /* greatest flow before those of this engine or stream */
    struct ids flows, credentials, objects, paths;
    struct hosts hosts;
    struct source_base *bases; /* captures whose frames the engine may still name */
    size_t base_count, base_cap;
    struct source_delta *deltas; /* by source id */
    size_t delta_count;
    struct stream_ends stream_ends;
    struct buf text, text2;
    uint32_t parent_path; /* the path whose text is in |parent_text| */
    struct buf parent_text;
};

/* store.c */

/* Call this after the first commit.  Gives a new database its own name, if that is still free.
 * Until then it has a temporary name.  Statements must be prepared again. */
int store_publish(struct store *store, struct err *err);
/* Checks the version that the file states.  Sets |ready|, unless the file is empty. */
int store_check_version(struct store *store, struct err *err);

/* store_unfinished.c */

/* In a new transaction: refuses what another process has not finished, and marks it if this one
 * follows. */
int store_mark_unfinished(struct store *store, struct err *err);
/* When the database was opened: refuses it to a writer. */
int store_look_unfinished(struct store *store, struct err *err);
/* Call this after each connect.  Changes the journal if sources are committed in parts. */
int store_log_ahead(struct store *store, struct err *err);

/* statements.c */
int statements_prepare(struct store *store, struct err *err);
void statements_finalize(struct store *store);
/* Runs a statement that gives no row, and resets it. */
int statement_run(struct store *store, enum statement which, struct err *err);
/* Runs a statement that gives at most one row.  Returns 1, 0, or a negative code.  The caller
 * resets it. */
int statement_row(struct store *store, enum statement which, struct err *err);
/* These prepare and end a statement that runs once, like sql_prepare and sql_end.  Errors name the
 * store as it was opened. */
int store_prepare(struct store *store, const char *sql, sqlite3_stmt **stmt, struct err *err);
int store_finish(struct store *store, sqlite3_stmt *stmt, int result, struct err *err);

/* carry.c: an engine continues from the last capture; |settle|: none will continue any more */
int carry_begin(struct store *store, bool settle, struct err *err);
/* Marks everything after this as provisional. */
int carry_tail(struct store *store, struct err *err);
int carry_end(struct store *store, const struct store_end *end, struct err *err);

/* schema.c */
int schema_create(sqlite3 *db, struct err *err);
int schema_index(sqlite3 *db, struct err *err);

/* dictionary.c */
int dictionary_fill(sqlite3 *db, struct err *err);

/* A row of table operation before it is stored.  Ids are those of the database. */
struct row_side {
    int64_t source; /* 0: the message is missing */
    uint64_t frame;
    int64_t first_frame;
    int64_t time; /* or TIME_NONE */
    uint32_t length, flags;
};

struct operation_row {
    int64_t id;
    uint8_t pairing;
    struct row_side call, reply;
    uint32_t local_flow, flow;
    int32_t rpc_status;
    int64_t status;
    uint32_t credential, object, object2, new_object, path, path2;
    struct bytes result;
    uint32_t result_length;
    const struct record_operation *record; /* the rest */
};

/* put.c: stores the rows that operations refer to */
int put_flow(struct store *store, const struct record_flow *flow, struct err *err);
int put_credential(struct store *store, const struct record_credential *credential,
                   struct err *err);
int put_object(struct store *store, const struct record_object *object, struct err *err);
int put_name(struct store *store, const struct record_name *name, struct err *err);
int put_contents(struct store *store, const struct record_contents *contents, struct err *err);
int put_problem(struct store *store, const struct record_problem *problem, struct err *err);
int put_connection_event(struct store *store, const struct record_connection_event *event,
                         struct err *err);
int put_counter(struct store *store, const struct record_counter *counter, struct err *err);

/* Binds the text of a name (base/escape.h).  The text lives until the next name is bound. */
int put_bind_name(struct store *store, sqlite3_stmt *stmt, int at, struct bytes name, bool is_path,
                  struct err *err);

/* put_path.c */
int put_path(struct store *store, const struct record_path *path, struct err *err);

/* put_operation.c */
int put_operation(struct store *store, const struct record_operation *operation, struct err *err);
int put_repeat(struct store *store, const struct record_repeat *repeat, struct err *err);
/* A row of retransmission or copy. */
struct further_copy {
    int64_t operation; /* of the database */
    uint8_t kind;      /* enum repeat_kind */
    bool differs;      /* of a retransmission: from the first one */
    uint32_t flow;
    const struct row_side *side;
};
int put_further_copy(struct store *store, const struct further_copy *copy, struct err *err);
void row_bind_side(sqlite3_stmt *stmt, int at, const struct row_side *side);
void row_bind_status(sqlite3_stmt *stmt, int at, int64_t status);
/* Binds the length of a body on the wire, or NULL if it is not known. */
void row_bind_length(sqlite3_stmt *stmt, int at, const struct row_side *side, uint32_t length);
void row_bind_body(sqlite3_stmt *stmt, int at, const struct bytes *body);
void row_bind_data(sqlite3_stmt *stmt, int at, const struct record_operation *operation);

/* Returns the source of a frame, and changes |*frame| to the number in that source. */
int64_t put_source_of(const struct store *store, uint64_t *frame);

/* count.c */

/* Counts a row of table operation or retransmission in or out (|by| is 1 or -1). */
int count_operation(struct store *store, int64_t call_source, int64_t reply_source, int by,
                    struct err *err);
int count_retransmission(struct store *store, int64_t source, int by, struct err *err);
int count_copy(struct store *store, int64_t source, int by, struct err *err);
int count_problem(struct store *store, int64_t source, int by, struct err *err);
/* Adds the counts to the rows of their sources and to the totals, and begins to count anew. */
int count_end(struct store *store, struct err *err);

/* Counts a frame of a source that is cut off.  Such a source has no record with totals. */
void count_frame(struct store *store, uint64_t frame, int64_t time);

/* Returns the database's id for an operation of this stream. */
int64_t operation_id(const struct store *store, uint64_t local);

/* stream_ends_match.c: fills store->stream_ends. */
int stream_ends_load(struct store *store, struct err *err);

/* Call this before |row| is stored.  Returns 1 if it was joined with a row of an earlier source:
 * do not store it.  Returns 0 if it must be stored (it may have been changed), or negative. */
int stream_ends_match(struct store *store, struct operation_row *row, struct err *err);

#endif
