/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/tree_store.c
 *
 * schemas/digest.sql and what goes into its tables.
 */
#include "base/embed.h"
#include "base/escape.h"
#include "plan/repair_store.h"
#include "plan/tree.h"
#include "plan/tree_store.h"
#include "store/sql.h"
#include "store/tables.h"

#include <stdio.h>
#include <stdlib.h>

enum { DIGEST_VERSION = 1 };

EMBED(digest_sql, EMBED_ROOT "/schemas/digest.sql");

static const char drop[] =
    "DROP VIEW IF EXISTS inferred; DROP VIEW IF EXISTS unplayable;"
    "DROP TABLE IF EXISTS tree_entry; DROP TABLE IF EXISTS tree_initial;"
    "DROP TABLE IF EXISTS tree_inferred; DROP TABLE IF EXISTS tree_unplayable;"
    "DELETE FROM meta WHERE key IN ('digest_version', 'digest_operations');";

/* Nameless objects whose handle was found after they were shown. */
static const char rename_nameless[] =
    "UPDATE tree_entry SET object = (SELECT n.object FROM temp.tree_named n WHERE n.was ="
    " tree_entry.object) WHERE object IN (SELECT was FROM temp.tree_named);"
    "DROP TABLE temp.tree_named;";

struct writer {
    const struct plan_host *host;
    struct plan_counts *counts;
    sqlite3 *db;
    sqlite3_stmt *entry, *named_object, *inferred, *unplayable;
    struct buf text;
};

static int bind_name(struct writer *w, sqlite3_stmt *stmt, int at, const char *name, bool is_path,
                     struct err *err)
{
    w->text.len = 0;
    if (!name) {
        sqlite3_bind_null(stmt, at);
        return 0;
    }
    if (escape_name(text_bytes(name), is_path, &w->text) < 0 || buf_reserve(&w->text, 1) < 0)
        return err_memory(err, "names");
    sqlite3_bind_text(stmt, at, (const char *)w->text.data, (int)w->text.len, SQLITE_TRANSIENT);
    return 0;
}

static int put_entry(void *ctx, const struct hierarchy *h, const struct entry *e, struct err *err)
{
    struct writer *w = ctx;

    sqlite3_bind_int64(w->entry, 1, node_number(h, e->node));
    sqlite3_bind_int64(w->entry, 2, node_number(h, e->parent));
    if (bind_name(w, w->entry, 3, e->name, false, err) < 0)
        return -err->code;
    sql_bind_unless(w->entry, 4, e->start, BEGINNING);
    sql_bind_unless(w->entry, 5, e->stop, TO_THE_END);
    sqlite3_bind_int64(w->entry, 6, e->start_id);
    sqlite3_bind_int64(w->entry, 7, e->seen_id);
    sql_bind_unless(w->entry, 8, e->stop_id, 0);
    return sql_step(w->entry, err);
}

static int put_named(void *ctx, int64_t from, int64_t to, struct err *err)
{
    struct writer *w = ctx;
    sqlite3_bind_int64(w->named_object, 1, from);
    sqlite3_bind_int64(w->named_object, 2, to);
    return sql_step(w->named_object, err);
}

static int put_unplayable(void *ctx, int64_t operation, enum unplayable why, struct err *err)
{
    struct writer *w = ctx;

    sqlite3_bind_int64(w->unplayable, 1, operation);
    sqlite3_bind_int64(w->unplayable, 2, why);
    return sql_step(w->unplayable, err);
}

static void bind_known(sqlite3_stmt *stmt, int at, const struct node *n, uint16_t bit,
                       int64_t value)
{
    if (n->knows & bit)
        sqlite3_bind_int64(stmt, at, value);
    else
        sqlite3_bind_null(stmt, at);
}

static int put_initial(struct writer *w, const struct hierarchy *h, sqlite3_stmt *stmt, uint32_t id,
                       struct err *err)
{
    const struct node *n = node_at(h, id);

    sqlite3_bind_int64(stmt, 1, node_number(h, id));
    if (bind_name(w, stmt, 2, root_path(h, id), true, err) < 0)
        return -err->code;
    sql_bind_unless(stmt, 3, n->type, OBJECT_UNKNOWN);
    bind_known(stmt, 4, n, KNOWS_SIZE, (int64_t)n->size);
    sqlite3_bind_int(stmt, 5, n->flags & NODE_AT_LEAST ? 1 : 0);
    sqlite3_bind_int(stmt, 6, n->flags & NODE_GUESSED ? 1 : 0);
    bind_known(stmt, 7, n, KNOWS_MODE, n->mode);
    bind_known(stmt, 8, n, KNOWS_UID, n->uid);
    bind_known(stmt, 9, n, KNOWS_GID, n->gid);
    bind_known(stmt, 10, n, KNOWS_NLINK, n->nlink);
    bind_known(stmt, 11, n, KNOWS_ATIME, n->atime);
    bind_known(stmt, 12, n, KNOWS_MTIME, n->mtime);
    bind_known(stmt, 13, n, KNOWS_CTIME, n->ctime);
    sqlite3_bind_null(stmt, 14);
    sqlite3_bind_null(stmt, 15);
    if (n->type == OBJECT_BLK || n->type == OBJECT_CHR) {
        bind_known(stmt, 14, n, KNOWS_RDEV, n->rdev[0]);
        bind_known(stmt, 15, n, KNOWS_RDEV, n->rdev[1]);
    }
    if (bind_name(w, stmt, 16, n->link, true, err) < 0)
        return -err->code;
    return sql_step(stmt, err);
}

static int put_inferred(void *ctx, const struct inference *i, struct err *err)
{
    struct writer *w = ctx;
    sqlite3_stmt *stmt = w->inferred;

    sqlite3_bind_int64(stmt, 1, i->precedes);
    sqlite3_bind_int64(stmt, 2, i->reason);
    sql_bind_unless(stmt, 3, i->witness, 0);
    sql_bind_unless(stmt, 4, i->explained, 0);
    sqlite3_bind_int64(stmt, 5, i->procedure);
    sql_bind_unless(stmt, 6, i->object, 0);
    sql_bind_unless(stmt, 7, i->parent, 0);
    sql_bind_unless(stmt, 9, i->parent2, 0);
    if (bind_name(w, stmt, 8, i->name, false, err) < 0 ||
        bind_name(w, stmt, 10, i->name2, false, err) < 0)
        return -err->code;
    if (sql_step(stmt, err) < 0)
        return -err->code;
    return w->host->inferred ? w->host->inferred(w->host->ctx, i, err) : 0;
}

/* When all of it is known. */
static int put_tree(void *ctx, struct tree *tree, struct err *err)
{
    struct writer *w = ctx;
    const struct hierarchy *h = &tree->learn.hierarchy;
    sqlite3_stmt *stmt;
    int result = sql_prepare(
        w->db, "INSERT INTO tree_initial VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", &stmt, err);

    for (uint32_t i = 1; result == 0 && i < h->nodes.count; i++)
        if (node_at(h, i)->flags & NODE_USED && node_at_moment(h, node_at(h, i)))
            result = put_initial(w, h, stmt, i, err);
    sqlite3_finalize(stmt);
    return result == 0 && w->host->tree ? w->host->tree(w->host->ctx, tree, err) : result;
}

static int put_all(struct writer *w, struct err *err)
{
    static const struct plan_options options = { .from = BEGINNING };
    const struct plan_host host = { .hierarchy = { put_entry, put_named, w },
                                    .tree = put_tree,
                                    .inferred = put_inferred,
                                    .unplayable = put_unplayable,
                                    .ctx = w };
    char sql[256];

    if (sql_run(w->db, drop, err) < 0 ||
        tables_section(w->db, digest_sql, "digest.sql", "tables", err) < 0 ||
        sql_run(w->db, "CREATE TEMP TABLE tree_named (was INTEGER PRIMARY KEY, object INTEGER)",
                err) < 0 ||
        tables_section(w->db, digest_sql, "digest.sql", "views", err) < 0 ||
        repair_store_codes(w->db, err) < 0 ||
        sql_prepare(w->db, "INSERT INTO tree_entry VALUES (NULL,?,?,?,?,?,?,?,?)", &w->entry, err) <
            0 ||
        sql_prepare(w->db, "INSERT OR REPLACE INTO temp.tree_named VALUES (?,?)", &w->named_object,
                    err) < 0 ||
        sql_prepare(w->db, "INSERT INTO tree_inferred VALUES (NULL,?,?,?,?,?,?,?,?,?,?)",
                    &w->inferred, err) < 0 ||
        sql_prepare(w->db, "INSERT INTO tree_unplayable VALUES (?,?)", &w->unplayable, err) < 0 ||
        plan_read(w->db, &options, &host, w->counts, err) < 0 ||
        tables_section(w->db, digest_sql, "digest.sql", "indexes", err) < 0 ||
        sql_run(w->db, rename_nameless, err) < 0)
        return -err->code;
    snprintf(sql, sizeof(sql),
             "INSERT INTO meta VALUES ('digest_version', '%d'), ('digest_operations', '%llu')",
             DIGEST_VERSION, (unsigned long long)(w->counts->operations + w->counts->others));
    return sql_run(w->db, sql, err);
}

static int fill(void *ctx, struct err *err)
{
    struct writer *w = ctx;
    int result = put_all(w, err);

    sqlite3_finalize(w->entry);
    sqlite3_finalize(w->named_object);
    sqlite3_finalize(w->inferred);
    sqlite3_finalize(w->unplayable);
    return result;
}

int tree_store(sqlite3 *db, const struct plan_host *host, struct plan_counts *counts,
               struct err *err)
{
    struct writer w = { .host = host, .counts = counts, .db = db };
    int result = tables_transaction(db, fill, &w, err);

    buf_free(&w.text);
    return result;
}
