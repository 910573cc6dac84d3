/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store_verify_pass.c
 *
 * One pass over the operations looks at everything that needs no search, and one over each of their
 * indexes.  An index is right if its rows are in order, and the sum of their digests is that of
 * the table's rows.  The contract is in store_verify_parts.h.
 */
#include "record/kept.h"
#include "store/store_parts.h"
#include "store/store_verify_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column {
    ID,
    PROGRAM,
    VERSION,
    PROCEDURE,
    CALL_FLAGS, /* and body, and its length; so REPLY_FLAGS */
    REPLY_FLAGS = 7,
    RPC_STATUS = 10,
    PAIRING,
    CALL_SOURCE, /* and frame; so REPLY_SOURCE */
    REPLY_SOURCE = 14,
    DEPENDS_ON = 16,
    BY_TIME,
    BY_PATH,
    BY_OBJECT,
    BY_COUNTERPART,
    COLUMNS = 22
};
#define SELECT_OPERATIONS                                                                          \
    "SELECT id, program, version, procedure, call_flags, arguments, arguments_length,"             \
    " reply_flags, result, result_length, rpc_status, pairing, call_source, call_frame,"           \
    " reply_source, reply_frame, depends_on, ifnull(call_time, reply_time), path, object,"         \
    " counterpart, counterpart_copy"

enum { INDEXES = 5, KEYS_MAX = 2, REFERENCES_MAX = 16, SOURCES_MAX = 4096 };

/* As schemas/trace.sql makes them: an index with another text is left to SQLite. */
static const struct known_index {
    const char *name, *sql, *select;
    int first, keys; /* columns of the pass */
    bool partial;    /* without NULL, and 0 of |pairing| */
} known[INDEXES] = {
    { "operation_by_time",
      "CREATE INDEX operation_by_time ON operation (ifnull(call_time, reply_time))",
      "SELECT id, ifnull(call_time, reply_time) FROM operation INDEXED BY operation_by_time",
      BY_TIME, 1, false },
    { "operation_by_path", "CREATE INDEX operation_by_path ON operation (path)",
      "SELECT id, path FROM operation INDEXED BY operation_by_path", BY_PATH, 1, false },
    { "operation_by_object", "CREATE INDEX operation_by_object ON operation (object)",
      "SELECT id, object FROM operation INDEXED BY operation_by_object", BY_OBJECT, 1, false },
    { "operation_by_counterpart",
      "CREATE INDEX operation_by_counterpart ON operation (counterpart, counterpart_copy)"
      " WHERE counterpart IS NOT NULL",
      "SELECT id, counterpart, counterpart_copy FROM operation"
      " INDEXED BY operation_by_counterpart WHERE counterpart IS NOT NULL",
      BY_COUNTERPART, 2, true },
    { "operation_unpaired",
      "CREATE INDEX operation_unpaired ON operation (pairing) WHERE pairing <> 0",
      "SELECT id, pairing FROM operation INDEXED BY operation_unpaired WHERE pairing <> 0", PAIRING,
      1, true },
};

/* The numbers of rows that a column refers to: all from |low| to |high| are there. */
struct reference {
    int64_t low, high;
};

struct source_seen {
    int64_t frames, calls, replies, operations; /* as they are stated; then counted down */
};

struct pass {
    struct verify_pass *out;
    uint64_t sums[INDEXES];
    struct reference operations, references[REFERENCES_MAX];
    int reference_count;
    struct source_seen *sources; /* by id */
    int64_t source_count;
};

/* White space is not compared. */
static bool is_text(const char *text, const char *wanted)
{
    for (;; text++, wanted++) {
        while (*text == ' ' || *text == '\n')
            text++;
        while (*wanted == ' ')
            wanted++;
        if (*text != *wanted)
            return false;
        if (!*text)
            return true;
    }
}

bool verify_pass_compares(const char *name, const char *sql)
{
    for (int i = 0; i < INDEXES; i++)
        if (strcmp(known[i].name, name) == 0)
            return is_text(sql, known[i].sql);
    return false;
}

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static uint64_t digest(sqlite3_stmt *stmt, int first, int keys)
{
    uint64_t h = mix((uint64_t)sqlite3_column_int64(stmt, ID) + 1);

    for (int i = first; i < first + keys; i++) {
        bool null = sqlite3_column_type(stmt, i) == SQLITE_NULL;

        h = mix(h +
                (null ? UINT64_C(0x9e3779b97f4a7c15) : (uint64_t)sqlite3_column_int64(stmt, i)));
    }
    return h;
}

static bool is_in(const struct known_index *k, sqlite3_stmt *stmt)
{
    return !k->partial ||
           (k->first == PAIRING ? sqlite3_column_int64(stmt, PAIRING) != 0
                                : sqlite3_column_type(stmt, k->first) != SQLITE_NULL);
}

/* A row is behind the one before it: NULL comes first, then numbers, then the id. */
static bool is_behind(sqlite3_stmt *stmt, int keys, int64_t last[KEYS_MAX + 1], bool null[KEYS_MAX])
{
    int order = 0;
    int64_t id = sqlite3_column_int64(stmt, ID);

    for (int i = 0; i < keys; i++) {
        bool now_null = sqlite3_column_type(stmt, 1 + i) == SQLITE_NULL;
        int64_t now = sqlite3_column_int64(stmt, 1 + i);

        if (!order && now_null != null[i])
            order = now_null ? -1 : 1;
        else if (!order && !now_null)
            order = (now > last[i]) - (now < last[i]);
        last[i] = now;
        null[i] = now_null;
    }
    if (!order)
        order = (id > last[KEYS_MAX]) - (id < last[KEYS_MAX]);
    last[KEYS_MAX] = id;
    return order > 0;
}

static int check_index(struct pass *p, const struct known_index *k, struct err *err)
{
    sqlite3 *db = p->out->db;
    int64_t last[KEYS_MAX + 1] = { INT64_MIN, INT64_MIN, INT64_MIN };
    bool null[KEYS_MAX] = { true, true }, good = true;
    uint64_t sum = 0;
    char text[128];
    sqlite3_stmt *stmt;

    if (sqlite3_prepare_v2(db, k->select, -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(db, p->out->path, err);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        good &= is_behind(stmt, k->keys, last, null);
        sum += digest(stmt, 1, k->keys);
    }
    if (!good || sum != p->sums[k - known]) {
        snprintf(text, sizeof(text),
                 "the database is damaged: index %s has not the rows of its table", k->name);
        verify_finding(&p->out->indexes, text);
    }
    return sqlite3_finalize(stmt) == SQLITE_OK ? 0 : store_fail(db, p->out->path, err);
}

/* An index that is not there is a finding of its own; one with another text is not judged here. */
static int check_indexes(struct pass *p, struct err *err)
{
    sqlite3 *db = p->out->db;
    bool there[INDEXES] = { false };
    sqlite3_stmt *stmt;
    int result = 0;

    if (sqlite3_prepare_v2(db,
                           "SELECT name, ifnull(sql, '') FROM sqlite_schema WHERE type = 'index'",
                           -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(db, p->out->path, err);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        for (int i = 0; i < INDEXES; i++)
            there[i] |= strcmp(known[i].name, sql_column_text(stmt, 0)) == 0 &&
                        is_text(sql_column_text(stmt, 1), known[i].sql);
    if (sqlite3_finalize(stmt) != SQLITE_OK)
        return store_fail(db, p->out->path, err);
    for (int i = 0; result == 0 && i < INDEXES; i++)
        if (there[i])
            result = check_index(p, &known[i], err);
    return result;
}

/* The body must be what the table of its procedure and its flags say. */
static void check_body(struct pass *p, sqlite3_stmt *stmt, const struct procedure *procedure,
                       int at)
{
    const void *data = sqlite3_column_blob(stmt, at + 1);
    struct kept_body body = {
        .data = { data, (uint32_t)sqlite3_column_bytes(stmt, at + 1) },
        .wire_len = (uint32_t)sqlite3_column_int64(stmt, at + 2),
        .flags = (uint32_t)sqlite3_column_int64(stmt, at),
    };
    bool is_call = at == CALL_FLAGS;
    const struct type *type = is_call ? procedure->arguments : procedure->result;
    char text[WALK_PATH_MAX + 160], path[WALK_PATH_MAX];
    const char *why;
    struct walk w;

    if (sqlite3_column_type(stmt, at) == SQLITE_NULL ||
        (!is_call && (sqlite3_column_type(stmt, RPC_STATUS) == SQLITE_NULL ||
                      sqlite3_column_int64(stmt, RPC_STATUS) != 0)) ||
        kept_agrees(&w, type, &body, &why))
        return;
    snprintf(text, sizeof(text), "operation %lld: its %s: %s: %s",
             (long long)sqlite3_column_int64(stmt, ID), is_call ? "arguments" : "result",
             walk_path(&w, NULL, path), why);
    verify_finding(&p->out->bodies, text);
}

static void check_bodies(struct pass *p, sqlite3_stmt *stmt)
{
    const struct procedure *procedure;

    if (sqlite3_column_type(stmt, PROGRAM) == SQLITE_NULL)
        return;
    procedure = procedure_find((uint32_t)sqlite3_column_int64(stmt, PROGRAM),
                               (uint32_t)sqlite3_column_int64(stmt, VERSION),
                               (uint32_t)sqlite3_column_int64(stmt, PROCEDURE));
    if (!procedure)
        return;
    check_body(p, stmt, procedure, CALL_FLAGS);
    check_body(p, stmt, procedure, REPLY_FLAGS);
}

/* A message of an operation.  Returns its source, or NULL. */
static struct source_seen *check_side(struct pass *p, sqlite3_stmt *stmt, int at, bool *has_frame)
{
    int64_t id = sql_column(stmt, at, 0), frame = sql_column(stmt, at + 1, INT64_MIN);
    struct source_seen *s = id > 0 && id <= p->source_count ? &p->sources[id] : NULL;

    *has_frame = frame != INT64_MIN;
    if (*has_frame && (!s || frame < 1 || frame > s->frames))
        p->out->suspect |= SUSPECT_FRAMES;
    return s;
}

static void check_sides(struct pass *p, sqlite3_stmt *stmt)
{
    bool called, replied;
    struct source_seen *call = check_side(p, stmt, CALL_SOURCE, &called);
    struct source_seen *reply = check_side(p, stmt, REPLY_SOURCE, &replied);
    int64_t pairing = sqlite3_column_int64(stmt, PAIRING);

    if ((!called && !replied) || (pairing == 0) != (called && replied) || (pairing == 2) == called)
        p->out->suspect |= SUSPECT_LABEL;
    if (call)
        call->calls--;
    if (reply)
        reply->replies--;
    if (sqlite3_column_type(stmt, CALL_SOURCE) == SQLITE_NULL)
        call = reply;
    if (call)
        call->operations--;
}

static bool is_outside(const struct reference *r, sqlite3_stmt *stmt, int at)
{
    int64_t id = sqlite3_column_int64(stmt, at); /* 0: perhaps NULL */

    return (id < r->low || id > r->high) && (id || sqlite3_column_type(stmt, at) != SQLITE_NULL);
}

static void check_row(struct pass *p, sqlite3_stmt *stmt)
{
    check_sides(p, stmt);
    if (is_outside(&p->operations, stmt, DEPENDS_ON))
        p->out->suspect |= SUSPECT_DEPENDS;
    for (int i = 0; i < p->reference_count; i++)
        if (is_outside(&p->references[i], stmt, COLUMNS + i))
            p->out->suspect |= SUSPECT_REFERENCES;
    for (int i = 0; i < INDEXES; i++)
        if (is_in(&known[i], stmt))
            p->sums[i] += digest(stmt, known[i].first, known[i].keys);
    check_bodies(p, stmt);
}

/* Of a table whose ids have gaps, nothing is known without a search. */
static int read_reference(struct pass *p, const char *table, struct reference *r, struct err *err)
{
    char *sql = sqlite3_mprintf("SELECT ifnull(min(id), 1), ifnull(max(id), 0), count(*)"
                                " FROM \"%w\"",
                                table);
    sqlite3_stmt *stmt;

    if (!sql)
        return err_memory(err, "references");
    *r = (struct reference){ 1, 0 };
    if (sqlite3_prepare_v2(p->out->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        sqlite3_free(sql);
        return store_fail(p->out->db, p->out->path, err);
    }
    sqlite3_free(sql);
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        int64_t low = sqlite3_column_int64(stmt, 0), high = sqlite3_column_int64(stmt, 1);

        if ((uint64_t)high - (uint64_t)low + 1 == (uint64_t)sqlite3_column_int64(stmt, 2))
            *r = (struct reference){ low, high };
    }
    return sqlite3_finalize(stmt) == SQLITE_OK ? 0 : store_fail(p->out->db, p->out->path, err);
}

/* Appends the columns that refer to rows of other tables to |sql|. */
static int read_references(struct pass *p, char **sql, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (sqlite3_prepare_v2(p->out->db,
                           "SELECT \"from\", \"table\" FROM pragma_foreign_key_list('operation')",
                           -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(p->out->db, p->out->path, err);
    while (result == 0 && *sql && sqlite3_step(stmt) == SQLITE_ROW) {
        if (p->reference_count == REFERENCES_MAX) {
            p->out->suspect |= SUSPECT_REFERENCES;
            break;
        }
        result =
            read_reference(p, sql_column_text(stmt, 1), &p->references[p->reference_count++], err);
        *sql = sqlite3_mprintf("%z, \"%w\"", *sql, sql_column_text(stmt, 0));
    }
    sqlite3_finalize(stmt);
    return result < 0 ? result : *sql ? 0 : err_memory(err, "references");
}

/* Sources whose ids have gaps are left to the queries. */
static int read_sources(struct pass *p, struct err *err)
{
    sqlite3 *db = p->out->db;
    sqlite3_stmt *stmt;

    p->sources = calloc(SOURCES_MAX + 1, sizeof(*p->sources));
    if (!p->sources)
        return err_memory(err, "sources");
    if (sqlite3_prepare_v2(db,
                           "SELECT id, frames, calls, replies, operations FROM source ORDER BY id",
                           -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(db, p->out->path, err);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        if (p->source_count == SOURCES_MAX ||
            sqlite3_column_int64(stmt, 0) != p->source_count + 1) {
            p->out->suspect |= SUSPECT_FRAMES | SUSPECT_COUNTS;
            break;
        }
        p->sources[++p->source_count] = (struct source_seen){
            .frames = sqlite3_column_int64(stmt, 1),
            .calls = sqlite3_column_int64(stmt, 2),
            .replies = sqlite3_column_int64(stmt, 3),
            .operations = sqlite3_column_int64(stmt, 4),
        };
    }
    sqlite3_finalize(stmt);
    return 0;
}

static int run(struct pass *p, char **sql, struct err *err)
{
    sqlite3 *db = p->out->db;
    sqlite3_stmt *stmt;

    if (read_references(p, sql, err) < 0 || read_sources(p, err) < 0 ||
        read_reference(p, "operation", &p->operations, err) < 0)
        return -err->code;
    *sql = sqlite3_mprintf("%z FROM operation NOT INDEXED", *sql);
    if (!*sql)
        return err_memory(err, "operations");
    if (sqlite3_prepare_v2(db, *sql, -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(db, p->out->path, err);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        check_row(p, stmt);
    if (sqlite3_finalize(stmt) != SQLITE_OK)
        return store_fail(db, p->out->path, err);
    for (int64_t i = 1; i <= p->source_count; i++)
        if (p->sources[i].calls || p->sources[i].replies || p->sources[i].operations)
            p->out->suspect |= SUSPECT_COUNTS;
    return check_indexes(p, err);
}

/* Table and indexes must be of the same moment. */
int verify_pass(struct verify_pass *out, struct err *err)
{
    struct pass p = { .out = out };
    char *sql = sqlite3_mprintf("%s", SELECT_OPERATIONS);
    int result = sql ? 0 : err_memory(err, "operations");
    bool own = sqlite3_get_autocommit(out->db);

    wire_init();
    if (result == 0 && own && sqlite3_exec(out->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        result = store_fail(out->db, out->path, err);
    if (result == 0)
        result = run(&p, &sql, err);
    if (own)
        sqlite3_exec(out->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_free(sql);
    free(p.sources);
    return result;
}
