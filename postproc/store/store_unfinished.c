/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store_unfinished.c
 *
 * Databases that are read while they are written: sources are committed in parts, with a
 * write-ahead log, so that readers and the writer do not wait for each other.  A row of meta says
 * so until the end.  For "nfsdigest ingest --follow".  The contract is in store.h.
 */
#include "store/sql.h"
#include "store/store_parts.h"

/* The value is for people who look into the database. */
#define MARK                                                                                       \
    "INSERT OR REPLACE INTO meta VALUES ('unfinished', 'still being written, or its writer ended " \
    "early');"

int store_follow(struct store *store, struct err *err)
{
    store->follows = true;
    return store_log_ahead(store, err);
}

int store_log_ahead(struct store *store, struct err *err)
{
    /* where that is not possible, SQLite keeps the journal that it has: readers wait then */
    return store->follows && !store->temporary && store->path[0]
               ? sql_run(store->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;", err)
               : 0;
}

/* Also before the tables exist. */
static int look(struct store *store, struct err *err)
{
    int64_t count = 0;

    if (sql_number(store->db,
                   "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'meta'", 0,
                   &count, err) < 0 ||
        (count && sql_number(store->db, "SELECT count(*) FROM meta WHERE key = 'unfinished'", 0,
                             &count, err) < 0))
        return -err->code;
    store->unfinished = count > 0;
    return 0;
}

static int refuse(const struct store *store, struct err *err)
{
    return err_set(
        err, ERR_INPUT,
        "%s: " STORE_UNFINISHED
        "; nothing can be added to it: --anew makes it again from its files, or ingest into "
        "a new database",
        store->path);
}

int store_look_unfinished(struct store *store, struct err *err)
{
    if (look(store, err) < 0)
        return -err->code;
    if (!store->unfinished)
        return 0;
    /* what is read from now on is of one moment; a writer would wait for the other one's lock */
    return store->mode == STORE_READ
               ? sql_run(store->db, "BEGIN; SELECT count(*) FROM source;", err)
               : refuse(store, err);
}

int store_mark_unfinished(struct store *store, struct err *err)
{
    if (store->marked)
        return 0;
    if (look(store, err) < 0)
        return -err->code;
    if (store->unfinished)
        return refuse(store, err);
    return store->follows ? sql_run(store->db, MARK, err) : 0;
}

int store_close_log(const char *path, struct err *err)
{
    sqlite3 *db = NULL;
    int result = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);

    /* only the last connection can end a log; no other one can be in a transaction, either */
    if (result == SQLITE_OK)
        result = sqlite3_exec(db, "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; ROLLBACK", NULL,
                              NULL, NULL);
    if (result != SQLITE_OK)
        result =
            result == SQLITE_BUSY
                ? err_set(err, ERR_INPUT, "%s: another process has it open; wait for its end", path)
                : store_fail(db, path, err);
    sqlite3_close(db);
    return result;
}

bool store_is_unfinished(const struct store *store)
{
    return store->unfinished;
}

/* The source as it is now; store_end says it again. */
static int update_source(struct store *store, struct err *err)
{
    uint64_t frames = store->totals.frames, base = store_frame_base(store);
    sqlite3_stmt *stmt;

    if (store->kind == STORE_CAPTURE) /* records count on from the captures before */
        frames = frames > base ? frames - base : 0;
    if (store_prepare(
            store, "UPDATE source SET frames = ?2, first_time = ?3, last_time = ?4 WHERE id = ?1",
            &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, store->source);
    sqlite3_bind_int64(stmt, 2, (int64_t)frames);
    sql_bind_unless(stmt, 3, store->totals.first_time, TIME_NONE);
    sql_bind_unless(stmt, 4, store->totals.last_time, TIME_NONE);
    sqlite3_step(stmt);
    return store_finish(store, stmt, 0, err);
}

int store_commit_part(struct store *store, struct err *err)
{
    if (!store->open || !store->totals.frames || sqlite3_total_changes(store->db) == store->changes)
        return 0;
    if (update_source(store, err) < 0 || count_end(store, err) < 0 ||
        (!store->indexed && schema_index(store->db, err) < 0))
        return -err->code;
    store->indexed = store->ready = store->marked = true;
    if (sql_run(store->db, "COMMIT", err) < 0 || store_publish(store, err) < 0 ||
        sql_run(store->db, "BEGIN IMMEDIATE", err) < 0)
        return -err->code;
    store->changes = sqlite3_total_changes(store->db);
    return statements_prepare(store, err);
}

int store_finished(struct store *store, struct err *err)
{
    struct err unseen;

    store->follows = false;
    if (!store->ready)
        return 0;
    if (sql_run(store->db, "DELETE FROM meta WHERE key = 'unfinished'", err) < 0)
        return -err->code;
    store->marked = false;
    statements_finalize(store);
    /* not while others read; then it keeps its log, which every reader understands */
    sql_run(store->db, "PRAGMA journal_mode = DELETE", &unseen);
    return 0;
}
