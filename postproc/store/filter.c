/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/filter.c
 *
 * Builds the SQL text condition by condition, keeps the values apart, and binds them when the
 * statement is prepared: no text of the user becomes SQL.  A program, a procedure or a status that
 * has no such name is an error.  For cmd_ops.c.  The contract is in filter.h.
 */
#include "base/values.h"
#include "store/filter.h"
#include "store/ids.h"
#include "store/sql.h"
#include "store/store.h"

#include <stdlib.h>

enum { VALUES_MAX = 32 };

struct value {
    const char *text; /* or NULL: */
    int64_t number;
};

struct build {
    struct buf sql;
    struct value values[VALUES_MAX];
    int count;
    bool no_memory;
};

static void add(struct build *b, const char *sql)
{
    b->no_memory |= buf_append(&b->sql, sql, strlen(sql)) < 0;
}

/* " AND (|sql|)"; its parameters follow with add_text and add_number. */
static void condition(struct build *b, const char *sql)
{
    add(b, " AND (");
    add(b, sql);
    add(b, ")");
}

static void add_text(struct build *b, const char *text)
{
    b->values[b->count++].text = text;
}

static void add_number(struct build *b, int64_t number)
{
    b->values[b->count].text = NULL;
    b->values[b->count++].number = number;
}

void filter_init(struct filter *f)
{
    memset(f, 0, sizeof(*f));
    f->from = f->to = f->min_latency = f->max_latency = INT64_MIN;
    f->object = f->xid = f->frame = f->source = f->limit = UINT64_MAX;
}

/* Whether |sql| with |text| as its parameter gives a row. */
static int exists(sqlite3 *db, const char *sql, const char *text, const char *what, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
    result = sql_row(stmt, err);
    sqlite3_finalize(stmt);
    if (result == 0)
        return err_set(err, ERR_USAGE, "no %s is called \"%s\"", what, text);
    return result > 0 ? 0 : result;
}

/* What has numbers and names. */
struct kind {
    const char *what;
    const char *by_number, *by_name; /* conditions */
    const char *known;               /* whether there is such a name */
};

static const struct kind program = {
    .what = "program",
    .by_number = "o.program = ?",
    .by_name = "o.program IN (SELECT number FROM program WHERE name = ? COLLATE NOCASE)",
    .known = "SELECT 1 FROM program WHERE name = ? COLLATE NOCASE",
};

static const struct kind procedure = {
    .what = "procedure",
    .by_number = "o.procedure = ?",
    .by_name = "EXISTS (SELECT 1 FROM procedure p WHERE p.program = o.program AND"
               " p.version = o.version AND p.number = o.procedure AND p.name = ? COLLATE NOCASE)",
    .known = "SELECT 1 FROM procedure WHERE name = ? COLLATE NOCASE",
};

static const struct kind status = {
    .what = "status",
    .by_number = "o.status = ?",
    .by_name = "EXISTS (SELECT 1 FROM status_name s WHERE s.program = o.program AND"
               " s.version = o.version AND s.procedure = o.procedure AND s.status = o.status AND"
               " (s.name = ? COLLATE NOCASE OR s.name = 'NFS3ERR_' || ? COLLATE NOCASE))"
               " OR (o.rpc_status <> 0 AND o.rpc_status IN (SELECT value FROM code"
               " WHERE domain = 'rpc_status' AND name = ? COLLATE NOCASE))",
    .known = "SELECT 1 FROM status_name WHERE name = ?1 COLLATE NOCASE OR name = 'NFS3ERR_' || ?1"
             " COLLATE NOCASE UNION SELECT 1 FROM code WHERE domain = 'rpc_status' AND name = ?1"
             " COLLATE NOCASE",
};

static int named(sqlite3 *db, struct build *b, const char *text, const struct kind *kind,
                 struct err *err)
{
    uint64_t number;

    if (!text)
        return 0;
    if (parse_number(text, &number)) {
        condition(b, kind->by_number);
        add_number(b, (int64_t)number);
        return 0;
    }
    condition(b, kind->by_name);
    add_text(b, text);
    return exists(db, kind->known, text, kind->what, err);
}

static int address_condition(struct build *b, const char *column, const char *text,
                             char canonical[ADDRESS_TEXT_MAX], struct err *err)
{
    struct address address;

    if (!text)
        return 0;
    if (read_address(text, &address, err) < 0)
        return err_set(err, ERR_USAGE, "\"%s\" is not an IPv4 or IPv6 address", text);
    condition(b, column);
    add_text(b, address_text(&address, canonical));
    return 0;
}

static int status_condition(sqlite3 *db, struct build *b, const char *text, struct err *err)
{
    if (!text)
        return 0;
    if (strcmp(text, "ok") == 0) {
        condition(b, "o.rpc_status = 0 AND ifnull(o.status, 0) = 0");
        return 0;
    }
    if (strcmp(text, "error") == 0) {
        condition(b, "o.rpc_status <> 0 OR o.status <> 0");
        return 0;
    }
    if (named(db, b, text, &status, err) < 0)
        return -err->code;
    if (b->values[b->count - 1].text) { /* three times in there */
        add_text(b, text);
        add_text(b, text);
    }
    return 0;
}

static void range_conditions(struct build *b, const struct filter *f)
{
    const struct {
        const char *sql;
        int64_t value;
    } ranges[] = {
        { "ifnull(o.call_time, o.reply_time) >= ?", f->from },
        { "ifnull(o.call_time, o.reply_time) < ?", f->to },
        { "o.latency >= ?", f->min_latency },
        { "o.latency <= ?", f->max_latency },
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
        if (ranges[i].value != INT64_MIN) {
            condition(b, ranges[i].sql);
            add_number(b, ranges[i].value);
        }
}

static void other_conditions(struct build *b, const struct filter *f)
{
    if (f->path) {
        condition(b, "o.path IN (SELECT id FROM path WHERE substr(text, 1, length(?)) = ?) OR"
                     " o.path2 IN (SELECT id FROM path WHERE substr(text, 1, length(?)) = ?)");
        for (int i = 0; i < 4; i++)
            add_text(b, f->path);
    }
    if (f->object != UINT64_MAX) {
        condition(b, "? IN (o.object, o.object2, o.new_object) OR"
                     " o.id IN (SELECT operation FROM name_event WHERE object = ?)");
        add_number(b, (int64_t)f->object);
        add_number(b, (int64_t)f->object);
    }
    if (f->xid != UINT64_MAX) {
        condition(b, "o.xid = ?");
        add_number(b, (int64_t)f->xid);
    }
    if (f->frame != UINT64_MAX) {
        condition(b, "? BETWEEN o.call_first_frame AND o.call_frame OR"
                     " ? BETWEEN o.reply_first_frame AND o.reply_frame OR"
                     " o.id IN (SELECT operation FROM retransmission"
                     " WHERE ? BETWEEN first_frame AND frame) OR"
                     " o.id IN (SELECT operation FROM copy WHERE ? BETWEEN first_frame AND frame)");
        for (int i = 0; i < 4; i++)
            add_number(b, (int64_t)f->frame);
    }
    if (f->source != UINT64_MAX) {
        condition(b, "o.call_source = ? OR o.reply_source = ?");
        add_number(b, (int64_t)f->source);
        add_number(b, (int64_t)f->source);
    }
    if (f->unpaired)
        condition(b, "o.pairing <> 0");
}

static int prepare(sqlite3 *db, struct build *b, sqlite3_stmt **stmt, struct err *err)
{
    if (b->no_memory || buf_append(&b->sql, "", 1) < 0)
        return err_memory(err, "a statement");
    if (sql_prepare(db, (const char *)b->sql.data, stmt, err) < 0)
        return -err->code;
    for (int i = 0; i < b->count; i++)
        if (b->values[i].text)
            sqlite3_bind_text(*stmt, i + 1, b->values[i].text, -1, SQLITE_TRANSIENT);
        else
            sqlite3_bind_int64(*stmt, i + 1, b->values[i].number);
    return 0;
}

int filter_prepare(sqlite3 *db, const struct filter *f, const char *select, sqlite3_stmt **stmt,
                   struct err *err)
{
    char client[ADDRESS_TEXT_MAX], server[ADDRESS_TEXT_MAX];
    struct build b = { 0 };
    int result;

    add(&b, select);
    add(&b, " WHERE 1");
    if (address_condition(&b, "o.client = ?", f->client, client, err) < 0 ||
        address_condition(&b, "o.server = ?", f->server, server, err) < 0 ||
        named(db, &b, f->program, &program, err) < 0 ||
        named(db, &b, f->procedure, &procedure, err) < 0 ||
        status_condition(db, &b, f->status, err) < 0) {
        buf_free(&b.sql);
        return -err->code;
    }
    range_conditions(&b, f);
    other_conditions(&b, f);
    add(&b, " ORDER BY o.id");
    if (f->limit != UINT64_MAX) {
        add(&b, " LIMIT ?");
        add_number(&b, f->limit > INT64_MAX ? INT64_MAX : (int64_t)f->limit);
    }
    result = prepare(db, &b, stmt, err);
    buf_free(&b.sql);
    return result;
}
