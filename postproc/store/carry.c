/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/carry.c
 *
 * What the last capture's engine left in a database: its state, and rows that are provisional since
 * the next capture may change them.  Before an engine goes on, its provisional rows are deleted,
 * for it puts them again.  For store_source.c (what begins and ends with a source) and ingest.c.
 * The contract is in carry.h and store_parts.h.
 */
#include "base/escape.h"
#include "store/carry.h"
#include "store/sql.h"
#include "store/store_parts.h"

/* Takes the operations out that the engine is going to put again. */
static int delete_waiting(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (store_prepare(store,
                      "SELECT o.call_source, o.reply_source FROM waiting w"
                      " JOIN operation o ON o.id = w.operation",
                      &stmt, err) < 0)
        return -err->code;
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW)
        result = count_operation(store, sqlite3_column_int64(stmt, 0),
                                 sqlite3_column_int64(stmt, 1), -1, err);
    result = store_finish(store, stmt, result, err);
    return result < 0 ? result
                      : sql_run(store->db,
                                "DELETE FROM operation WHERE id IN (SELECT operation FROM waiting);"
                                "DELETE FROM waiting;",
                                err);
}

/* Counts the rows of a tail out. */
static int uncount(struct store *store, const char *sql,
                   int (*count)(struct store *store, int64_t source, int by, struct err *err),
                   struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (store_prepare(store, sql, &stmt, err) < 0)
        return -err->code;
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW)
        result = count(store, sqlite3_column_int64(stmt, 0), -sqlite3_column_int(stmt, 1), err);
    return store_finish(store, stmt, result, err);
}

static int delete_tail(struct store *store, struct err *err)
{
    if (uncount(store,
                "SELECT source, count(*) FROM retransmission WHERE id >"
                " (SELECT retransmission FROM carry) GROUP BY source",
                count_retransmission, err) < 0 ||
        uncount(store,
                "SELECT source, count(*) FROM copy WHERE id > (SELECT copy FROM carry)"
                " GROUP BY source",
                count_copy, err) < 0 ||
        uncount(store,
                "SELECT source, count(*) FROM problem WHERE id > (SELECT problem FROM carry)"
                " GROUP BY source",
                count_problem, err) < 0)
        return -err->code;
    return sql_run(store->db,
                   "DELETE FROM retransmission WHERE id > (SELECT retransmission FROM carry);"
                   "DELETE FROM copy WHERE id > (SELECT copy FROM carry);"
                   "DELETE FROM problem WHERE id > (SELECT problem FROM carry);"
                   "DELETE FROM name_event WHERE id > (SELECT name_event FROM carry);"
                   "DELETE FROM path WHERE id > (SELECT path FROM carry);"
                   "DELETE FROM object WHERE id > (SELECT object FROM carry);"
                   "DELETE FROM credential WHERE id > (SELECT credential FROM carry);"
                   "DELETE FROM flow WHERE id > (SELECT flow FROM carry);"
                   "UPDATE counter SET value = counter.value - w.value FROM waiting_counter w"
                   " WHERE w.source = counter.source AND w.name = counter.name;"
                   "DELETE FROM counter WHERE value = 0;"
                   "DELETE FROM waiting_counter;",
                   err);
}

int carry_tail(struct store *store, struct err *err)
{
    store->provisional = true;
    if (delete_waiting(store, err) < 0)
        return -err->code;
    return sql_run(store->db,
                   "UPDATE carry SET tail = 1,"
                   " flow = (SELECT ifnull(max(id), 0) FROM flow),"
                   " credential = (SELECT ifnull(max(id), 0) FROM credential),"
                   " object = (SELECT ifnull(max(id), 0) FROM object),"
                   " path = (SELECT ifnull(max(id), 0) FROM path),"
                   " name_event = (SELECT ifnull(max(id), 0) FROM name_event),"
                   " retransmission = (SELECT ifnull(max(id), 0) FROM retransmission),"
                   " copy = (SELECT ifnull(max(id), 0) FROM copy),"
                   " problem = (SELECT ifnull(max(id), 0) FROM problem);",
                   err);
}

int carry_begin(struct store *store, bool settle, struct err *err)
{
    int64_t operations, flows, tail;

    if (settle &&
        sql_run(store->db, "DELETE FROM carry; DELETE FROM waiting; DELETE FROM waiting_counter;",
                err) < 0)
        return -err->code;
    if (sql_number(store->db, "SELECT tail FROM carry", -1, &tail, err) < 0 ||
        sql_number(store->db,
                   tail < 0 ? "SELECT max(id) FROM operation" : "SELECT operation_base FROM carry",
                   0, &operations, err) < 0 ||
        sql_number(store->db, tail < 0 ? "SELECT max(id) FROM flow" : "SELECT flow_base FROM carry",
                   0, &flows, err) < 0)
        return -err->code;
    store->operation_base = (uint64_t)operations;
    store->flow_base = (uint32_t)flows;
    if (tail < 0)
        return stream_ends_load(store, err);
    if (store->kind == STORE_TAIL)
        return carry_tail(store, err);
    if (delete_waiting(store, err) < 0 || (tail > 0 && delete_tail(store, err) < 0))
        return -err->code;
    return 0;
}

int carry_end(struct store *store, const struct store_end *end, struct err *err)
{
    sqlite3_stmt *stmt;

    if (store->kind != STORE_CAPTURE)
        return 0;
    if (store_prepare(store, "INSERT OR REPLACE INTO carry VALUES (1,?,?,?,0,0,0,0,0,0,0,0,0,?)",
                      &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_text(stmt, 1, end->options, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 2, (int64_t)store->operation_base);
    sqlite3_bind_int64(stmt, 3, store->flow_base);
    sqlite3_bind_blob64(stmt, 4, end->carry->data, end->carry->len, SQLITE_STATIC);
    sqlite3_step(stmt);
    return store_finish(store, stmt, 0, err);
}

int carry_state(struct store *store, const char *options, struct err *err)
{
    sqlite3_stmt *stmt;
    int state = CARRY_NONE;

    if (!store->ready)
        return CARRY_NONE;
    if (store_prepare(store, "SELECT tail, options = ? FROM carry", &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_text(stmt, 1, options, -1, SQLITE_STATIC);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        state = !sqlite3_column_int(stmt, 1)  ? CARRY_OTHER
                : sqlite3_column_int(stmt, 0) ? CARRY_TAIL
                                              : CARRY_OPEN;
    return store_finish(store, stmt, state, err);
}

int carry_restore(struct store *store, struct engine *engine, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (store_prepare(store, "SELECT state FROM carry", &stmt, err) < 0)
        return -err->code;
    if (sqlite3_step(stmt) == SQLITE_ROW)
        result = engine_restore(engine, sqlite3_column_blob(stmt, 0),
                                (size_t)sqlite3_column_bytes(stmt, 0), err);
    return store_finish(store, stmt, result, err);
}

static struct bytes column_blob(sqlite3_stmt *stmt, int at)
{
    const void *data = sqlite3_column_blob(stmt, at);

    return (struct bytes){ data, (uint32_t)sqlite3_column_bytes(stmt, at) };
}

/* A name, as bytes in |buf|. */
static int column_name(sqlite3_stmt *stmt, int at, struct buf *buf, struct bytes *name,
                       struct err *err)
{
    const char *text = (const char *)sqlite3_column_text(stmt, at);

    buf->len = 0;
    if (unescape_name(text ? text : "", (size_t)sqlite3_column_bytes(stmt, at), buf) < 0)
        return err_memory(err, "a name");
    *name = (struct bytes){ buf->data, (uint32_t)buf->len };
    return 0;
}

static int row_credential(sqlite3_stmt *stmt, struct buf *buf, struct record *record,
                          struct err *err)
{
    (void)buf, (void)err;
    record->credential.id = (uint32_t)sqlite3_column_int64(stmt, 0);
    record->credential.flavor = (uint32_t)sqlite3_column_int64(stmt, 1);
    record->credential.gss_service = (uint32_t)sqlite3_column_int64(stmt, 2);
    record->credential.body = column_blob(stmt, 3);
    return 0;
}

static int row_flow(sqlite3_stmt *stmt, struct buf *buf, struct record *record, struct err *err)
{
    (void)buf;
    record->flow.client_port = (uint16_t)sqlite3_column_int(stmt, 1);
    record->flow.server_port = (uint16_t)sqlite3_column_int(stmt, 3);
    if (read_address((const char *)sqlite3_column_text(stmt, 0), &record->flow.client, err) < 0)
        return -err->code;
    return read_address((const char *)sqlite3_column_text(stmt, 2), &record->flow.server, err);
}

static int row_object(sqlite3_stmt *stmt, struct buf *buf, struct record *record, struct err *err)
{
    (void)buf;
    record->object.id = (uint64_t)sqlite3_column_int64(stmt, 0);
    record->object.handle = column_blob(stmt, 2);
    record->object.type = (uint8_t)sqlite3_column_int(stmt, 3);
    record->object.fsid = (uint64_t)sqlite3_column_int64(stmt, 4);
    record->object.fileid = (uint64_t)sqlite3_column_int64(stmt, 5);
    return read_address((const char *)sqlite3_column_text(stmt, 1), &record->object.server, err);
}

static int row_path(sqlite3_stmt *stmt, struct buf *buf, struct record *record, struct err *err)
{
    record->path.id = (uint32_t)sqlite3_column_int64(stmt, 0);
    record->path.parent = (uint32_t)sqlite3_column_int64(stmt, 1);
    record->path.object = (uint64_t)sqlite3_column_int64(stmt, 2);
    return column_name(stmt, 3, buf, &record->path.name, err);
}

static int row_name(sqlite3_stmt *stmt, struct buf *buf, struct record *record, struct err *err)
{
    record->name.event = (uint8_t)sqlite3_column_int(stmt, 0);
    record->name.parent = (uint64_t)sqlite3_column_int64(stmt, 1);
    record->name.object = (uint64_t)sqlite3_column_int64(stmt, 3);
    return column_name(stmt, 2, buf, &record->name.name, err);
}

int carry_learn(struct store *store, struct engine *engine, struct err *err)
{
    static const struct {
        uint8_t kind;
        const char *sql;
        int (*row)(sqlite3_stmt *stmt, struct buf *buf, struct record *record, struct err *err);
    } tables[] = {
        { RECORD_FLOW, "SELECT client, client_port, server, server_port FROM flow ORDER BY id",
          row_flow },
        { RECORD_CREDENTIAL, "SELECT id, flavor, gss_service, body FROM credential ORDER BY id",
          row_credential },
        { RECORD_OBJECT, "SELECT id, server, handle, type, fsid, fileid FROM object ORDER BY id",
          row_object },
        { RECORD_PATH, "SELECT id, parent, object, name FROM path ORDER BY id", row_path },
        { RECORD_NAME, "SELECT event, parent, name, object FROM name_event ORDER BY id", row_name },
    };
    struct buf buf = { 0 };
    int result = 0;

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && result == 0; i++) {
        sqlite3_stmt *stmt;

        result = store_prepare(store, tables[i].sql, &stmt, err);
        while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
            struct record record = { .kind = tables[i].kind };

            result = tables[i].row(stmt, &buf, &record, err);
            if (result == 0)
                result = engine_learn(engine, &record, err);
        }
        result = store_finish(store, stmt, result, err);
    }
    buf_free(&buf);
    return result < 0 ? err_prefix(err, "%s: what it knows", store->path) : 0;
}
