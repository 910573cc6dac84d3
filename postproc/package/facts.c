/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/facts.h"
#include "store/sql.h"

#include <limits.h>
#include <stdio.h>

enum { FACT_STATUSES = sizeof(((struct facts *)0)->statuses) / sizeof(struct status_fact) };

static const char sql_totals[] =
    "SELECT (SELECT min(first_time) FROM source), (SELECT max(last_time) FROM source),"
    " (SELECT sum(frames) FROM source), count(*), sum(pairing <> 0),"
    " (SELECT count(DISTINCT client) FROM flow), (SELECT count(DISTINCT server) FROM flow),"
    " (SELECT count(*) FROM object), (SELECT count(*) FROM retransmission),"
    " (SELECT count(*) FROM copy),"
    " (SELECT count(*) FROM problem) FROM operation";

static const char sql_statuses[] =
    "SELECT CASE WHEN o.rpc_status <> 0"
    "  THEN (SELECT c.name FROM code c WHERE c.domain = 'rpc_status' AND c.value = o.rpc_status)"
    "  ELSE (SELECT s.name FROM status_name s WHERE s.program = o.program AND"
    "   s.version = o.version AND s.procedure = o.procedure AND s.status = o.status)"
    " END AS name,"
    " sum(o.n) AS total FROM (SELECT rpc_status, program, version, procedure, status, count(*) AS n"
    "  FROM operation WHERE reply_frame IS NOT NULL GROUP BY 1, 2, 3, 4, 5) o"
    " GROUP BY name ORDER BY total DESC, name";

static int read_totals(struct facts *f, sqlite3 *db, struct err *err)
{
    uint64_t *const to[] = { &f->frames,          &f->operations, &f->unpaired,
                             &f->clients,         &f->servers,    &f->objects,
                             &f->retransmissions, &f->copies,     &f->problems };
    sqlite3_stmt *s;

    if (sql_prepare(db, sql_totals, &s, err) < 0)
        return -err->code;
    if (sqlite3_step(s) == SQLITE_ROW) {
        f->has_times = sqlite3_column_type(s, 0) != SQLITE_NULL;
        f->first_time = sqlite3_column_int64(s, 0);
        f->last_time = sqlite3_column_int64(s, 1);
        for (int i = 0; i < (int)(sizeof(to) / sizeof(*to)); i++)
            *to[i] = (uint64_t)sqlite3_column_int64(s, i + 2);
    }
    return sql_end(s, 0, err);
}

static int add_status(void *ctx, sqlite3_stmt *s, struct err *err)
{
    struct facts *f = ctx;
    const char *name = sql_column_text(s, 0);
    uint64_t operations = (uint64_t)sqlite3_column_int64(s, 1);

    (void)err;
    if (f->status_count == FACT_STATUSES) {
        f->other_statuses += operations;
        return 0;
    }
    snprintf(f->statuses[f->status_count].name, sizeof(f->statuses[0].name), "%s",
             name ? name : "none (results without a status, and unknown ones)");
    f->statuses[f->status_count++].operations = operations;
    return 0;
}

void facts_grow(struct facts *f, const struct tree *tree)
{
    memcpy(f->growth, tree->growth, sizeof(f->growth));
    f->growth_count = tree->growth_count;
}

int facts_read(struct facts *f, sqlite3 *db, struct err *err)
{
    const struct groups_request procedures = { .tables = 1u << BY_PROCEDURE, .top = INT_MAX };

    if (read_totals(f, db, err) < 0 || sql_each(db, sql_statuses, add_status, f, err) < 0 ||
        groups_read(db, &procedures, &f->grouped, err) < 0)
        return -err->code;
    for (int i = 0; i < f->grouped.by[BY_PROCEDURE].count; i++) {
        f->bytes_read += f->grouped.by[BY_PROCEDURE].groups[i].read;
        f->bytes_written += f->grouped.by[BY_PROCEDURE].groups[i].written;
    }
    return 0;
}

void facts_free(struct facts *f)
{
    groups_free(&f->grouped);
}
