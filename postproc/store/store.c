/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store.c
 *
 * Opens and closes a database; transactions are in store_source.c.  A new one is made under a
 * temporary name and gets its own when its first source is whole.  A signal that ends the process
 * rolls back what is open.  For all subcommands that read or write databases.  The contract is in
 * store.h, what the parts share in store_parts.h.
 */
#include "base/output.h"
#include "record/nfsr.h"
#include "store/phases.h"
#include "store/sql.h"
#include "store/store_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_SIZE = 8192,
    BUSY_MS = 5000,
    ENDING_STEPS = 1000, /* of SQLite's machine, between two looks at |ending| */
};

bool store_is_database(const uint8_t *head, size_t len)
{
    return len >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
}

int store_no_stream(const char *name, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s: a database can only be read from a file, not from a pipe",
                   name);
}

/* What a file that is there says of itself: of one moment, since another process may be making the
 * tables of an empty file. */
int store_check_version(struct store *store, struct err *err)
{
    int64_t application, version, tables;
    int result;

    if (sql_run(store->db, "SAVEPOINT version", err) < 0)
        return -err->code;
    result = sql_number(store->db, "PRAGMA application_id", 0, &application, err);
    if (result == 0)
        result = sql_number(store->db, "PRAGMA user_version", 0, &version, err);
    if (result == 0)
        result = sql_number(store->db, "SELECT count(*) FROM sqlite_schema", 0, &tables, err);
    if (sql_run(store->db, "RELEASE version", result < 0 ? NULL : err) < 0 && result == 0)
        result = -err->code;
    if (result < 0)
        return result;
    if (!application && !version && !tables && store->mode == STORE_WRITE) {
        return 0; /* empty: an ingest that was killed left it behind, or somebody made room for it
                   */
    }
    if (application != STORE_APPLICATION_ID)
        return err_set(err, ERR_INPUT, "%s: not a trace database", store->path);
    if (version > STORE_VERSION)
        return err_set(err, ERR_INPUT,
                       "%s: is a trace database of version %lld, this program knows version %d",
                       store->path, (long long)version, STORE_VERSION);
    if (version != STORE_VERSION)
        return err_set(err, ERR_INPUT,
                       "%s: is a trace database of version %lld, this program knows version %d:"
                       " ingest the captures again",
                       store->path, (long long)version, STORE_VERSION);
    store->ready = true;
    return 0;
}

static int check_head(const char *path, struct err *err)
{
    uint8_t head[16];
    FILE *file = fopen(path, "re");
    size_t len;

    if (!file)
        return err_set(err, ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    len = fread(head, 1, sizeof(head), file);
    fclose(file);
    if (nfsr_is_stream(head, len))
        return err_set(
            err, ERR_INPUT,
            "%s: a record stream, not a trace database: \"nfsdigest ingest\" makes one of "
            "it",
            path);
    if (len && !store_is_database(head, len))
        return err_set(err, ERR_INPUT, "%s: not a trace database", path);
    return 0;
}

/* Where a new database is made, until its first source is whole: see publish. */
static int make_temporary(struct store *store, struct err *err)
{
    size_t size = strlen(store->path) + 32;
    int fd;

    store->temporary = malloc(size);
    if (!store->temporary)
        return err_memory(err, "a file's name");
    snprintf(store->temporary, size, "%s.%ld.part", store->path, (long)getpid());
    fd = open(store->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    free(store->temporary);
    store->temporary = NULL;
    return err_set(err, ERR_SYSTEM, "%s: cannot be made: %s", store->path, strerror(errno));
}

/* The journal first: one without its database spoils whatever gets that name later. */
static void remove_temporary(struct store *store)
{
    char journal[PATH_MAX];

    if (!store->temporary)
        return;
    if ((size_t)snprintf(journal, sizeof(journal), "%s-journal", store->temporary) <
        sizeof(journal))
        unlink(journal);
    unlink(store->temporary);
    free(store->temporary);
    store->temporary = NULL;
}

sqlite3 *store_reader(sqlite3 *db)
{
    const char *path = sqlite3_db_filename(db, "main");
    sqlite3 *reader = NULL;

    if (path && *path && sqlite3_get_autocommit(db) &&
        sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) ==
            SQLITE_OK &&
        sqlite3_busy_timeout(reader, BUSY_MS) == SQLITE_OK &&
        phases_define(reader, "phase_of", "main") == SQLITE_OK)
        return reader;
    sqlite3_close(reader);
    return NULL;
}

static int is_ending(void *ctx)
{
    struct store *store = ctx;

    return atomic_load_explicit(&store->ending, memory_order_relaxed);
}

static int connect_to(struct store *store, const char *path, struct err *err)
{
    /* readers too, so that they can roll back what a dead writer left; SQLite falls back to reading
     * where writing is not allowed */
    /* operations are read in a thread of its own (plan/effects.c) */
    const int flags = SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE;

    if (sqlite3_open_v2(path, &store->db, *path ? flags : flags | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK)
        return err_set(err, ERR_SYSTEM, "%s: cannot be opened as a database: %s", path,
                       store->db ? sqlite3_errmsg(store->db) : "out of memory");
    if (phases_define(store->db, "phase_of", "main") != SQLITE_OK)
        return err_memory(err, "a database");
    sqlite3_busy_timeout(store->db, BUSY_MS);
    sqlite3_progress_handler(store->db, ENDING_STEPS, is_ending, store);
    return 0;
}

/* Settings of the connection. */
static int set_up(struct store *store, struct err *err)
{
    return sql_run(store->db, "PRAGMA secure_delete = OFF; PRAGMA foreign_keys = OFF;", err);
}

static int open_file(struct store *store, struct err *err)
{
    struct stat st;

    if (!store->path[0])
        return connect_to(store, "", err);
    if (stat(store->path, &st) < 0 && errno == ENOENT) {
        if (store->mode == STORE_READ)
            return err_set(err, ERR_INPUT, "%s: no such file", store->path);
        return make_temporary(store, err) < 0 ? -err->code
                                              : connect_to(store, store->temporary, err);
    }
    if (check_head(store->path, err) < 0)
        return -err->code;
    if (store->mode == STORE_READ && st.st_size == 0)
        return err_set(err, ERR_INPUT, "%s: an empty file, not a trace database", store->path);
    return connect_to(store, store->path, err);
}

static int open_db(struct store *store, struct err *err)
{
    char sql[64];
    int result;

    cleanup_hold(); /* a file that was made has a connection, through which it is undone */
    result = open_file(store, err);
    cleanup_release();
    if (result < 0)
        return result;
    if (store->path[0] && !store->temporary)
        return store_check_version(store, err);
    snprintf(sql, sizeof(sql), "PRAGMA page_size = %d", PAGE_SIZE);
    return sql_run(store->db, sql, err);
}

int store_publish(struct store *store, struct err *err)
{
    int result;

    if (!store->temporary)
        return 0;
    cleanup_hold();
    statements_finalize(store);
    sqlite3_close(store->db);
    store->db = NULL;
    result = output_put_new(store->temporary, store->path);
    if (result < 0 && errno == EEXIST) {
        store->overtaken = true;
        err_set(err, ERR_SYSTEM,
                "%s: was made by another process meanwhile; say the same again to add to it",
                store->path);
    } else if (result < 0) {
        err_set(err, ERR_SYSTEM, "%s: cannot be put in place: %s", store->path, strerror(errno));
    } else {
        free(store->temporary);
        store->temporary = NULL;
    }
    if (result == 0)
        result = connect_to(store, store->path, err);
    cleanup_release();
    if (result < 0 || set_up(store, err) < 0)
        return -err->code;
    return store_log_ahead(store, err);
}

bool store_was_overtaken(const struct store *store)
{
    return store->overtaken;
}

/* A signal ends the process while a transaction may be open.  The connection's mutex is kept, so
 * that its threads do nothing more with it.  They may be reading a row meanwhile: so no statement
 * is reset, which would free the row, and none is ended by sqlite3_interrupt, which would last as
 * long as that row's statement and end the ROLLBACK, too. */
static void undo(void *ctx)
{
    struct store *store = ctx;

    if (store->db) {
        atomic_store(&store->ending, true);
        sqlite3_mutex_enter(sqlite3_db_mutex(store->db));
        atomic_store(&store->ending, false);
        if (!sqlite3_get_autocommit(store->db))
            sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
    remove_temporary(store);
}

struct store *store_open(const char *path, enum store_mode mode, struct err *err)
{
    struct store *store = calloc(1, sizeof(*store));
    struct err unseen;

    if (!err)
        err = &unseen;
    if (store)
        store->path = strdup(path);
    if (!store || !store->path) {
        err_memory(err, "a database");
        free(store);
        return NULL;
    }
    store->mode = mode;
    cleanup_enter(&store->cleanup, undo, store);
    if (open_db(store, err) < 0 || set_up(store, err) < 0 ||
        store_look_unfinished(store, err) < 0) {
        store_close(store);
        return NULL;
    }
    return store;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    cleanup_hold();
    store_abandon(store);
    statements_finalize(store);
    sqlite3_close(store->db);
    remove_temporary(store);
    cleanup_drop(&store->cleanup);
    cleanup_release();
    ids_free(&store->flows);
    ids_free(&store->credentials);
    ids_free(&store->objects);
    ids_free(&store->paths);
    hosts_free(&store->hosts);
    stream_ends_free(&store->stream_ends);
    free(store->bases);
    free(store->deltas);
    buf_free(&store->text);
    buf_free(&store->text2);
    buf_free(&store->parent_text);
    free(store->path);
    free(store);
}

sqlite3 *store_db(struct store *store)
{
    return store->db;
}

const char *store_path(const struct store *store)
{
    return store->path;
}

bool store_is_empty(const struct store *store)
{
    return !store->ready;
}

const struct store_totals *store_totals(const struct store *store)
{
    return &store->totals;
}
