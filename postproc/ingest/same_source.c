/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/same_source.h"

#include <string.h>

_Static_assert((int)STORE_HEAD_MAX == (int)INPUT_HEAD_MAX, "the same bytes are compared");

/* Whether the source in the row of |stmt| begins as the input does. */
static bool similar(sqlite3_stmt *stmt, const struct input *input)
{
    uint64_t size = (uint64_t)sqlite3_column_int64(stmt, 2);
    size_t len = size < STORE_HEAD_MAX ? (size_t)size : STORE_HEAD_MAX;
    uint8_t digest[STORE_DIGEST_LEN];
    const uint8_t *head;

    if (input_head(input, &head) < len || sqlite3_column_bytes(stmt, 4) != STORE_DIGEST_LEN)
        return false;
    input_head_digest(input, len, digest);
    return memcmp(digest, sqlite3_column_blob(stmt, 4), sizeof(digest)) == 0;
}

static int judge(sqlite3_stmt *stmt, const struct input *input, uint64_t size,
                 const uint8_t digest[STORE_DIGEST_LEN], struct err *err)
{
    const char *name = (const char *)sqlite3_column_text(stmt, 1);
    uint64_t known = (uint64_t)sqlite3_column_int64(stmt, 2);
    long long id = sqlite3_column_int64(stmt, 0);

    if (known == size && sqlite3_column_bytes(stmt, 3) == STORE_DIGEST_LEN &&
        memcmp(digest, sqlite3_column_blob(stmt, 3), STORE_DIGEST_LEN) == 0) {
        err_set(err, ERR_NONE, "%s: is in the database already, as source %lld (%s)",
                input_name(input), id, name);
        return SAME_SOURCE_STORED;
    }
    return err_set(
        err, ERR_INPUT,
        "%s: begins with the same %llu bytes as source %lld (%s), but %s: operations would "
        "be counted twice; ingest it into a new database",
        input_name(input), (unsigned long long)(known < STORE_HEAD_MAX ? known : STORE_HEAD_MAX),
        id, name,
        size > known   ? "is longer"
        : size < known ? "is shorter"
                       : "differs after that");
}

/* A capture without packets is a header that many others begin with: only another one is its copy.
 */
static bool may_be_copy(sqlite3_stmt *stmt, const struct input *input)
{
    const uint8_t *head;

    return sqlite3_column_int(stmt, 5) ||
           input_head(input, &head) <= (uint64_t)sqlite3_column_int64(stmt, 2);
}

/* Steps |stmt| to the next source that begins as the input does: 1, 0 or negative. */
static int next_similar(struct store *store, sqlite3_stmt *stmt, const struct input *input,
                        struct err *err)
{
    int result;

    while ((result = sqlite3_step(stmt)) == SQLITE_ROW)
        if (similar(stmt, input) && may_be_copy(stmt, input))
            return 1;
    return result == SQLITE_DONE ? 0 : store_fail(store_db(store), store_path(store), err);
}

static int prepare(struct store *store, sqlite3_stmt **stmt, struct err *err)
{
    /* the source that is being read, if any, is open */
    if (sqlite3_prepare_v2(
            store_db(store),
            "SELECT id, name, size, digest, head_digest, frames OR operations FROM source"
            " WHERE state <> 'open' ORDER BY id",
            -1, stmt, NULL) != SQLITE_OK)
        return store_fail(store_db(store), store_path(store), err);
    return 0;
}

int same_source_all(struct store *store, sqlite3_stmt **rows, struct err *err)
{
    if (sqlite3_prepare_v2(store_db(store),
                           "SELECT id, name, size, digest, head_digest, frames OR operations FROM "
                           "source ORDER BY id",
                           -1, rows, NULL) != SQLITE_OK)
        return store_fail(store_db(store), store_path(store), err);
    return 0;
}

bool same_source_begins(sqlite3_stmt *row, const struct input *input)
{
    return sqlite3_column_bytes(row, 4) == 0 || similar(row, input);
}

int same_source_read(struct store *store, const struct input *input, uint64_t size,
                     const uint8_t digest[STORE_DIGEST_LEN], struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (prepare(store, &stmt, err) < 0)
        return -err->code;
    result = next_similar(store, stmt, input, err);
    if (result == 1)
        result = judge(stmt, input, size, digest, err);
    sqlite3_finalize(stmt);
    return result;
}

int same_source_file(struct store *store, struct input *input, struct err *err)
{
    uint8_t digest[STORE_DIGEST_LEN];
    struct input *again;
    sqlite3_stmt *stmt;
    int result;

    if (store_is_empty(store) || !input_is_file(input))
        return SAME_SOURCE_NOT;
    if (prepare(store, &stmt, err) < 0)
        return -err->code;
    result = next_similar(store, stmt, input, err);
    if (result == 1) {
        again = input_open(input_name(input), true, err);
        result = again ? input_drain(again, err) : -err->code;
        if (result == 0 || result == -ERR_INPUT) { /* also of a cut one, as far as it goes */
            input_digest(again, digest);
            result = judge(stmt, input, input_offset(again), digest, err);
        }
        input_close(again);
    }
    sqlite3_finalize(stmt);
    return result;
}
