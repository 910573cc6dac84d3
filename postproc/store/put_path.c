/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/put_path.c
 *
 * Paths, with their texts.  A path that an .nfsr stream knew only from some object on gets
 * its beginning from earlier sources, where these knew the object.
 */
#include "base/escape.h"
#include "store/row_text.h"
#include "store/store_parts.h"

enum { PATH_DEPTH_MAX = 256 };

/* The text of a path of the database, in store->parent_text. */
static int parent_text(struct store *store, uint32_t parent, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_PATH_TEXT];
    int found;

    if (store->parent_path == parent)
        return 0; /* most paths have the parent of the one before */
    sqlite3_bind_int64(stmt, 1, parent);
    found = statement_row(store, SQL_PATH_TEXT, err);
    store->parent_path = 0;
    store->parent_text.len = 0;
    if (found == 1 && buf_append(&store->parent_text, sqlite3_column_text(stmt, 0),
                                 (size_t)sqlite3_column_bytes(stmt, 0)) < 0)
        found = err_memory(err, "a path");
    sqlite3_reset(stmt);
    if (found == 0)
        return err_set(err, ERR_INPUT, "path %u is not there", parent);
    store->parent_path = parent;
    return found < 0 ? found : 0;
}

/* Makes the text of a path in store->text2: the name is in store->text. */
static int make_text(struct store *store, uint32_t parent, uint32_t object, struct err *err)
{
    struct bytes above, name = { store->text.data, (uint32_t)store->text.len };

    if (parent && parent_text(store, parent, err) < 0)
        return -err->code;
    above = (struct bytes){ store->parent_text.data, (uint32_t)store->parent_text.len };
    return row_path_text(parent ? &above : NULL, object, name, &store->text2) < 0
               ? err_memory(err, "a path")
               : 0;
}

/* The path (|parent|, |object|, store->text) in the database: 1, 0 or negative. */
static int find_path(struct store *store, uint32_t parent, uint32_t object, uint32_t *id,
                     struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_FIND_PATH];
    int found;

    sql_bind_unless(stmt, 1, parent, 0);
    sqlite3_bind_text(stmt, 2, store->text.len ? (const char *)store->text.data : "",
                      (int)store->text.len, SQLITE_STATIC);
    sql_bind_unless(stmt, 3, object, 0);
    found = statement_row(store, SQL_FIND_PATH, err);
    if (found == 1)
        *id = (uint32_t)sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return found;
}

static int insert_path(struct store *store, uint32_t id, uint32_t parent, uint32_t object,
                       struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_PUT_PATH];

    if (make_text(store, parent, object, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, id);
    sql_bind_unless(stmt, 2, parent, 0);
    sql_bind_unless(stmt, 3, object, 0);
    sqlite3_bind_text(stmt, 4, store->text.len ? (const char *)store->text.data : "",
                      (int)store->text.len, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 5, store->text2.len ? (const char *)store->text2.data : "",
                      (int)store->text2.len, SQLITE_STATIC);
    return statement_run(store, SQL_PUT_PATH, err);
}

/* Finds or makes the path (|parent|, |object|, store->text). */
static int path_of(struct store *store, uint32_t parent, uint32_t object, uint32_t *id,
                   struct err *err)
{
    int found = find_path(store, parent, object, id, err);

    if (found != 0)
        return found < 0 ? found : 0;
    *id = ++store->paths.greatest;
    return insert_path(store, *id, parent, object, err);
}

/* Where earlier sources saw |object|: its name into store->text, its directory into *|parent|,
 * which is 0 for a MOUNT root.  1, 0 or negative. */
static int name_of(struct store *store, uint32_t object, uint32_t *parent, struct err *err)
{
    sqlite3_stmt *stmt = store->sql[SQL_NAME_OF_OBJECT];
    int found;

    sqlite3_bind_int64(stmt, 1, object);
    sqlite3_bind_int64(stmt, 2, store->known_names);
    found = statement_row(store, SQL_NAME_OF_OBJECT, err);
    if (found == 1) {
        *parent = (uint32_t)sqlite3_column_int64(stmt, 0);
        store->text.len = 0;
        if (buf_append(&store->text, sqlite3_column_text(stmt, 1),
                       (size_t)sqlite3_column_bytes(stmt, 1)) < 0)
            found = err_memory(err, "a path");
    }
    sqlite3_reset(stmt);
    return found;
}

/* The path of |object| as earlier sources knew it: 1 with *|id|, 0 or negative. */
static int known_path(struct store *store, uint32_t object, uint32_t *id, struct err *err)
{
    uint32_t way[PATH_DEPTH_MAX], parent;
    int depth = 0, found;

    for (uint32_t at = object;; at = parent) { /* up to a MOUNT root */
        found = name_of(store, at, &parent, err);
        if (found <= 0)
            return found;
        if (!parent)
            break;
        if (depth == PATH_DEPTH_MAX)
            return 0;
        way[depth++] = at;
    }
    found = path_of(store, 0, 0, id, err);
    while (depth > 0 && found == 0) { /* and down again */
        uint32_t above = *id;

        found = name_of(store, way[--depth], &parent, err);
        if (found == 1)
            found = path_of(store, above, 0, id, err);
    }
    return found < 0 ? found : 1;
}

int put_path(struct store *store, const struct record_path *path, struct err *err)
{
    int fresh = ids_check(&store->paths, path->id, err), found = 0;
    uint32_t parent, object, id = 0;

    if (fresh < 0)
        return fresh;
    if (!fresh)
        return err_set(err, ERR_INPUT, "path %u comes twice", path->id);
    if (ids_get(&store->paths, path->parent, &parent, err) < 0 ||
        ids_get(&store->objects, path->object, &object, err) < 0)
        return err_prefix(err, "path %u", path->id);
    if (!store->paths.direct && !parent && object && !path->name.len) {
        found = known_path(store, object, &id, err);
        if (found < 0)
            return found;
    }
    if (!found) {
        store->text.len = 0;
        if (escape_name(path->name, !parent && !object, &store->text) < 0)
            return err_memory(err, "a path");
        if (!store->paths.direct) {
            found = path_of(store, parent, object, &id, err);
        } else {
            id = ids_next(&store->paths);
            found = insert_path(store, id, parent, object, err);
        }
        if (found < 0)
            return found;
    }
    return ids_add(&store->paths, id, err);
}
