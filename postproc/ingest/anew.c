/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/anew.h"
#include "base/escape.h"
#include "ingest/same_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the file of a source is still there, as far as its first bytes tell. */
static int is_there(const char *path, sqlite3_stmt *source, struct err *err)
{
    struct stat st;
    struct input *input;
    bool there;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    input = input_open(path, false, err);
    if (!input)
        return 0;
    there = same_source_begins(source, input);
    input_close(input);
    return there;
}

static int count_gone(sqlite3_stmt *source, const char *database, struct err *err)
{
    long long sources = 0, gone = 0;
    struct buf name = { 0 };
    char first[512] = "";
    int result = 0;

    while (result >= 0 && sqlite3_step(source) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(source, 1);

        name.len = 0;
        if (!text || unescape_name(text, strlen(text), &name) < 0 || buf_append(&name, "", 1) < 0)
            result = err_memory(err, "a name");
        else
            result = is_there((const char *)name.data, source, err);
        sources++;
        if (result == 0 && !gone++)
            snprintf(first, sizeof(first), "%.500s", text);
    }
    buf_free(&name);
    if (result < 0 || !gone)
        return result < 0 ? result : 0;
    return err_set(err, ERR_INPUT,
                   "%s: %lld of its %lld files are not there any more, or begin with other bytes, "
                   "such as %s: it is left as it is, since only it has what was in them; ingest "
                   "into a new database",
                   database, gone, sources, first);
}

static int check_sources(struct store *store, const char *database, struct err *err)
{
    sqlite3_stmt *source;
    int result = same_source_all(store, &source, err);

    if (result == 0)
        result = count_gone(source, database, err);
    sqlite3_finalize(source);
    return result;
}

int anew_remove(const char *database, struct err *err)
{
    struct store *store;
    struct stat st;
    int result;

    if (stat(database, &st) < 0 && errno == ENOENT)
        return 0;
    store = store_open(database, STORE_READ, err);
    if (!store)
        return -err->code;
    result = store_is_unfinished(store) ? check_sources(store, database, err) : 1;
    store_close(store);
    if (result != 0)
        return result < 0 ? result : 0;
    if (store_close_log(database, err) < 0)
        return -err->code;
    if (unlink(database) < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", database, strerror(errno));
    return 1;
}
