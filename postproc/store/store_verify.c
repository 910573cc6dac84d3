/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store_verify.c
 *
 * One pass over the operations (store_verify_pass.c); a list of queries, each row of which is a
 * finding, but for those that the pass makes needless.  SQLite's own check runs beside them in a
 * thread (store_verify_damage.c), and if that finds anything, nothing else is believed.  For
 * "nfsdigest check" and packages.  The contract is in store_verify.h.
 */
#include "store/store_verify.h"
#include "store/store_parts.h"
#include "store/store_verify_parts.h"

#include <pthread.h>
#include <string.h>

struct verifier {
    struct store *store;
    struct verify_findings found;
};

void verify_finding(struct verify_findings *f, const char *text)
{
    f->count++;
    if (++f->of_kind > VERIFY_SHOWN + 1)
        return;
    if (f->of_kind == VERIFY_SHOWN + 1)
        text = "... and more of this kind";
    f->failed |= buf_append(&f->texts, text, strlen(text) + 1) < 0;
}

/* Each row of |sql| is a finding, its first column the text. */
static int each_row(struct verifier *v, const char *sql, struct err *err)
{
    sqlite3_stmt *stmt;

    v->found.of_kind = 0;
    if (store_prepare(v->store, sql, &stmt, err) < 0)
        return -err->code;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);

        verify_finding(&v->found, text ? text : "?");
    }
    return store_finish(v->store, stmt, 0, err);
}

#define COUNTED(column, rows)                                                                      \
    "SELECT printf('source %d (%s): " column " is %d, but there are %d', s.id, s.name, s." column  \
    ", r.n) FROM source s JOIN (SELECT s.id, (SELECT count(*) FROM " rows                          \
    ") AS n FROM source s) r ON r.id = s.id WHERE s." column " <> r.n"

/* |when|: 0: always; else if the pass could not exclude it (SUSPECT_). */
static const struct query {
    unsigned when;
    const char *sql;
} queries[] = {
    /* ids without gaps need no search */
    { SUSPECT_DEPENDS,
      "WITH known AS MATERIALIZED (SELECT min(id) AS low, max(id) AS high,"
      " max(id) - min(id) + 1 = count(*) AS whole FROM operation)"
      " SELECT printf('operation %d: depends on %d, which is not there', id, depends_on)"
      " FROM operation o, known k WHERE depends_on IS NOT NULL"
      " AND (NOT k.whole OR depends_on NOT BETWEEN k.low AND k.high)"
      " AND NOT EXISTS (SELECT 1 FROM operation d WHERE d.id = o.depends_on)" },
    { 0, "SELECT printf('name_event %d: of operation %d, which is not there', id, operation)"
         " FROM name_event e WHERE operation IS NOT NULL"
         " AND NOT EXISTS (SELECT 1 FROM operation o WHERE o.id = e.operation)" },
    { 0, "SELECT printf('source %d (%s): was not read to its end', id, name) FROM source"
         " WHERE state = 'open'" },
    { 0,
      "SELECT printf('source %d (%s): cut: %s', id, name, note) FROM source WHERE state = 'cut'" },
    { 0, "SELECT 'index ' || name || ' is not there' FROM (SELECT 'object_by_handle' AS name"
         " UNION SELECT 'path_by_parent' UNION SELECT 'operation_by_time'"
         " UNION SELECT 'operation_by_path' UNION SELECT 'operation_by_object')"
         " WHERE name NOT IN (SELECT name FROM sqlite_schema WHERE type = 'index')" },
    { 0,
      "SELECT printf('connection event %d: frame %d or %d is not one of source %d', e.id, e.frame,"
      " e.last_frame, s.id) FROM connection_event e JOIN source s ON s.id = e.source"
      " WHERE e.frame NOT BETWEEN 1 AND s.frames OR e.last_frame NOT BETWEEN e.frame AND "
      "s.frames" },
    { SUSPECT_COUNTS, COUNTED("calls", "operation WHERE call_source = s.id") },
    { SUSPECT_COUNTS, COUNTED("replies", "operation WHERE reply_source = s.id") },
    { 0, COUNTED("retransmissions", "retransmission WHERE source = s.id") },
    { 0, COUNTED("copies", "copy WHERE source = s.id") },
    { 0, COUNTED("problems", "problem WHERE source = s.id") },
    { SUSPECT_COUNTS,
      COUNTED("operations", "operation WHERE ifnull(call_source, reply_source) = s.id") },
    { SUSPECT_LABEL, "SELECT printf('operation %d: has neither call nor reply', id) FROM operation"
                     " WHERE call_frame IS NULL AND reply_frame IS NULL" },
    { SUSPECT_LABEL,
      "SELECT printf('operation %d: is labelled %d, but has %s', id, pairing,"
      " CASE WHEN reply_frame IS NULL THEN 'no reply' WHEN call_frame IS NULL THEN 'no call'"
      " ELSE 'both' END) FROM operation WHERE (pairing = 0) <>"
      " (call_frame IS NOT NULL AND reply_frame IS NOT NULL) OR (pairing = 2) <>"
      " (call_frame IS NULL)" },
    { SUSPECT_FRAMES,
      "SELECT printf('operation %d: frame %d is not one of source %d', o.id, o.call_frame, s.id)"
      " FROM operation o JOIN source s ON s.id = o.call_source"
      " WHERE o.call_frame NOT BETWEEN 1 AND s.frames" },
    { SUSPECT_FRAMES,
      "SELECT printf('operation %d: frame %d is not one of source %d', o.id, o.reply_frame, s.id)"
      " FROM operation o JOIN source s ON s.id = o.reply_source"
      " WHERE o.reply_frame NOT BETWEEN 1 AND s.frames" },
    { 0, "SELECT printf('object %d: has the handle of object %d', max(id), min(id)) FROM object"
         " GROUP BY handle, server HAVING count(*) > 1" },
    { 0, "SELECT printf('path %d: is path %d again', max(id), min(id)) FROM path"
         " GROUP BY parent, name, object HAVING count(*) > 1" },
    { 0, "SELECT printf('path %d: its text is not that of its parent and its name', c.id)"
         " FROM path c JOIN path p ON p.id = c.parent"
         " WHERE c.text <> rtrim(p.text, '/') || '/' || c.name" },
};

#define BAD_REFERENCES                                                                             \
    "SELECT printf('%s %d: refers to a row of %s that is not there', f.\"table\", f.rowid, "       \
    "f.parent)"                                                                                    \
    " FROM sqlite_schema s JOIN pragma_foreign_key_check(s.name) f WHERE s.type = 'table'"

/* What runs beside the rest, on a connection of its own. */
struct damage {
    sqlite3 *db;
    const char *path;
    struct verify_findings found;
    struct err err;
    pthread_t thread;
    bool runs;
    int result;
};

static void *look_for_damage(void *ctx)
{
    struct damage *d = ctx;

    d->result = verify_damage(d->db, d->path, &d->found, &d->err);
    return NULL;
}

/* In a thread, if the database is a file that can be opened again. */
static void damage_begin(struct damage *d, struct store *store)
{
    sqlite3 *reader = store_reader(store->db);

    *d = (struct damage){ .db = reader ? reader : store->db, .path = store->path };
    d->runs = reader && pthread_create(&d->thread, NULL, look_for_damage, d) == 0;
    if (!d->runs)
        look_for_damage(d);
}

static void damage_end(struct damage *d, const struct store *store)
{
    if (d->runs)
        pthread_join(d->thread, NULL);
    if (d->db != store->db)
        sqlite3_close(d->db);
}

static int check_all(struct verifier *v, struct verify_pass *pass, struct err *err)
{
    sqlite3 *reader = store_reader(v->store->db);
    int result;

    pass->db = reader ? reader : v->store->db;
    pass->path = v->store->path;
    result = verify_pass(pass, err);
    sqlite3_close(reader);
    for (size_t i = 0; result == 0 && i < sizeof(queries) / sizeof(*queries); i++)
        if (!queries[i].when || queries[i].when & pass->suspect)
            result = each_row(v, queries[i].sql, err);
    if (result < 0)
        return result;
    return each_row(v,
                    pass->suspect & SUSPECT_REFERENCES ? BAD_REFERENCES
                                                       : BAD_REFERENCES
                        " AND s.name <> 'operation'",
                    err);
}

static uint64_t show_all(struct verify_findings *f, void (*show)(void *ctx, const char *text),
                         void *ctx)
{
    const char *end = (const char *)f->texts.data + f->texts.len;

    for (const char *text = (const char *)f->texts.data; text < end; text += strlen(text) + 1)
        show(ctx, text);
    return f->count;
}

int verify(struct store *store, void (*show)(void *ctx, const char *text), void *ctx,
           uint64_t *findings, struct err *err)
{
    struct verifier v = { .store = store };
    struct verify_pass pass = { 0 };
    struct damage damage;
    int result;

    *findings = 0;
    damage_begin(&damage, store);
    result = check_all(&v, &pass, err);
    damage_end(&damage, store);
    if (damage.found.count || pass.indexes.count) { /* nothing else can be believed */
        *findings = show_all(&damage.found, show, ctx) + show_all(&pass.indexes, show, ctx);
        result = err_set(err, ERR_INPUT, "%s: the database is damaged", store->path);
    } else if (damage.result < 0) {
        *err = damage.err;
        result = damage.result;
    } else if (result == 0) {
        *findings = show_all(&v.found, show, ctx) + show_all(&pass.bodies, show, ctx);
        if (v.found.failed || pass.bodies.failed)
            result = err_memory(err, "findings");
    }
    buf_free(&v.found.texts);
    buf_free(&pass.bodies.texts);
    buf_free(&pass.indexes.texts);
    buf_free(&damage.found.texts);
    return result;
}
