/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_insert.c
 *
 * What SQLite alone costs: takes the operations of a finished trace database into memory, and
 * inserts them into a new one: same table, same values, one transaction, one prepared statement,
 * then the same indexes.  Prints rows and seconds; reading is not in the seconds.
 * Run: bench_insert FINISHED NEW
 */
#include <sqlite3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS_MAX = 64 };

struct rows {
    sqlite3_value **values;
    size_t count, cap, columns;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int complain(sqlite3 *db, const char *what)
{
    fprintf(stderr, "bench_insert: %s: %s\n", what, sqlite3_errmsg(db));
    return -1;
}

static int load(sqlite3 *db, struct rows *rows)
{
    sqlite3_stmt *s;
    int rc;

    if (sqlite3_prepare_v2(db, "SELECT * FROM operation ORDER BY id", -1, &s, NULL) != SQLITE_OK)
        return complain(db, "operation");
    rows->columns = (size_t)sqlite3_column_count(s) - 1; /* the last one is generated */
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        if (rows->count + rows->columns > rows->cap) {
            size_t cap = rows->cap ? rows->cap * 2 : 1 << 16;
            void *grown = realloc(rows->values, cap * sizeof(*rows->values));
            if (!grown)
                break;
            rows->values = grown;
            rows->cap = cap;
        }
        for (size_t i = 0; i < rows->columns; i++)
            rows->values[rows->count++] = sqlite3_value_dup(sqlite3_column_value(s, (int)i));
    }
    sqlite3_finalize(s);
    return rc == SQLITE_DONE ? 0 : complain(db, "reading");
}

/* Runs the statements that made |type| ('table', 'index') of operation in |from| in |to|. */
static int copy_schema(sqlite3 *from, sqlite3 *to, const char *type)
{
    sqlite3_stmt *s;
    int rc;

    if (sqlite3_prepare_v2(from,
                           "SELECT sql FROM sqlite_master "
                           "WHERE tbl_name = 'operation' AND type = ? AND sql IS NOT NULL",
                           -1, &s, NULL) != SQLITE_OK)
        return complain(from, "schema");
    sqlite3_bind_text(s, 1, type, -1, SQLITE_STATIC);
    while ((rc = sqlite3_step(s)) == SQLITE_ROW)
        if (sqlite3_exec(to, (const char *)sqlite3_column_text(s, 0), NULL, NULL, NULL) !=
            SQLITE_OK) {
            complain(to, "schema");
            break;
        }
    sqlite3_finalize(s);
    return rc == SQLITE_DONE ? 0 : -1;
}

static int insert(sqlite3 *db, const struct rows *rows)
{
    char sql[64 + 3 * COLUMNS_MAX] = "INSERT INTO operation VALUES (?";
    size_t len = strlen(sql);
    sqlite3_stmt *s;

    if (rows->columns > COLUMNS_MAX)
        return -1;
    for (size_t i = 1; i < rows->columns; i++) {
        memcpy(sql + len, ",?", 2);
        len += 2;
    }
    memcpy(sql + len, ")", 2);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return complain(db, sql);
    for (size_t at = 0; at < rows->count; at += rows->columns) {
        for (size_t i = 0; i < rows->columns; i++)
            sqlite3_bind_value(s, (int)i + 1, rows->values[at + i]);
        if (sqlite3_step(s) != SQLITE_DONE) {
            sqlite3_finalize(s);
            return complain(db, "INSERT");
        }
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return 0;
}

static int measure(sqlite3 *from, sqlite3 *to, const struct rows *rows)
{
    double start = now();

    if (sqlite3_exec(to, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
        copy_schema(from, to, "table") < 0 || insert(to, rows) < 0 ||
        copy_schema(from, to, "index") < 0)
        return -1;
    if (sqlite3_exec(to, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        return complain(to, "COMMIT");
    printf("%zu rows %.6f seconds\n", rows->count / rows->columns, now() - start);
    return 0;
}

int main(int argc, char **argv)
{
    struct rows rows = { 0 };
    sqlite3 *from = NULL, *to = NULL;
    int rc = -1;

    if (argc != 3) {
        fprintf(stderr, "usage: bench_insert FINISHED NEW\n");
        return 2;
    }
    remove(argv[2]);
    if (sqlite3_open_v2(argv[1], &from, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        complain(from, argv[1]);
    else if (sqlite3_open(argv[2], &to) != SQLITE_OK)
        complain(to, argv[2]);
    else if (load(from, &rows) == 0)
        rc = measure(from, to, &rows);
    for (size_t i = 0; i < rows.count; i++)
        sqlite3_value_free(rows.values[i]);
    free(rows.values);
    sqlite3_close(to);
    sqlite3_close(from);
    return rc < 0 ? 4 : 0;
}
