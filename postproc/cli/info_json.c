/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/info_json.c
 *
 * The summary of a trace as one JSON object.  The contract is in info_print.h.
 */
#include "base/json.h"
#include "cli/info_print_parts.h"
#include "store/sql.h"
#include "store/sql_json.h"

#include <string.h>

/* Runs |sql| and puts each row as an object into an array. */
static int json_rows(const struct info_view *view, const char *name, const char *sql,
                     struct json *j, struct err *err)
{
    sqlite3_stmt *stmt;

    if (info_prepare(view, sql, &stmt, err) < 0)
        return -err->code;
    json_break(j);
    json_array(j, name);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        json_break(j);
        json_object(j, NULL);
        sql_json_members(j, stmt);
        json_object_end(j);
    }
    json_array_end(j);
    return sql_end(stmt, 0, err);
}

static void json_latency(struct json *j, const char *key, const struct group *x, int64_t latency)
{
    if (x->answered)
        json_i64(j, key, latency);
    else
        json_null(j, key);
}

static void json_known(struct json *j, const char *key, int64_t value, bool known)
{
    if (known)
        json_i64(j, key, value);
    else
        json_null(j, key);
}

static void json_groups(const struct groups *g, enum group_by by, struct json *j)
{
    char name[32];

    snprintf(name, sizeof(name), "by_%s", group_names[by]);
    json_break(j);
    json_array(j, name);
    for (int i = 0; i < g->count; i++) {
        const struct group *x = &g->groups[i];
        bool called = by != BY_STATUS || x->key[1] >= 0; /* its call was captured */

        json_break(j);
        json_object(j, NULL);
        if (group_is_none(x, by))
            json_null(j, group_names[by]);
        else
            json_text(j, group_names[by], x->label);
        if (by == BY_STATUS) {
            json_text(j, "procedure", x->detail);
            json_known(j, "program", group_key_high(x->key[0]), called);
            json_known(j, "version", group_key_low(x->key[0]), called);
            json_known(j, "number", x->key[1], called);
            json_i64(j, "rpc_status", group_key_high(x->key[2]));
            json_i64(j, "code", group_key_low(x->key[2]));
        }
        if (by == BY_PHASE) {
            json_u64(j, "times", x->times);
            if (x->times)
                json_i64(j, "lasted", x->lasted);
            else
                json_null(j, "lasted");
        }
        if (by == BY_PROCEDURE) {
            json_i64(j, "program", x->key[0]);
            json_i64(j, "version", x->key[1]);
            json_i64(j, "number", x->key[2]);
        }
        if (by == BY_USER && x->key[0] >= 0)
            json_i64(j, "uid", x->key[0]);
        json_u64(j, "operations", x->operations);
        json_u64(j, "errors", x->errors);
        json_u64(j, "resent", x->resent);
        json_u64(j, "answered", x->answered);
        json_u64(j, "read", x->read);
        json_u64(j, "written", x->written);
        json_latency(j, "p50", x, x->p50);
        json_latency(j, "p90", x, x->p90);
        json_latency(j, "p99", x, x->p99);
        json_latency(j, "max", x, x->max);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Only what holds for operations that match the filter. */
static int json_matching(const struct info_view *view, struct json *j, struct err *err)
{
    const struct groups_totals *t = &view->groups.totals;
    struct info_matching m;

    if (info_matching(view, &m, err) < 0)
        return -err->code;
    json_break(j);
    json_object(j, "matching");
    json_i64(j, "of", m.of);
    if (t->timed) {
        json_i64(j, "first_time", t->first_time);
        json_i64(j, "last_time", t->last_time);
    } else {
        json_null(j, "first_time");
        json_null(j, "last_time");
    }
    json_u64(j, "operations", t->operations);
    json_u64(j, "calls", t->calls);
    json_u64(j, "replies", t->replies);
    json_i64(j, "retransmitted_calls", m.retransmitted_calls);
    json_i64(j, "further_replies", m.further_replies);
    json_u64(j, "partial_calls", t->partial_calls);
    json_u64(j, "partial_replies", t->partial_replies);
    json_object_end(j);
    return json_rows(view, "pairing", info_pairing, j, err);
}

int info_json(const struct info_view *view, struct err *err)
{
    struct json j = { .out = stdout };
    bool whole = !view->only_tables && !view->filter;
    struct unopened unopened;

    json_object(&j, NULL);
    json_file(&j, "database", view->name);
    if (info_unopened(view->db, &unopened, err) < 0)
        return -err->code;
    if (whole && (json_rows(view, "sources", info_sources, &j, err) < 0 ||
                  json_rows(view, "totals", info_totals, &j, err) < 0 ||
                  json_rows(view, "pairing", info_pairing, &j, err) < 0))
        return -err->code;
    if (!view->only_tables && view->filter && json_matching(view, &j, err) < 0)
        return -err->code;
    for (int by = 0; by < BY_MAX; by++)
        if (view->tables & 1u << by)
            json_groups(&view->groups.by[by], (enum group_by)by, &j);
    if (whole && (json_rows(view, "phases", info_phases, &j, err) < 0 ||
                  json_rows(view, "problems", info_problems, &j, err) < 0 ||
                  json_rows(view, "counters", info_counters, &j, err) < 0))
        return -err->code;
    if (whole) {
        json_break(&j);
        json_object(&j, "not_opened");
        json_u64(&j, "packets", unopened.packets);
        json_text(&j, "encapsulations", unopened.names);
        json_object_end(&j);
    }
    json_object_end(&j);
    json_end(&j);
    return j.failed ? err_memory(err, "names") : 0;
}
