/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/sql_rows.c
 *
 * Rows of a trace database, by one query for the columns that are wanted.
 */
#include "columns/rows.h"
#include "store/store_parts.h"

#include <stdlib.h>

struct sql_rows {
    struct batch *batch;
    struct store *store; /* or NULL */
    sqlite3_stmt *stmt;
};

/* Without an index, since its order is not that of ids. */
static int prepare(struct sql_rows *rows, sqlite3 *db, struct err *err)
{
    const struct batch *batch = rows->batch;
    struct buf sql = { 0 };
    int bad = buf_append(&sql, "SELECT ", 7), result;

    for (unsigned i = 0; i < batch->count; i++) {
        const struct column *column = batch->columns[i];

        if (i)
            bad |= buf_append(&sql, ",", 1);
        if (column->sql)
            bad |= buf_append(&sql, column->sql, strlen(column->sql));
        else
            bad |= buf_append(&sql, "o.", 2) | buf_append(&sql, column->name, strlen(column->name));
    }
    bad |= buf_append(&sql, " FROM ", 6) |
           buf_append(&sql, batch->table->sql, strlen(batch->table->sql)) |
           buf_append(&sql, " o NOT INDEXED", 15); /* with its zero */
    result = bad ? err_memory(err, "a query")
                 : sql_prepare(db, (const char *)sql.data, &rows->stmt, err);
    buf_free(&sql);
    return result;
}

/* A database of nothing but what every one has. */
static sqlite3 *open_common(sqlite3 **common, struct err *err)
{
    if (*common)
        return *common;
    if (sqlite3_open(":memory:", common) != SQLITE_OK)
        err_memory(err, "a database");
    else if (schema_create(*common, err) == 0)
        return *common;
    sqlite3_close(*common);
    *common = NULL;
    return NULL;
}

struct sql_rows *sql_rows_new(const char *path, sqlite3 **common, struct batch *batch,
                              struct err *err)
{
    struct sql_rows *rows = calloc(1, sizeof(*rows));
    sqlite3 *db;

    if (!rows) {
        err_memory(err, "rows");
        return NULL;
    }
    rows->batch = batch;
    if (path) {
        rows->store = store_open(path, STORE_READ, err);
        db = rows->store ? store_db(rows->store) : NULL;
    } else {
        db = open_common(common, err);
    }
    if (!db || prepare(rows, db, err) < 0) {
        sql_rows_free(rows);
        return NULL;
    }
    return rows;
}

static void read_cell(sqlite3_stmt *stmt, int at, enum column_type type, struct cell *cell)
{
    const void *data;

    cell->there = sqlite3_column_type(stmt, at) != SQLITE_NULL;
    if (!cell->there)
        return;
    if (type != COLUMN_TEXT && type != COLUMN_WORD && type != COLUMN_BYTES) {
        cell->number = sqlite3_column_int64(stmt, at);
        return;
    }
    data = type == COLUMN_BYTES ? sqlite3_column_blob(stmt, at)
                                : (const void *)sqlite3_column_text(stmt, at);
    cell->bytes.data = data ? data : (const uint8_t *)"";
    cell->bytes.len = (uint32_t)sqlite3_column_bytes(stmt, at);
}

int sql_rows_next(struct sql_rows *rows, struct err *err)
{
    struct batch *batch = rows->batch;
    int there = sql_row(rows->stmt, err);

    if (there <= 0)
        return there;
    for (unsigned i = 0; i < batch->count; i++) {
        struct cell cell = { 0 };

        read_cell(rows->stmt, (int)i, batch->builders[i].type, &cell);
        if (builder_put(&batch->builders[i], &cell) < 0)
            return err_memory(err, "a batch of rows");
    }
    batch_count(batch);
    return 1;
}

void sql_rows_free(struct sql_rows *rows)
{
    if (!rows)
        return;
    sqlite3_finalize(rows->stmt);
    store_close(rows->store);
    free(rows);
}
