/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/database.c
 *
 * Fills the database from the capture, writes it by VACUUM INTO, and compares two of them row by
 * row.  The names of tables come from the database that was made here, as the other one is a
 * stranger's.  For parts.c and verify.c.  The contract is in database.h.
 */
#include "package/database.h"
#include "ingest/ingest.h"
#include "package/stage.h"
#include "plan/tree_store.h"

#include <stdio.h>

static int exec_with(sqlite3 *db, const char *sql, const char *value, struct err *err)
{
    sqlite3_stmt *stmt;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(db, MEMBER_DATABASE, err);
    sqlite3_bind_text(stmt, 1, value, -1, SQLITE_STATIC);
    sqlite3_step(stmt);
    return sqlite3_finalize(stmt) == SQLITE_OK ? 0 : store_fail(db, MEMBER_DATABASE, err);
}

int database_fill(struct store *store, const char *path, const struct plan_host *host,
                  const struct progress *progress, struct err *err)
{
    static const struct engine_options defaults;
    struct ingest *ingest = ingest_new(store, &defaults, progress, err);
    struct err note = { 0 }, cut = { 0 };
    struct plan_counts counts;
    int result = ingest ? ingest_file(ingest, path, true, &note, err) : -err->code;

    if (result == INGEST_CUT) {
        cut = *err;
        *err = (struct err){ 0 };
    }
    if (result >= 0)
        result = ingest_finish(ingest, err);
    ingest_free(ingest);
    if (result >= 0)
        result = exec_with(store_db(store), "UPDATE source SET name = ?", MEMBER_CAPTURE, err);
    if (result >= 0)
        result = tree_store(store_db(store), host, &counts, err);
    if (result < 0 || !cut.code)
        return result;
    *err = cut;
    return 1;
}

int database_write(struct store *store, const char *path, struct err *err)
{
    return exec_with(store_db(store), "VACUUM INTO ?", path, err);
}

/* --- comparing --- */

struct comparing {
    sqlite3 *db, *again;
    void (*show)(void *ctx, const char *text);
    void *ctx;
};

static void differs(const struct comparing *c, const char *table, const char *what)
{
    char text[256];

    snprintf(text, sizeof(text), "table %s: %s", table, what);
    c->show(c->ctx, text);
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **stmt, struct err *err)
{
    return sqlite3_prepare_v2(db, sql, -1, stmt, NULL) == SQLITE_OK
               ? 0
               : store_fail(db, MEMBER_DATABASE, err);
}

static bool same_value(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
    int type = sqlite3_column_type(a, column);

    if (type != sqlite3_column_type(b, column))
        return false;
    if (type == SQLITE_INTEGER)
        return sqlite3_column_int64(a, column) == sqlite3_column_int64(b, column);
    if (type == SQLITE_NULL)
        return true;
    /* a REAL as text, of which there are none */
    const void *x = sqlite3_column_blob(a, column), *y = sqlite3_column_blob(b, column);
    int len = sqlite3_column_bytes(a, column);

    return len == sqlite3_column_bytes(b, column) && (!len || memcmp(x, y, (size_t)len) == 0);
}

static bool same_row(sqlite3_stmt *a, sqlite3_stmt *b)
{
    int count = sqlite3_column_count(a);

    if (count != sqlite3_column_count(b))
        return false;
    for (int i = 0; i < count; i++)
        if (!same_value(a, b, i))
            return false;
    return true;
}

/* Both are read side by side in the order of their keys. */
static int compare_rows(const struct comparing *c, const char *table, sqlite3_stmt *a,
                        sqlite3_stmt *b, struct err *err)
{
    uint64_t row = 0;
    char text[160];
    int x, y;

    do {
        x = sqlite3_step(a);
        y = sqlite3_step(b);
        row++;
        if (x != SQLITE_ROW && x != SQLITE_DONE)
            return store_fail(c->db, MEMBER_DATABASE, err);
        if (y != SQLITE_ROW && y != SQLITE_DONE)
            return store_fail(c->again, "the database made again", err);
    } while (x == SQLITE_ROW && y == SQLITE_ROW && same_row(a, b));
    if (x == SQLITE_DONE && y == SQLITE_DONE)
        return 0;
    snprintf(text, sizeof(text), "row %llu %s", (unsigned long long)row,
             x == y            ? "is not what the capture gives"
             : x == SQLITE_ROW ? "and those after it are not in the capture"
                               : "and those after it, which the capture gives, are missing");
    differs(c, table, text);
    return 0;
}

static int compare_table(const struct comparing *c, const char *table, bool rows, struct err *err)
{
    sqlite3_stmt *a = NULL, *b = NULL;
    char sql[256], text[160];
    int result;

    snprintf(sql, sizeof(sql), "SELECT %s FROM \"%s\"", rows ? "*" : "count(*)", table);
    result = prepare(c->db, sql, &a, err);
    if (result == 0)
        result = prepare(c->again, sql, &b, err);
    if (result == 0 && rows) {
        result = compare_rows(c, table, a, b, err);
    } else if (result == 0) {
        if (sqlite3_step(a) != SQLITE_ROW)
            result = store_fail(c->db, MEMBER_DATABASE, err);
        else if (sqlite3_step(b) != SQLITE_ROW)
            result = store_fail(c->again, "the database made again", err);
        else if (sqlite3_column_int64(a, 0) != sqlite3_column_int64(b, 0)) {
            snprintf(text, sizeof(text), "%lld rows, but the capture gives %lld",
                     (long long)sqlite3_column_int64(a, 0), (long long)sqlite3_column_int64(b, 0));
            differs(c, table, text);
        }
    }
    sqlite3_finalize(a);
    sqlite3_finalize(b);
    return result;
}

static int made_by(sqlite3 *db, char *text, size_t size, struct err *err)
{
    sqlite3_stmt *stmt;

    text[0] = '\0';
    if (prepare(db, "SELECT value FROM meta WHERE key = 'created_by'", &stmt, err) < 0)
        return -err->code;
    if (sqlite3_step(stmt) == SQLITE_ROW)
        snprintf(text, size, "%s", (const char *)sqlite3_column_text(stmt, 0));
    return sqlite3_finalize(stmt) == SQLITE_OK ? 0 : store_fail(db, MEMBER_DATABASE, err);
}

int database_compare(sqlite3 *db, sqlite3 *again, void (*show)(void *ctx, const char *text),
                     void *ctx, struct err *err)
{
    const struct comparing c = { db, again, show, ctx };
    char maker[64], here[64];
    sqlite3_stmt *tables;
    int result;

    if (made_by(db, maker, sizeof(maker), err) < 0 || made_by(again, here, sizeof(here), err) < 0)
        return -err->code;
    /* names come from the database that was made here */
    if (prepare(again,
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE"
                " 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
                &tables, err) < 0)
        return -err->code;
    result = 0;
    while (result == 0 && sqlite3_step(tables) == SQLITE_ROW)
        result = compare_table(&c, (const char *)sqlite3_column_text(tables, 0),
                               strcmp(maker, here) == 0, err);
    sqlite3_finalize(tables);
    return result;
}

int database_same_schema(sqlite3 *db, sqlite3 *again, bool *same, struct err *err)
{
    static const char sql[] = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
                              " WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'"
                              " ORDER BY type, name";
    sqlite3_stmt *a = NULL, *b = NULL;
    int result, x, y;

    result = prepare(db, sql, &a, err);
    if (result == 0)
        result = prepare(again, sql, &b, err);
    if (result == 0) {
        do {
            x = sqlite3_step(a);
            y = sqlite3_step(b);
        } while (x == SQLITE_ROW && y == SQLITE_ROW && same_row(a, b));
        *same = x == SQLITE_DONE && y == SQLITE_DONE;
        if (x != SQLITE_ROW && x != SQLITE_DONE)
            result = store_fail(db, MEMBER_DATABASE, err);
    }
    sqlite3_finalize(a);
    sqlite3_finalize(b);
    return result;
}
