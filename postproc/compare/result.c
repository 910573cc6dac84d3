/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/result.c
 *
 * The database of a result: schemas/compare.sql and its codes.
 */
#include "base/cleanup.h"
#include "base/embed.h"
#include "compare/compare_parts.h"
#include "judge/explanations.h"
#include "store/tables.h"

#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* KiB.  A result is written and read from front to back, so a small cache is enough.  SQLite sorts
 * in pieces of the size of main's cache.  Pieces that fit into the processor's cache are sorted
 * twice as fast as pieces of 64 MiB. */
enum { CACHE_MAIN = 4096, CACHE_TEMP = 32768 };

EMBED(compare_sql, EMBED_ROOT "/schemas/compare.sql");

struct result_file {
    sqlite3 *db;
    char *path, *temporary; /* NULL: a private database */
    struct cleanup cleanup; /* of |temporary| */
};

static const struct {
    const char *domain;
    int value;
    const char *name, *text;
} codes[] = {
    { "align", ALIGN_PAIR, "pair", "on both sides" },
    { "align", ALIGN_ONE_SIDED, "one-sided", "on one side only" },
    { "align", ALIGN_PART, "part", "continues a listing" },
    { "reason", REASON_NONE, "", "" },
    { "reason", REASON_NOT_ASKED, "not asked", "the other side has no such request at this point" },
    { "reason", REASON_NO_OBJECT, "no object", "its object was not matched" },
    { "reason", REASON_NO_CLIENT, "no client", "its client was not matched" },
    { "reason", REASON_NO_CALL, "no call", "its call was not captured" },
    { "reason", REASON_NO_TABLE, "not readable", "its arguments could not be read" },
    { "reason", REASON_NO_NUMBER, "no counterpart", "it is not the repetition of an operation" },
    { "reason", REASON_UNKNOWN_NUMBER, "unknown counterpart",
      "the other side has no operation with the number of its counterpart" },
    { "reason", REASON_REPEATED, "repeated",
      "it was sent again, and the last answered one counts" },
    { "reason", REASON_OTHER_COPY, "other copy", "it belongs to another copy of the trace" },
    { "reason", REASON_DOUBTFUL, "doubtful",
      "a like request was not captured, and this may be the other one" },
    { "match", MATCH_ROOT, "root", "both were mounted" },
    { "match", MATCH_PAIR, "operation", "aligned operations found or made them" },
    { "match", MATCH_NAME, "name", "the same name in the same directory" },
    { "match", MATCH_FIRST, "first request", "the first request on both was the same" },
    { "match", MATCH_MADE_UP, "made up",
      "the same handle, which one of the servers has never known" },
    { "overlap", OVERLAP_OBJECT, "object", "a change of its object was under way" },
    { "overlap", OVERLAP_PARENT2, "directory", "a change of its second directory was under way" },
    { "overlap", OVERLAP_NEW, "new object", "a change of the object that it found was under way" },
    { "overlap", OVERLAP_DATA, "data", "a change of its byte range was under way" },
    { "overlap", OVERLAP_NAME, "name", "a change of its name was under way" },
    { "overlap", OVERLAP_RIGHTS, "rights",
      "a change of mode or owner, or a removal, was under way" },
    { "overlap", CONFLICT_ATTRIBUTES, "attributes changed", "two changes at once" },
    { "overlap", CONFLICT_DATA, "data changed", "two changes of a byte range at once" },
    { "overlap", CONFLICT_NAME, "name changed", "two changes of a name at once" },
    { "kind", KIND_RPC, "rpc", "the RPC statuses differ" },
    { "kind", KIND_REPLY, "missing reply", "one side did not answer" },
    { "kind", KIND_STATUS, "status", "the procedure's status differs" },
    { "kind", KIND_VALUE, "value", "the values of a field differ" },
    { "kind", KIND_PRESENCE, "presence", "only one side has an optional part" },
    { "kind", KIND_TIME, "time", "a time differs by more than clocks explain" },
    { "kind", KIND_ORDER, "order",
      "a value is below or above that of the reference, against the rule" },
    { "kind", KIND_ENTRY, "entry", "only one side has an element of a list" },
    { "kind", KIND_PATTERN, "pattern", "a server's own value changed on one side only" },
    { "kind", KIND_COUNT, "count", "lists have different lengths" },
    { "kind", KIND_RETRANSMISSION, "retransmissions",
      "a request was sent again more often on one side" },
    { "kind", KIND_DISCONNECT, "disconnects", "a client connected more often to one side" },
    { "kind", KIND_MALFORMED, "malformed", "one side's reply violates its specification" },
    { "kind", KIND_OTHER_REPLIES, "other replies",
      "one side answered a request again with other bytes" },
    { "severity", SEVERITY_OUTCOME, "outcome", "outcome and contents" },
    { "severity", SEVERITY_REPLIES, "replies", "missing replies" },
    { "severity", SEVERITY_ATTRIBUTES, "attributes", "attributes of files" },
    { "severity", SEVERITY_LIMITS, "limits", "limits and preferences of the server" },
    { "severity", SEVERITY_PERFORMANCE, "performance", "requests sent again, connections" },
    { "withheld", WITHHELD_OVERLAP, "overlap", "another request that changes it was under way" },
    { "withheld", WITHHELD_CONFLICT, "conflict",
      "two requests changed it at once before this one" },
    { "withheld", WITHHELD_ONE_SIDED, "one-sided change",
      "only one server was asked to change it" },
    { "withheld", WITHHELD_ORDER, "other changes",
      "the changes before it were not the same on both sides" },
    { "withheld", WITHHELD_OUTCOME, "different outcome", "a change succeeded on one side only" },
    { "withheld", WITHHELD_LISTING, "incomplete listing",
      "one side did not read the whole listing" },
    { "withheld", WITHHELD_CHANGING, "changing listing", "the entry changed while it was listed" },
    { "withheld", WITHHELD_STATUS, "different status",
      "the statuses differ, so the replies have different fields" },
    { "withheld", WITHHELD_LENGTH, "different length",
      "only contents of equal length can be compared" },
    { "withheld", WITHHELD_VERIFIER, "verifier", "times hold the verifier of an exclusive create" },
    { "withheld", WITHHELD_READ, "other reads",
      "the reads before it were not the same on both sides" },
    { "withheld", WITHHELD_CUT, "not captured", "only a part of a reply was captured" },
    { "withheld", WITHHELD_NO_REPLY, "no reply", "neither side has a reply" },
    { "withheld", WITHHELD_CAPTURE_END, "capture ended",
      "the capture ends soon after a call that has no reply yet" },
    { "withheld", WITHHELD_NOT_REPEATED, "not asked again",
      "a call over UDP has no reply, and its client did not send it again" },
    { "withheld", WITHHELD_LOST, "reply lost", "the capture of one side lost the reply" },
    { "withheld", WITHHELD_UNHEARD, "unheard",
      "no reply to any call of the connection was captured" },
    { "withheld", WITHHELD_SMALL_HOLE, "small hole",
      "the lost bytes are too few for all the replies that are missing" },
    { "withheld", WITHHELD_NOT_SAME, "not synchronized",
      "the object had not been made the same on both sides" },
    { "unsynchronized", UNSYNC_ATTRIBUTES, "attributes", "" },
    { "unsynchronized", UNSYNC_DATA, "data", "" },
    { "unsynchronized", UNSYNC_NAME, "name", "" },
};

const char *result_code_name(const char *domain, int value)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i].value == value && strcmp(codes[i].domain, domain) == 0)
            return codes[i].name;
    return "?";
}

int result_fill_codes(sqlite3 *db, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(db, "INSERT INTO code VALUES (?,?,?,?)", &stmt, err);

    for (size_t i = 0; result == 0 && i < sizeof(codes) / sizeof(codes[0]); i++) {
        sql_bind_text(stmt, 1, codes[i].domain);
        sqlite3_bind_int(stmt, 2, codes[i].value);
        sql_bind_text(stmt, 3, codes[i].name);
        sql_bind_text(stmt, 4, codes[i].text);
        result = sql_step(stmt, err);
    }
    sqlite3_finalize(stmt);
    return result;
}

static int run_section(sqlite3 *db, const char *name, struct err *err)
{
    return tables_section(db, compare_sql, "compare.sql", name, err);
}

/* A file beside |out| that nobody else has. */
static int make_temporary(struct result_file *f, const char *out, struct err *err)
{
    size_t size;
    struct stat st;
    int fd;

    if (stat(out, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, ERR_USAGE, "%s: a database cannot be written there", out);
    f->path = realpath(out, NULL);
    if (!f->path)
        f->path = strdup(out);
    size = f->path ? strlen(f->path) + 48 : 0;
    f->temporary = malloc(size + 1);
    if (!f->path || !f->temporary)
        return err_memory(err, "a result");
    snprintf(f->temporary, size, "%s.%ld.part", f->path, (long)getpid());
    cleanup_hold();
    fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
        cleanup_enter(&f->cleanup, cleanup_unlink, f->temporary);
    cleanup_release();
    if (fd < 0) {
        int code = errno;

        free(f->temporary);
        f->temporary = NULL;
        return err_set(err, ERR_SYSTEM, "%s: cannot be written: %s", out, strerror(code));
    }
    close(fd);
    return 0;
}

int result_create(struct result_file **file, const char *out, sqlite3 **db, struct err *err)
{
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE |
                      SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
    struct result_file *f = calloc(1, sizeof(*f));
    char sql[384];

    *file = f;
    *db = NULL;
    if (!f)
        return err_memory(err, "a result");
    if (out && make_temporary(f, out, err) < 0)
        return -err->code;
    if (sqlite3_open_v2(out ? f->temporary : "", &f->db, flags, NULL) != SQLITE_OK)
        return store_fail(f->db, out ? out : "a temporary database", err);
    *db = f->db;
    snprintf(sql, sizeof(sql),
             "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
             "PRAGMA temp.page_size = 16384; PRAGMA temp.journal_mode = OFF;"
             "PRAGMA cache_size = -%d; PRAGMA temp.cache_size = -%d; PRAGMA temp_store = FILE;"
             "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             CACHE_MAIN, CACHE_TEMP, COMPARE_APPLICATION_ID, COMPARE_VERSION);
    if (sql_run(f->db, sql, err) < 0 || run_section(f->db, "tables", err) < 0)
        return -err->code;
    return result_fill_codes(f->db, err);
}

int result_index(sqlite3 *db, struct err *err)
{
    return run_section(db, "indexes", err);
}

static int sync_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) < 0) {
        int code = errno;

        if (fd >= 0)
            close(fd);
        return err_set(err, ERR_SYSTEM, "%s: cannot be written: %s", path, strerror(code));
    }
    close(fd);
    return 0;
}

int result_commit(struct result_file *f, struct err *err)
{
    int renamed, code;

    if (!f->temporary)
        return 0;
    if (sqlite3_close(f->db) != SQLITE_OK)
        return err_set(err, ERR_SYSTEM, "%s: cannot be closed", f->path);
    f->db = NULL;
    if (sync_file(f->temporary, err) < 0)
        return -err->code;
    cleanup_hold();
    renamed = rename(f->temporary, f->path);
    code = errno;
    if (renamed == 0)
        cleanup_drop(&f->cleanup);
    cleanup_release();
    if (renamed < 0)
        return err_set(err, ERR_SYSTEM, "%s: cannot be replaced: %s", f->path, strerror(code));
    free(f->temporary);
    f->temporary = NULL;
    return 0;
}

void result_abandon(struct result_file *f)
{
    if (!f)
        return;
    sqlite3_close(f->db);
    cleanup_hold();
    if (f->temporary)
        unlink(f->temporary);
    cleanup_drop(&f->cleanup);
    cleanup_release();
    free(f->temporary);
    free(f->path);
    free(f);
}

int result_temporary(char *path, size_t size, struct err *err)
{
    const char *folder = getenv("TMPDIR");
    int fd;

    snprintf(path, size, "%s/nfsdigest-XXXXXX", folder && *folder ? folder : "/tmp");
    fd = mkstemp(path);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    close(fd);
    return 0;
}

void result_remove(const char *path)
{
    unlink(path);
}

sqlite3 *result_take(struct result_file *f)
{
    sqlite3 *db = f->db;

    f->db = NULL;
    return db;
}

const char *result_path(const struct result_file *f)
{
    return f->path;
}

bool compare_is_result(const char *path)
{
    uint8_t head[100];
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(head, 1, sizeof(head), file) : 0;

    if (file)
        fclose(file);
    return len == sizeof(head) && store_is_database(head, len) &&
           load_be32(head + 68) == COMPARE_APPLICATION_ID; /* sqlite.org/fileformat2.html s1.3 */
}

/* Each table and view of the schema, and its columns. */
static const char list_tables[] =
    "SELECT m.name, (SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info(m.name)"
    " ORDER BY cid)) FROM sqlite_schema m WHERE m.type IN ('table', 'view')";
static const char list_columns[] =
    "SELECT group_concat(name) = ?2 FROM (SELECT name FROM pragma_table_info(?1) ORDER BY cid)";

/* The tables are those of the schema. */
static int check_tables(sqlite3 *db, const char *path, struct err *err)
{
    sqlite3 *schema = NULL;
    sqlite3_stmt *want = NULL, *have = NULL;
    int result = 0, row = 0;

    if (sqlite3_open_v2(":memory:", &schema, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        result = err_memory(err, "a result");
    if (result == 0)
        result = run_section(schema, "tables", err);
    if (result == 0)
        result = sql_prepare(schema, list_tables, &want, err);
    if (result == 0)
        result = sql_prepare(db, list_columns, &have, err);
    while (result == 0 && (row = sql_row(want, err)) > 0) {
        const char *table = (const char *)sqlite3_column_text(want, 0);

        sql_bind_text(have, 1, table);
        sql_bind_text(have, 2, (const char *)sqlite3_column_text(want, 1));
        /* a broken view is an error of the statement */
        if (sqlite3_step(have) != SQLITE_ROW || !sqlite3_column_int(have, 0))
            result = err_set(err, ERR_INPUT, "%s: damaged: %.40s is missing, or has other columns",
                             path, table);
        sqlite3_reset(have);
    }
    sqlite3_finalize(want);
    sqlite3_finalize(have);
    sqlite3_close(schema);
    return row < 0 ? row : result;
}

int compare_open(const char *path, sqlite3 **result, struct err *err)
{
    int64_t version;

    *result = NULL;
    if (access(path, R_OK) < 0)
        return err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
    if (!compare_is_result(path))
        return err_set(err, ERR_INPUT, "%s: not the result of a comparison", path);
    if (sqlite3_open_v2(path, result, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return store_fail(*result, path, err);
    if (sql_number(*result, "PRAGMA user_version", 0, &version, err) < 0)
        return -err->code;
    if (version != COMPARE_VERSION)
        return err_set(err, ERR_INPUT,
                       "%s: a result of version %lld, this program knows version %d", path,
                       (long long)version, COMPARE_VERSION);
    return check_tables(*result, path, err);
}
