/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_json.c
 *
 * The numbers of a trace's page as one JSON object, by schemas/trace.schema.json.  For
 * trace_report.c.
 */
#include "report/trace_report_parts.h"
#include "store/sql.h"
#include "store/sql_json.h"

#include <string.h>

static void put_time(struct json *j, const char *key, bool known, int64_t ns)
{
    if (known)
        json_i64(j, key, ns);
    else
        json_null(j, key);
}

static void put_latency(struct json *j, const struct activity_latency *l)
{
    json_u64(j, "answered", l->answered);
    put_time(j, "p50", l->answered, l->p50);
    put_time(j, "p90", l->answered, l->p90);
    put_time(j, "p99", l->answered, l->p99);
    put_time(j, "max", l->answered, l->max);
}

static void put_count(struct json *j, const struct activity_count *n)
{
    json_u64(j, "operations", n->operations);
    json_u64(j, "errors", n->errors);
    json_u64(j, "unanswered", n->unanswered);
    json_u64(j, "read", n->read);
    json_u64(j, "written", n->written);
    put_latency(j, &n->latency);
}

static void put_repeats(struct json *j, const struct activity_count *n)
{
    json_u64(j, "resent", n->resent);
    json_u64(j, "replied_again", n->replied_again);
}

void trace_json_text(const struct trace_view *v, struct json *j, const char *key, const char *text)
{
    char kept[TRACE_TEXT_MAX + 4];
    size_t len = TRACE_TEXT_MAX;

    if (!v->cuts || !text || strlen(text) <= len) {
        json_text(j, key, text);
        return;
    }
    while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--; /* not within a character */
    memcpy(kept, text, len);
    memcpy(kept + len, "…", sizeof("…"));
    json_text(j, key, kept);
}

/* As sql_json_members, but with trace_json_text. */
static void put_members(const struct trace_view *v, struct json *j, sqlite3_stmt *row)
{
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const char *name = sqlite3_column_name(row, i);

        if (sqlite3_column_type(row, i) == SQLITE_TEXT)
            trace_json_text(v, j, name, sql_column_text(row, i));
        else
            sql_json_value(j, name, row, i);
    }
}

/* Puts the rows of a query as an array of objects. */
static int put_rows(struct trace_view *v, struct json *j, const char *key, const char *sql,
                    int64_t most)
{
    sqlite3_stmt *row;
    int result;

    if (sql_prepare(v->h.db, sql, &row, v->h.err) < 0)
        return -v->h.err->code;
    if (sqlite3_bind_parameter_count(row))
        sqlite3_bind_int64(row, 1, most);
    json_break(j);
    json_array(j, key);
    while ((result = sql_row(row, v->h.err)) > 0) {
        json_break(j);
        json_object(j, NULL);
        put_members(v, j, row);
        json_object_end(j);
    }
    json_array_end(j);
    return sql_end(row, result, v->h.err);
}

static void put_totals(const struct activity *a, struct json *j)
{
    json_break(j);
    json_object(j, "totals");
    put_time(j, "first_time", a->timed, a->first_time);
    put_time(j, "last_time", a->timed, a->last_time);
    put_count(j, &a->n);
    put_repeats(j, &a->n);
    json_u64(j, "calls", a->calls);
    json_u64(j, "replies", a->replies);
    json_u64(j, "partial_calls", a->partial_calls);
    json_u64(j, "partial_replies", a->partial_replies);
    json_u64(j, "untimed", a->untimed);
    json_u64(j, "peak", a->peak);
    json_bool(j, "peak_is_least", a->peak_is_least);
    json_array(j, "pairing");
    for (int i = 0; i < ACTIVITY_PAIRINGS; i++)
        json_u64(j, NULL, a->pairing[i]);
    json_array_end(j);
    json_object_end(j);
}

static void put_spans(const struct activity *a, struct json *j)
{
    json_break(j);
    json_i64(j, "every", a->every);
    json_array(j, "spans");
    for (uint32_t i = 0; i < a->span_count; i++) {
        const struct activity_span *s = &a->spans[i];

        json_break(j);
        json_object(j, NULL);
        json_i64(j, "time", a->start + i * a->every);
        put_count(j, &s->n);
        put_repeats(j, &s->n);
        json_u64(j, "busy", s->busy);
        json_u64(j, "peak", s->peak);
        json_u64(j, "hole_bytes", s->hole_bytes);
        json_array(j, "problems");
        for (int k = 1; k < ACTIVITY_PROBLEMS; k++)
            json_u64(j, NULL, s->problems[k]);
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Only the rows from the first to the last one with operations. */
static void put_heat(const struct activity *a, struct json *j)
{
    unsigned first = ACTIVITY_HEAT_ROWS, end = 0;

    for (uint32_t i = 0; i < a->span_count; i++)
        for (unsigned row = 0; row < ACTIVITY_HEAT_ROWS; row++)
            if (a->heat[i][row]) {
                first = row < first ? row : first;
                end = row + 1 > end ? row + 1 : end;
            }
    json_break(j);
    json_object(j, "heat");
    json_array(j, "from");
    for (unsigned row = first; end && row <= end; row++)
        json_i64(j, NULL, activity_heat_from(row));
    json_array_end(j);
    json_array(j, "spans");
    for (uint32_t i = 0; i < a->span_count; i++) {
        json_break(j);
        json_array(j, NULL);
        for (unsigned row = first; row < end; row++)
            json_u64(j, NULL, a->heat[i][row]);
        json_array_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void put_levels(const struct activity *a, struct json *j)
{
    json_break(j);
    json_array(j, "under_way");
    for (unsigned i = 0; i < ACTIVITY_LEVELS; i++) {
        if (!a->levels[i].answered)
            continue;
        json_break(j);
        json_object(j, NULL);
        json_u64(j, "from", activity_level_from(i));
        json_u64(j, "to", activity_level_from(i + 1) - 1);
        put_latency(j, &a->levels[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_parts(const struct trace_view *v, struct json *j, const char *key, const char *name,
                      const struct activity_parts *parts)
{
    json_array(j, key);
    for (uint32_t i = 0; i < parts->count; i++) {
        json_object(j, NULL);
        trace_json_text(v, j, name, parts->parts[i].label);
        json_u64(j, "operations", parts->parts[i].operations);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_group(const struct trace_view *v, enum activity_by by,
                      const struct activity_group *g, struct json *j)
{
    static const char *const names[] = { "procedure", "client", "user", "path", "status" };

    json_break(j);
    json_object(j, NULL);
    trace_json_text(v, j, names[by], g->label);
    if (by == ACTIVITY_STATUS) {
        json_u64(j, "operations", g->n.operations);
        json_i64(j, "rpc_status", g->key[3]);
        json_i64(j, "number", g->key[4]);
        json_i64(j, "program", g->key[0]);
        json_i64(j, "version", g->key[1]);
        json_i64(j, "procedure", g->key[2]);
    } else {
        put_count(j, &g->n);
    }
    if (by == ACTIVITY_PROCEDURE || by == ACTIVITY_CLIENT)
        put_repeats(j, &g->n);
    if (by == ACTIVITY_CLIENT || by == ACTIVITY_USER || by == ACTIVITY_PATH)
        put_parts(v, j, "procedures", "procedure", &g->procedures);
    if (by == ACTIVITY_PATH) {
        put_parts(v, j, "clients", "client", &g->clients);
        json_array(j, "spans");
        for (uint32_t i = 0; i < v->a.span_count; i++)
            json_u64(j, NULL, g->over_time[i]);
        json_array_end(j);
    }
    json_object_end(j);
}

static void put_lists(const struct trace_view *v, struct json *j)
{
    static const char *const names[] = { "procedures", "clients", "users", "paths", "statuses" };

    for (int by = 0; by < ACTIVITY_BY_MAX; by++) {
        const struct activity_list *list = &v->a.by[by];

        json_break(j);
        json_object(j, names[by]);
        json_u64(j, "left_out", list->left_out);
        json_u64(j, "unshown", list->unshown);
        json_u64(j, "beyond", list->beyond);
        json_array(j, "groups");
        for (uint32_t i = 0; i < list->count; i++)
            put_group(v, (enum activity_by)by, &list->groups[i], j);
        json_array_end(j);
        json_object_end(j);
    }
}

static void put_tree(const struct trace_view *v, struct json *j)
{
    const struct activity *a = &v->a;

    json_break(j);
    json_array(j, "tree");
    for (uint32_t i = 0; i < a->node_count; i++) {
        const struct activity_node *n = &a->nodes[i];

        json_break(j);
        json_object(j, NULL);
        trace_json_text(v, j, "name", n->label);
        json_u64(j, "depth", n->depth);
        json_u64(j, "operations", n->operations);
        json_u64(j, "own", n->own);
        json_u64(j, "unshown", n->unshown);
        json_object_end(j);
    }
    json_array_end(j);
}

struct slow_rows {
    const struct trace_view *v;
    struct json *j;
};

static void put_slow(void *ctx, sqlite3_stmt *row)
{
    const struct slow_rows *rows = ctx;

    json_break(rows->j);
    json_object(rows->j, NULL);
    put_members(rows->v, rows->j, row);
    json_object_end(rows->j);
}

int trace_json(struct trace_view *v, struct json *j)
{
    const struct activity *a = &v->a;
    struct slow_rows rows = { v, j };

    json_object(j, NULL);
    json_u64(j, "version", 1);
    json_name(j, "trace", (struct bytes){ (const uint8_t *)v->name, (uint32_t)strlen(v->name) });
    trace_json_text(v, j, "filter", v->filter);
    if (put_rows(v, j, "sources", trace_sources, TRACE_SOURCES_MAX) < 0)
        return -v->h.err->code;
    put_totals(a, j);
    put_lists(v, j);
    trace_json_phases(v, j);
    put_tree(v, j);
    put_levels(a, j);
    json_break(j);
    json_array(j, "slowest");
    if (trace_each_slow(v, put_slow, &rows) < 0)
        return -v->h.err->code;
    json_array_end(j);
    if (put_rows(v, j, "problems", trace_problems, 0) < 0 ||
        put_rows(v, j, "holes", trace_holes, TRACE_HOLES_MAX) < 0 ||
        put_rows(v, j, "counters", trace_counters, TRACE_COUNTERS_MAX) < 0)
        return -v->h.err->code;
    put_spans(a, j);
    put_heat(a, j);
    json_object_end(j);
    json_end(j);
    return j->failed ? err_memory(v->h.err, "a report") : 0;
}
