/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_who.c
 *
 * "nfsdigest who": finds the objects that a path or a handle stood for, and prints the names and
 * the life of each (object_print.h, life.h).  The contract of subcommands is in cli.h.
 */
#include "base/bytes.h"
#include "base/grow.h"
#include "cli/cli.h"
#include "cli/life.h"
#include "cli/object_print.h"
#include "cli/trace.h"
#include "show/args.h"
#include "store/sql.h"
#include "wire/field.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char about[] =
    "Shows the life of a file, by all its names: who made it, wrote to it, set its\n"
    "attributes, renamed, linked and removed it, and when.  If a handle became\n"
    "stale, it shows the last operation that worked, and the one that ended it.\n"
    "\n"
    "PATH is a path as the server has it, and as ops and info show it: it begins with\n"
    "the export, not with the directory where a client mounted it.  If there is no\n"
    "such path, those that end with the same name are named.  HANDLE is a file handle\n"
    "in hexadecimal.  '#N', which also stands in paths as \"[#N]\", is an object whose\n"
    "path is not known; it needs quotes, as # begins a comment in a shell.\n"
    "\n"
    "A path can have stood for several objects; all of them are shown.  Writes of one\n"
    "caller that follow each other are one line.  Numbers in brackets are frames: of\n"
    "the call and the reply.  \"machine\" is the host's name, as the client tells it.\n"
    "\n"
    "FILE is a record stream or a capture, or - for standard input.\n";

struct found {
    int64_t *objects;
    uint32_t count, cap;
};

static int add(struct found *f, int64_t object, struct err *err)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (f->objects[i] == object)
            return 0;
    if (GROW(f->objects, f->count, f->cap) < 0)
        return err_memory(err, "objects");
    f->objects[f->count++] = object;
    return 0;
}

/* Objects that got this name. */
static int by_name(sqlite3 *db, const char *path, struct found *f, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(db,
                    "SELECT DISTINCT object FROM object_name WHERE path = ? AND object IS NOT NULL"
                    " ORDER BY object",
                    &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, path);
    while ((result = sql_row(stmt, err)) > 0 &&
           (result = add(f, sqlite3_column_int64(stmt, 0), err)) == 0)
        continue;
    return sql_end(stmt, result, err);
}

/* Objects that operations used under this path: a directory above may have got another name. */
static int by_use(sqlite3 *db, const char *path, struct found *f, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(db,
                    "SELECT DISTINCT program, version, procedure, object, new_object FROM operation"
                    " WHERE path IN (SELECT id FROM path WHERE text = ?) AND program IS NOT NULL"
                    " AND rpc_status = 0 AND status = 0 ORDER BY object, new_object",
                    &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, path);
    while ((result = sql_row(stmt, err)) > 0) {
        const struct procedure *p = procedure_find((uint32_t)sqlite3_column_int64(stmt, 0),
                                                   (uint32_t)sqlite3_column_int64(stmt, 1),
                                                   (uint32_t)sqlite3_column_int64(stmt, 2));
        enum action action = p ? (enum action)p->action : ACTION_NONE;
        /* then the path is that of the name, and |object| its directory */
        bool has_name = action == ACTION_FIND || action == ACTION_MOUNT ||
                        action_makes_name(action) || action_takes_name(action);
        int64_t object = sql_column(stmt, has_name ? 4 : 3, -1);

        if (action != ACTION_NONE && object >= 0 && (result = add(f, object, err)) < 0)
            break;
    }
    return sql_end(stmt, result, err);
}

/* The bytes of "0x0102" or "0102"; NULL: it is not that, or no memory. */
static uint8_t *bytes_of_hex(const char *text, size_t *len)
{
    uint8_t *bytes;
    size_t digits;

    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        text += 2;
    digits = strlen(text);
    if (!digits || digits % 2 || text[strspn(text, "0123456789abcdefABCDEF")])
        return NULL;
    bytes = malloc(digits / 2);
    for (size_t i = 0; bytes && i < digits / 2; i++) {
        char two[3] = { text[2 * i], text[2 * i + 1], '\0' };

        bytes[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    *len = digits / 2;
    return bytes;
}

/* Adds paths that end with the same name to the message: clients have other paths than servers. */
static int say_similar(sqlite3 *db, const char *what, struct err *err)
{
    const char *slash = strrchr(what, '/');
    struct err message = *err;
    sqlite3_stmt *stmt;
    int count = 0, result;

    if (sql_prepare(db,
                    "SELECT text FROM path WHERE substr(text, -length(?1)) = ?1 ORDER BY id"
                    " LIMIT 4",
                    &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_text(stmt, 1, sqlite3_mprintf("/%s", slash ? slash + 1 : what), -1, sqlite3_free);
    while ((result = sql_row(stmt, err)) > 0) {
        size_t len = strlen(message.text);

        snprintf(message.text + len, sizeof(message.text) - len, "%s%.120s",
                 count == 3 ? ", and more: "
                 : count    ? ", "
                            : "; the trace has ",
                 count == 3 ? "nfsdigest ops" : sql_column_text(stmt, 0));
        count++;
    }
    result = sql_end(stmt, result, err);
    if (result < 0)
        return result;
    *err = message;
    return -err->code;
}

static int by_handle(sqlite3 *db, const char *text, struct found *f, struct err *err)
{
    sqlite3_stmt *stmt;
    size_t len;
    uint8_t *handle = bytes_of_hex(text, &len);
    int result;

    if (!handle && *text && !text[strspn(text, "0123456789")])
        return 0; /* say_none knows what is meant */
    if (!handle) {
        err_set(err, ERR_USAGE,
                "\"%.200s\" is neither a path, which begins with a slash, nor a handle in"
                " hexadecimal",
                text);
        return say_similar(db, text, err);
    }
    result = sql_prepare(db, "SELECT id FROM object WHERE handle = ? ORDER BY id", &stmt, err);
    if (result == 0) {
        sqlite3_bind_blob64(stmt, 1, handle, len, SQLITE_STATIC);
        while ((result = sql_row(stmt, err)) > 0 &&
               (result = add(f, sqlite3_column_int64(stmt, 0), err)) == 0)
            continue;
        result = sql_end(stmt, result, err);
    }
    free(handle);
    return result;
}

/* Operations that failed may have named it: a file that could not be made. */
static int say_none(sqlite3 *db, const char *what, bool is_path, struct err *err)
{
    sqlite3_stmt *stmt;
    int64_t tried = 0;
    int result = sql_prepare(db,
                             "SELECT count(*) FROM operation WHERE path IN (SELECT id FROM path"
                             " WHERE text = ?)",
                             &stmt, err);

    if (result == 0) {
        sql_bind_text(stmt, 1, what);
        result = sql_row(stmt, err);
        if (result > 0)
            tried = sqlite3_column_int64(stmt, 0);
        result = sql_end(stmt, result < 0 ? result : 0, err);
    }
    if (result < 0)
        return result;
    if (tried)
        return err_set(err, ERR_USAGE,
                       "the trace shows no object with the path \"%s\", but %lld operations that"
                       " named it: nfsdigest ops --path",
                       what, (long long)tried);
    if (!is_path && !what[strspn(what, "0123456789")])
        return err_set(
            err, ERR_USAGE,
            "the trace shows no object with the handle \"%.200s\": for an object's number"
            " type '#%.200s', with the quotes",
            what, what);
    err_set(err, ERR_USAGE, "the trace shows no object with the %s \"%.200s\"",
            is_path ? "path" : "handle", what);
    return is_path ? say_similar(db, what, err) : -err->code;
}

/* "#7" or "[#7]": returns 7, else 0. */
static int64_t number_of(const char *text)
{
    bool bracket = text[0] == '[';
    char *end;
    long long number;

    if (text[bracket] != '#' || !isdigit((unsigned char)text[bracket + 1]))
        return 0;
    number = strtoll(text + bracket + 1, &end, 10);
    return strcmp(end, bracket ? "]" : "") == 0 ? number : 0;
}

/* Makes "/srv/dir", a path of the trace, of "/srv/dir/", as shells complete it. */
static bool cut_slash(char *path)
{
    size_t len = strlen(path);

    if (len < 2 || path[len - 1] != '/')
        return false;
    path[len - 1] = '\0';
    return true;
}

/* If no path has the slashes at the end, the one without them is meant. */
static int by_path(sqlite3 *db, char *path, struct found *f, struct err *err)
{
    do
        if (by_name(db, path, f, err) < 0 || by_use(db, path, f, err) < 0)
            return -err->code;
    while (!f->count && cut_slash(path));
    return 0;
}

static int find(sqlite3 *db, char *what, struct found *f, struct err *err)
{
    bool path = what[0] == '/' || what[0] == '[';
    int64_t number = number_of(what);

    if (number)
        return add(f, number, err);
    if ((path ? by_path(db, what, f, err) : by_handle(db, what, f, err)) < 0)
        return -err->code;
    return f->count ? 0 : say_none(db, what, path, err);
}

int cmd_who(int argc, char **argv, struct err *err)
{
    bool json = false;
    const struct arg own[] = {
        { 'j', "json", NULL, "print a JSON object on each line; times in ns", set_flag, &json },
        { 0 },
    };
    const struct args args = { "nfsdigest who [OPTION...] DATABASE|FILE PATH|HANDLE|'#N'",
                               about,
                               own,
                               NULL,
                               NULL,
                               2,
                               "a file, and a path, a handle or '#N' in quotes" };
    struct found found = { 0 };
    struct trace trace;
    int first, result;

    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (trace_open(&trace, argv[first], false, err) < 0)
        return -err->code;
    result = find(store_db(trace.store), argv[first + 1], &found, err);
    for (uint32_t i = 0; result == 0 && i < found.count; i++) {
        if (i && !json)
            putchar('\n');
        result = object_print(store_db(trace.store), found.objects[i], json, err);
        if (result == 0)
            result =
                life_print(store_db(trace.store), found.objects[i], json ? NULL : argv[first], err);
    }
    free(found.objects);
    return trace_close(&trace, result, err);
}
