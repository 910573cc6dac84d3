/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/filter.c
 *
 * Builds the SQL text condition by condition, keeps the values apart, and binds them when the
 * statement is prepared: no text of the user becomes SQL.  A program, a procedure or a status that
 * has no such name is an error.  For cmd_ops.c and
 * operation_groups.c.  The contract is in filter.h.
 */
#include "base/values.h"
#include "store/filter.h"
#include "store/failure.h"
#include "store/ids.h"
#include "store/moment.h"
#include "store/sql.h"
#include "store/store.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

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
    f->min_latency = f->max_latency = INT64_MIN;
    f->object = f->uid = f->xid = f->frame = f->source = f->limit = UINT64_MAX;
}

bool filter_is_empty(const struct filter *f)
{
    return !f->client && !f->server && !f->path && !f->procedure && !f->program && !f->status &&
           !f->phase && !f->from && !f->to && f->min_latency == INT64_MIN &&
           f->max_latency == INT64_MIN && f->object == UINT64_MAX && f->uid == UINT64_MAX &&
           f->xid == UINT64_MAX && f->frame == UINT64_MAX && f->source == UINT64_MAX &&
           !f->unpaired && !f->retransmitted;
}

static const struct {
    const char *name, *sql;
} orders[] = {
    [FILTER_BY_ID] = { "", " ORDER BY o.id" },
    [FILTER_BY_TIME] = { "time", " ORDER BY ifnull(o.call_time, o.reply_time) NULLS LAST, o.id" },
    [FILTER_BY_LATENCY] = { "latency", " ORDER BY o.latency DESC NULLS LAST, o.id" },
    [FILTER_BY_WAITED] = { "waited", " ORDER BY" FILTER_WAITED " DESC NULLS LAST, o.id" },
    [FILTER_BY_BYTES] = { "bytes", " ORDER BY o.data_length DESC NULLS LAST, o.id" },
};

int filter_sort(struct filter *f, const char *by, struct err *err)
{
    for (int i = FILTER_BY_TIME; by && i <= FILTER_BY_BYTES; i++)
        if (strcmp(by, orders[i].name) == 0) {
            f->order = (enum filter_order)i;
            return 0;
        }
    return by ? err_set(err, ERR_USAGE, "--sort takes time, latency, waited or bytes, not \"%s\"",
                        by)
              : 0;
}

/* Whether |sql| with |text| as its parameter gives a row; |no| begins the message otherwise. */
static int exists(sqlite3 *db, const char *sql, const char *text, const char *no, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
    result = sql_row(stmt, err);
    sqlite3_finalize(stmt);
    if (result == 0)
        return err_set(err, ERR_USAGE, "%s \"%s\"", no, text);
    return result > 0 ? 0 : result;
}

/* What has numbers and names. */
struct kind {
    const char *none;                /* "no program is called" */
    const char *by_number, *by_name; /* conditions */
    const char *known;               /* whether there is such a name */
};

static const struct kind program = {
    .none = "no program is called",
    .by_number = "o.program = ?",
    .by_name = "o.program IN (SELECT number FROM program WHERE name = ? COLLATE NOCASE)",
    .known = "SELECT 1 FROM program WHERE name = ? COLLATE NOCASE",
};

static const struct kind procedure = {
    .none = "no procedure is called",
    .by_number = "o.procedure = ?",
    .by_name = "EXISTS (SELECT 1 FROM procedure p WHERE p.program = o.program AND"
               " p.version = o.version AND p.number = o.procedure AND p.name = ? COLLATE NOCASE)",
    .known = "SELECT 1 FROM procedure WHERE name = ? COLLATE NOCASE",
};

static const struct kind status = {
    .none = "no status is called",
    .by_number = "o.status = ?",
    .by_name = "EXISTS (SELECT 1 FROM status_name s WHERE s.program = o.program AND"
               " s.version = o.version AND s.procedure = o.procedure AND s.status = o.status AND"
               " (s.name = ? COLLATE NOCASE OR s.name = 'NFS3ERR_' || ? COLLATE NOCASE))"
               " OR o.rpc_status IN (SELECT value FROM code"
               " WHERE domain = 'rpc_status' AND name = ? COLLATE NOCASE)",
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
    return exists(db, kind->known, text, kind->none, err);
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

/* Makes "STALE" of "ESTALE", the name that system calls have, if there is a status NFS3ERR_STALE.
 */
static int without_e(sqlite3 *db, const char **text, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (toupper((unsigned char)**text) != 'E')
        return 0;
    if (sql_prepare(db,
                    "SELECT 1 FROM status_name WHERE name = 'NFS3ERR_' || ? COLLATE NOCASE LIMIT 1",
                    &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_text(stmt, 1, *text + 1, -1, SQLITE_STATIC);
    result = sql_row(stmt, err);
    *text += result > 0;
    return sql_end(stmt, result < 0 ? result : 0, err);
}

static int status_condition(sqlite3 *db, struct build *b, const char *text, struct err *err)
{
    if (!text)
        return 0;
    if (strcasecmp(text, "ok") == 0) {
        condition(b, "o.rpc_status = 0 AND ifnull(o.status, 0) = 0");
        return 0;
    }
    if (strcasecmp(text, "error") == 0) {
        condition(b, FAILURE_SQL);
        return 0;
    }
    if (without_e(db, &text, err) < 0 || named(db, b, text, &status, err) < 0)
        return -err->code;
    if (b->values[b->count - 1].text) { /* three times in there */
        add_text(b, text);
        add_text(b, text);
    }
    return 0;
}

static void latency_conditions(struct build *b, const struct filter *f)
{
    if (f->min_latency != INT64_MIN) {
        condition(b, "o.latency >= ?");
        add_number(b, f->min_latency);
    }
    if (f->max_latency != INT64_MIN) {
        condition(b, "o.latency <= ?");
        add_number(b, f->max_latency);
    }
}

static int time_condition(struct build *b, const char *sql, const char *option, const char *text,
                          const struct moment_span *span, int64_t *ns, struct err *err)
{
    if (!text)
        return 0;
    if (moment_parse(text, span, ns, err) < 0)
        return err_prefix(err, "%s", option);
    condition(b, sql);
    add_number(b, *ns);
    return 0;
}

static int time_conditions(sqlite3 *db, struct build *b, const struct filter *f, struct err *err)
{
    int64_t from = INT64_MIN, to = INT64_MAX;
    char a[VALUE_TEXT_MAX], z[VALUE_TEXT_MAX];
    struct moment_span span;

    if (!f->from && !f->to)
        return 0;
    if (moment_span_read(db, &span, err) < 0 ||
        time_condition(b, "ifnull(o.call_time, o.reply_time) >= ?", "--from", f->from, &span, &from,
                       err) < 0 ||
        time_condition(b, "ifnull(o.call_time, o.reply_time) < ?", "--to", f->to, &span, &to, err) <
            0)
        return -err->code;
    if (to < from)
        return err_set(err, ERR_USAGE, "--to (%s) is before --from (%s)", time_text(to, z),
                       time_text(from, a));
    return 0;
}

static int path_condition(sqlite3 *db, struct build *b, const char *path, struct err *err)
{
    if (!path)
        return 0;
    condition(b, "o.path IN (SELECT id FROM path WHERE substr(text, 1, length(?)) = ?) OR"
                 " o.path2 IN (SELECT id FROM path WHERE substr(text, 1, length(?)) = ?)");
    for (int i = 0; i < 4; i++)
        add_text(b, path);
    return exists(db, "SELECT 1 FROM path WHERE substr(text, 1, length(?1)) = ?1", path,
                  "the trace shows no path that begins with", err);
}

static int phase_condition(sqlite3 *db, struct build *b, const char *phase, struct err *err)
{
    if (!phase)
        return 0;
    condition(b, "phase_of(o.id, o.client, ifnull(o.call_time, o.reply_time)) = ?");
    add_text(b, phase);
    return exists(db, "SELECT 1 FROM phase WHERE name = ?", phase,
                  "no phase of the trace is called", err);
}

static void other_conditions(struct build *b, const struct filter *f)
{
    if (f->object != UINT64_MAX) {
        condition(b, "? IN (o.object, o.object2, o.new_object) OR"
                     " o.id IN (SELECT operation FROM name_event WHERE object = ?)");
        add_number(b, (int64_t)f->object);
        add_number(b, (int64_t)f->object);
    }
    if (f->uid != UINT64_MAX) {
        condition(b, "o.credential IN (SELECT id FROM credential WHERE uid = ?)");
        add_number(b, (int64_t)f->uid);
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
    if (f->retransmitted)
        condition(b, "o.id IN (SELECT operation FROM retransmission)");
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
        status_condition(db, &b, f->status, err) < 0 || time_conditions(db, &b, f, err) < 0 ||
        path_condition(db, &b, f->path, err) < 0 || phase_condition(db, &b, f->phase, err) < 0) {
        buf_free(&b.sql);
        return -err->code;
    }
    latency_conditions(&b, f);
    other_conditions(&b, f);
    add(&b, orders[f->order].sql);
    if (f->limit != UINT64_MAX) {
        add(&b, " LIMIT ?");
        add_number(&b, f->limit > INT64_MAX ? INT64_MAX : (int64_t)f->limit);
    }
    result = prepare(db, &b, stmt, err);
    buf_free(&b.sql);
    return result;
}
