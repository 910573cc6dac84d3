/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/operation_groups.c
 *
 * Three queries for each table: counts of the largest groups, their names, and their latencies in
 * order, from which percentiles are taken by rank.  For cmd_info.c and packages.  The contract is
 * in operation_groups.h.
 */
#include "store/operation_groups.h"
#include "base/grow.h"
#include "store/sql.h"
#include "wire/field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const group_names[BY_MAX] = { "procedure", "client", "path" };

/* Three columns make the key; clients are numbered through their smallest flow. */
static const struct {
    const char *keys, *first, *from, *label;
} dimensions[BY_MAX] = {
    [BY_PROCEDURE] = { "o.program AS k1, o.version AS k2, o.procedure AS k3", "o.program",
                       "operation o WHERE o.program IS NOT NULL",
                       "SELECT name FROM procedure WHERE program = ?1 AND version = ?2"
                       " AND number = ?3" },
    [BY_CLIENT] = { "c.id AS k1, NULL AS k2, NULL AS k3", "c.id",
                    "operation o JOIN temp.client c ON c.address = o.client WHERE 1",
                    "SELECT address FROM temp.client WHERE id = ?1" },
    [BY_PATH] = { "o.path AS k1, NULL AS k2, NULL AS k3", "o.path",
                  "operation o WHERE o.path IS NOT NULL", "SELECT text FROM path WHERE id = ?1" },
};

static int number_clients(sqlite3 *db, struct err *err)
{
    return sql_run(db,
                   "PRAGMA temp_store = MEMORY;"
                   "CREATE TEMP TABLE IF NOT EXISTS client (id INTEGER PRIMARY KEY,"
                   " address TEXT NOT NULL UNIQUE);"
                   "INSERT OR IGNORE INTO temp.client (address) SELECT client FROM flow"
                   " GROUP BY client;",
                   err);
}

static int read_counts(sqlite3 *db, enum group_by by, int64_t top, struct groups *g,
                       struct err *err)
{
    char sql[1024];
    sqlite3_stmt *stmt;
    int result = 0;

    snprintf(sql, sizeof(sql),
             "SELECT %s, count(*) AS n, sum(o.rpc_status <> 0 OR ifnull(o.status, 0) <> 0),"
             " count(o.latency), sum(CASE WHEN o.program = 100003 AND o.procedure = 6"
             "  THEN o.data_length END), sum(CASE WHEN o.program = 100003 AND o.procedure = 7"
             "  THEN o.data_length END), count(*) OVER ()"
             " FROM %s GROUP BY k1, k2, k3 ORDER BY n DESC, k1, k2, k3 LIMIT ?",
             dimensions[by].keys, dimensions[by].from);
    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, top);
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
        struct group group = { 0 };

        if (GROW(g->groups, g->count, g->cap) < 0) {
            result = err_memory(err, "groups");
            break;
        }
        for (int i = 0; i < 3; i++)
            group.key[i] = sqlite3_column_int64(stmt, i);
        group.operations = (uint64_t)sqlite3_column_int64(stmt, 3);
        group.errors = (uint64_t)sqlite3_column_int64(stmt, 4);
        group.answered = (uint64_t)sqlite3_column_int64(stmt, 5);
        group.read = (uint64_t)sqlite3_column_int64(stmt, 6);
        group.written = (uint64_t)sqlite3_column_int64(stmt, 7);
        g->groups[g->count++] = group;
        g->left_out = (uint64_t)sqlite3_column_int64(stmt, 8) - (uint64_t)g->count;
    }
    return sql_end(stmt, result, err);
}

static int read_labels(sqlite3 *db, enum group_by by, struct groups *g, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(db, dimensions[by].label, &stmt, err) < 0)
        return -err->code;
    for (int i = 0; result == 0 && i < g->count; i++) {
        struct group *x = &g->groups[i];
        const char *program = program_name((uint32_t)x->key[0]), *name = NULL;
        char text[96];

        for (int k = 0; k < sqlite3_bind_parameter_count(stmt); k++)
            sqlite3_bind_int64(stmt, k + 1, x->key[k]);
        if (sqlite3_step(stmt) == SQLITE_ROW)
            name = (const char *)sqlite3_column_text(stmt, 0);
        if (by == BY_PROCEDURE && program && name)
            snprintf(text, sizeof(text), "%s %s", program, name);
        else if (by == BY_PROCEDURE)
            snprintf(text, sizeof(text), "%s %lld v%lld %lld", program ? program : "program",
                     (long long)x->key[0], (long long)x->key[1], (long long)x->key[2]);
        x->label = strdup(by == BY_PROCEDURE ? text : name ? name : "?");
        if (!x->label)
            result = err_memory(err, "groups");
        sqlite3_reset(stmt);
    }
    return sql_end(stmt, result, err);
}

static uint64_t rank_of(uint64_t n, unsigned percent)
{
    return (n * percent + 99) / 100;
}

/* The group of a key, or NULL when it is not among the top. */
static struct group *find(struct groups *g, const int64_t key[3])
{
    for (int i = 0; i < g->count; i++)
        if (memcmp(g->groups[i].key, key, sizeof(g->groups[i].key)) == 0)
            return &g->groups[i];
    return NULL;
}

/* "|column| IN (...)", so that only the top groups are sorted. */
static char *key_list(const struct groups *g, const char *column)
{
    size_t size = 32 + (size_t)g->count * 22, len;
    char *list = malloc(size);

    if (!list)
        return NULL;
    len = (size_t)snprintf(list, size, "%s IN (", column);
    for (int i = 0; i < g->count; i++)
        len += (size_t)snprintf(list + len, size - len, "%s%lld", i ? "," : "",
                                (long long)g->groups[i].key[0]);
    snprintf(list + len, size - len, ")");
    return list;
}

static int read_latencies(sqlite3 *db, enum group_by by, struct groups *g, struct err *err)
{
    char *keys = key_list(g, dimensions[by].first), *sql = NULL;
    struct group *at = NULL;
    uint64_t rank = 0;
    int64_t key[3];
    sqlite3_stmt *stmt;
    int result = 0;

    if (keys)
        sql = sqlite3_mprintf("SELECT %s, o.latency FROM %s AND o.latency IS NOT NULL AND %s"
                              " ORDER BY k1, k2, k3, o.latency",
                              dimensions[by].keys, dimensions[by].from, keys);
    free(keys);
    if (!sql)
        return err_memory(err, "a statement");
    result = sql_prepare(db, sql, &stmt, err);
    sqlite3_free(sql);
    if (result < 0)
        return result;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        int64_t latency = sqlite3_column_int64(stmt, 3);

        for (int i = 0; i < 3; i++)
            key[i] = sqlite3_column_int64(stmt, i);
        if (!rank || !at || memcmp(at->key, key, sizeof(key)) != 0) {
            at = find(g, key);
            rank = 0;
        }
        rank++;
        if (!at)
            continue;
        if (rank == rank_of(at->answered, 50))
            at->p50 = latency;
        if (rank == rank_of(at->answered, 90))
            at->p90 = latency;
        if (rank == rank_of(at->answered, 99))
            at->p99 = latency;
        at->max = latency;
    }
    return sql_end(stmt, 0, err);
}

int groups_read(sqlite3 *db, enum group_by by, int64_t top, struct groups *groups, struct err *err)
{
    memset(groups, 0, sizeof(*groups));
    if (by == BY_CLIENT && number_clients(db, err) < 0)
        return -err->code;
    if (read_counts(db, by, top, groups, err) < 0 || read_labels(db, by, groups, err) < 0 ||
        read_latencies(db, by, groups, err) < 0) {
        groups_free(groups);
        return -err->code;
    }
    return 0;
}

void groups_free(struct groups *groups)
{
    for (int i = 0; i < groups->count; i++)
        free(groups->groups[i].label);
    free(groups->groups);
    memset(groups, 0, sizeof(*groups));
}
