/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_SIZE = 8192,
    BUSY_MS = 5000,
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

/* What a file that is there says of itself. */
static int check_version(struct store *store, struct err *err)
{
    int64_t application, version, tables;

    if (sql_number(store->db, "PRAGMA application_id", 0, &application, err) < 0 ||
        sql_number(store->db, "PRAGMA user_version", 0, &version, err) < 0 ||
        sql_number(store->db, "SELECT count(*) FROM sqlite_schema", 0, &tables, err) < 0)
        return -err->code;
    if (!application && !version && !tables && store->mode == STORE_WRITE) {
        store->made = true; /* an ingest that was killed left it behind */
        return 0;
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
    if (len && !store_is_database(head, len))
        return err_set(err, ERR_INPUT, "%s: not a trace database", path);
    return 0;
}

static int open_db(struct store *store, struct err *err)
{
    /* readers too, so that they can roll back what a dead writer left; SQLite falls back to reading
     * where writing is not allowed */
    /* operations are read in a thread of its own (digest/effects.c) */
    int flags = SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE;
    struct stat st;
    bool is_private = store->path[0] == '\0';

    if (!is_private) {
        store->made = stat(store->path, &st) < 0 && errno == ENOENT;
        if (store->made && store->mode == STORE_READ)
            return err_set(err, ERR_INPUT, "%s: there is no such file", store->path);
        if (!store->made && check_head(store->path, err) < 0)
            return -err->code;
        if (!store->made && store->mode == STORE_READ && st.st_size == 0)
            return err_set(err, ERR_INPUT, "%s: an empty file, not a trace database", store->path);
    }
    if (store->mode == STORE_WRITE)
        flags |= SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK)
        return err_set(err, ERR_SYSTEM, "%s: cannot be opened as a database: %s", store->path,
                       store->db ? sqlite3_errmsg(store->db) : "out of memory");
    sqlite3_busy_timeout(store->db, BUSY_MS);
    if (store->made || is_private) {
        char sql[64];

        snprintf(sql, sizeof(sql), "PRAGMA page_size = %d", PAGE_SIZE);
        return sql_exec(store->db, sql, err);
    }
    return check_version(store, err);
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
        err_set(err, ERR_SYSTEM, "out of memory");
        free(store);
        return NULL;
    }
    store->mode = mode;
    if (open_db(store, err) < 0 ||
        sql_exec(store->db, "PRAGMA secure_delete = OFF; PRAGMA foreign_keys = OFF;", err) < 0) {
        store_close(store);
        return NULL;
    }
    return store;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    store_abandon(store);
    sql_finalize(store);
    sqlite3_close(store->db);
    if (store->made && !store->kept && store->mode == STORE_WRITE && store->path[0])
        unlink(store->path);
    ids_free(&store->flows);
    ids_free(&store->credentials);
    ids_free(&store->objects);
    ids_free(&store->paths);
    hosts_free(&store->hosts);
    border_free(&store->border);
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

const struct store_totals *store_totals(const struct store *store)
{
    return &store->totals;
}
