/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store_verify.c
 *
 * A list of queries, each row of which is a finding, then every body against the table of its
 * procedure.  SQLite's own check comes first, and if that finds anything, nothing else is believed.
 * For "nfsdigest check" and packages.  The contract is in store_verify.h.
 */
#include "store/store_verify.h"
#include "record/kept.h"
#include "store/store_parts.h"

#include <stdio.h>

struct verifier {
    struct store *store;
    void (*show)(void *ctx, const char *text);
    void *ctx;
    uint64_t findings;
    uint64_t of_kind;
};

static void finding(struct verifier *v, const char *text)
{
    v->findings++;
    v->of_kind++;
    if (v->of_kind <= VERIFY_SHOWN)
        v->show(v->ctx, text);
    else if (v->of_kind == VERIFY_SHOWN + 1)
        v->show(v->ctx, "... and more of this kind");
}

/* Each row of |sql| is a finding, its first column the text. */
static int each_row(struct verifier *v, const char *sql, struct err *err)
{
    sqlite3_stmt *stmt;

    v->of_kind = 0;
    if (store_prepare(v->store, sql, &stmt, err) < 0)
        return -err->code;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);

        finding(v, text ? text : "?");
    }
    return store_finish(v->store, stmt, 0, err);
}

#define COUNTED(column, rows)                                                                      \
    "SELECT printf('source %d (%s): " column " is %d, but there are %d', s.id, s.name, s." column  \
    ", r.n) FROM source s JOIN (SELECT s.id, (SELECT count(*) FROM " rows                          \
    ") AS n FROM source s) r ON r.id = s.id WHERE s." column " <> r.n"

static const char *const queries[] = {
    /* SQLite's own view; "ok" is none */
    "SELECT 'the database is damaged: ' || integrity_check FROM pragma_integrity_check"
    " WHERE integrity_check <> 'ok'",
    /* ids without gaps need no search */
    "WITH known AS MATERIALIZED (SELECT min(id) AS low, max(id) AS high,"
    " max(id) - min(id) + 1 = count(*) AS whole FROM operation)"
    " SELECT printf('operation %d: depends on %d, which is not there', id, depends_on)"
    " FROM operation o, known k WHERE depends_on IS NOT NULL"
    " AND (NOT k.whole OR depends_on NOT BETWEEN k.low AND k.high)"
    " AND NOT EXISTS (SELECT 1 FROM operation d WHERE d.id = o.depends_on)",
    "SELECT printf('name_event %d: of operation %d, which is not there', id, operation)"
    " FROM name_event e WHERE operation IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM operation o WHERE o.id = e.operation)",
    "SELECT printf('source %d (%s): was not read to its end', id, name) FROM source"
    " WHERE state = 'open'",
    "SELECT printf('source %d (%s): cut: %s', id, name, note) FROM source WHERE state = 'cut'",
    "SELECT 'index ' || name || ' is not there' FROM (SELECT 'object_by_handle' AS name"
    " UNION SELECT 'path_by_parent' UNION SELECT 'operation_by_time'"
    " UNION SELECT 'operation_by_path' UNION SELECT 'operation_by_object')"
    " WHERE name NOT IN (SELECT name FROM sqlite_schema WHERE type = 'index')",
    "SELECT printf('connection event %d: frame %d or %d is not one of source %d', e.id, e.frame,"
    " e.last_frame, s.id) FROM connection_event e JOIN source s ON s.id = e.source"
    " WHERE e.frame NOT BETWEEN 1 AND s.frames OR e.last_frame NOT BETWEEN e.frame AND s.frames",
    COUNTED("calls", "operation WHERE call_source = s.id"),
    COUNTED("replies", "operation WHERE reply_source = s.id"),
    COUNTED("retransmissions", "retransmission WHERE source = s.id"),
    COUNTED("copies", "copy WHERE source = s.id"),
    COUNTED("problems", "problem WHERE source = s.id"),
    COUNTED("operations", "operation WHERE ifnull(call_source, reply_source) = s.id"),
    "SELECT printf('operation %d: has neither call nor reply', id) FROM operation"
    " WHERE call_frame IS NULL AND reply_frame IS NULL",
    "SELECT printf('operation %d: is labelled %d, but has %s', id, pairing,"
    " CASE WHEN reply_frame IS NULL THEN 'no reply' WHEN call_frame IS NULL THEN 'no call'"
    " ELSE 'both' END) FROM operation WHERE (pairing = 0) <>"
    " (call_frame IS NOT NULL AND reply_frame IS NOT NULL) OR (pairing = 2) <>"
    " (call_frame IS NULL)",
    "SELECT printf('operation %d: frame %d is not one of source %d', o.id, o.call_frame, s.id)"
    " FROM operation o JOIN source s ON s.id = o.call_source"
    " WHERE o.call_frame NOT BETWEEN 1 AND s.frames",
    "SELECT printf('operation %d: frame %d is not one of source %d', o.id, o.reply_frame, s.id)"
    " FROM operation o JOIN source s ON s.id = o.reply_source"
    " WHERE o.reply_frame NOT BETWEEN 1 AND s.frames",
    "SELECT printf('object %d: has the handle of object %d', max(id), min(id)) FROM object"
    " GROUP BY handle, server HAVING count(*) > 1",
    "SELECT printf('path %d: is path %d again', max(id), min(id)) FROM path"
    " GROUP BY parent, name, object HAVING count(*) > 1",
    "SELECT printf('path %d: its text is not that of its parent and its name', c.id)"
    " FROM path c JOIN path p ON p.id = c.parent"
    " WHERE c.text <> rtrim(p.text, '/') || '/' || c.name",
};

/* Most references are those of operations, and most tables have ids without gaps.  Then one pass
 * over the operations, which compares numbers, finds out that all their references are good. */
static const char select_outside[] =
    "SELECT 'SELECT EXISTS (SELECT 1 FROM operation o WHERE ' || group_concat(printf("
    "'o.\"%w\" NOT BETWEEN (SELECT ifnull(min(id), 0) FROM \"%w\") AND"
    " (SELECT ifnull(max(id), -1) FROM \"%w\") OR (SELECT max(id) - min(id) + 1 <> count(*)"
    " FROM \"%w\")', \"from\", \"table\", \"table\", \"table\"), ' OR ') || ')'"
    " FROM pragma_foreign_key_list('operation')";

#define BAD_REFERENCES                                                                             \
    "SELECT printf('%s %d: refers to a row of %s that is not there', f.\"table\", f.rowid, "       \
    "f.parent)"                                                                                    \
    " FROM sqlite_schema s JOIN pragma_foreign_key_check(s.name) f WHERE s.type = 'table'"

static int check_references(struct verifier *v, struct err *err)
{
    sqlite3_stmt *stmt, *outside = NULL;
    bool suspect = true; /* operations may have bad ones */
    int result;

    if (store_prepare(v->store, select_outside, &stmt, err) < 0)
        return -err->code;
    result = 0;
    if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) == SQLITE_TEXT)
        result = store_prepare(v->store, (const char *)sqlite3_column_text(stmt, 0), &outside, err);
    if (outside) {
        suspect = sqlite3_step(outside) != SQLITE_ROW || sqlite3_column_int(outside, 0);
        result = store_finish(v->store, outside, result, err);
    }
    result = store_finish(v->store, stmt, result, err);
    if (result < 0)
        return result;
    return each_row(v, suspect ? BAD_REFERENCES : BAD_REFERENCES " AND s.name <> 'operation'", err);
}

/* The body must be what the table of its procedure and its flags say. */
static void check_body(struct verifier *v, int64_t id, const struct type *type, const char *what,
                       const struct kept_body *body)
{
    char text[WALK_PATH_MAX + 160], path[WALK_PATH_MAX];
    const char *why;
    struct walk w;

    if (kept_agrees(&w, type, body, &why))
        return;
    snprintf(text, sizeof(text), "operation %lld: its %s: %s: %s", (long long)id, what,
             walk_path(&w, NULL, path), why);
    finding(v, text);
}

static int check_bodies(struct verifier *v, struct err *err)
{
    sqlite3_stmt *stmt;

    v->of_kind = 0;
    wire_init();
    if (store_prepare(v->store,
                      "SELECT id, program, version, procedure, call_flags, arguments,"
                      " arguments_length, reply_flags, result, result_length, rpc_status"
                      " FROM operation WHERE program IS NOT NULL",
                      &stmt, err) < 0)
        return -err->code;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const struct procedure *procedure = procedure_find((uint32_t)sqlite3_column_int64(stmt, 1),
                                                           (uint32_t)sqlite3_column_int64(stmt, 2),
                                                           (uint32_t)sqlite3_column_int64(stmt, 3));

        for (int at = 4; procedure && at <= 7; at += 3) {
            const void *data = sqlite3_column_blob(stmt, at + 1);
            struct kept_body body = {
                .data = { data, (uint32_t)sqlite3_column_bytes(stmt, at + 1) },
                .wire_len = (uint32_t)sqlite3_column_int64(stmt, at + 2),
                .flags = (uint32_t)sqlite3_column_int64(stmt, at),
            };

            if (sqlite3_column_type(stmt, at) == SQLITE_NULL ||
                (at == 7 && (sqlite3_column_type(stmt, 10) == SQLITE_NULL ||
                             sqlite3_column_int64(stmt, 10) != 0)))
                continue;
            check_body(v, sqlite3_column_int64(stmt, 0),
                       at == 4 ? procedure->arguments : procedure->result,
                       at == 4 ? "arguments" : "result", &body);
        }
    }
    return store_finish(v->store, stmt, 0, err);
}

int verify(struct store *store, void (*show)(void *ctx, const char *text), void *ctx,
           uint64_t *findings, struct err *err)
{
    struct verifier v = { .store = store, .show = show, .ctx = ctx };
    int result = 0;

    for (size_t i = 0; result == 0 && i < sizeof(queries) / sizeof(*queries); i++) {
        result = each_row(&v, queries[i], err);
        if (i == 0 && v.findings) /* nothing else can be believed */
            result = err_set(err, ERR_INPUT, "%s: the database is damaged", store->path);
    }
    if (result == 0)
        result = check_references(&v, err);
    if (result == 0)
        result = check_bodies(&v, err);
    *findings = v.findings;
    return result;
}
