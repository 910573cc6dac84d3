/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "cli/top_view.h"

static void put_counts(struct json *j, const struct top_counts *c, bool waiting)
{
    json_u64(j, "operations", c->operations);
    json_u64(j, "errors", c->errors);
    json_u64(j, "unanswered", c->unanswered);
    json_u64(j, "read", c->read);
    json_u64(j, "written", c->written);
    json_u64(j, "resent", c->resent);
    if (waiting)
        json_u64(j, "waiting", c->waiting);
    else
        json_null(j, "waiting");
    if (c->latency.count) {
        json_i64(j, "p50_ns", spread_at(&c->latency, 0.5));
        json_i64(j, "p99_ns", spread_at(&c->latency, 0.99));
        json_i64(j, "max_ns", c->latency.most);
    } else {
        json_null(j, "p50_ns");
        json_null(j, "p99_ns");
        json_null(j, "max_ns");
    }
}

static void put_rows(struct json *j, const struct top_view *v, enum top_by by)
{
    const struct top_row *rows[TOP_ROWS];
    size_t count = top_sorted(v->top, by, v->sort, !v->all, rows, TOP_ROWS);
    struct top_counts rest = *top_others(v->top, by, !v->all);

    json_array(j, top_by_names[by]);
    for (size_t i = 0; i < count; i++) {
        const struct top_counts *c = v->all ? &rows[i]->all : &rows[i]->last;

        if (i >= v->limit) {
            top_counts_merge(&rest, c);
            continue;
        }
        json_object(j, NULL);
        json_text(j, top_by_names[by], rows[i]->label);
        put_counts(j, c, v->knows_waiting);
        json_object_end(j);
    }
    if (rest.operations || rest.resent || rest.waiting) {
        json_object(j, NULL);
        json_null(j, top_by_names[by]);
        put_counts(j, &rest, v->knows_waiting);
        json_object_end(j);
    }
    json_array_end(j);
}

void top_json(const struct top_view *v)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    if (v->time != TIME_NONE)
        json_i64(&j, "time", v->time);
    else
        json_null(&j, "time");
    json_number(&j, "seconds", "%.3f", v->all ? v->begun : v->now);
    put_counts(&j, top_whole(v->top, !v->all), v->knows_waiting);
    if (v->packets) {
        json_u64(&j, "packets", v->packets->received);
        json_u64(&j, "packets_lost", v->packets->dropped + v->packets->interface_dropped);
    }
    json_u64(&j, "names_forgotten", v->forgotten);
    for (int by = 0; by < TOP_TABLES; by++)
        put_rows(&j, v, (enum top_by)by);
    json_object_end(&j);
    json_end(&j);
    fflush(stdout);
}

void top_slow_json(const struct top_operation *o)
{
    const struct record_operation *r = o->record;
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    if (o->time != TIME_NONE)
        json_i64(&j, "time", o->time);
    else
        json_null(&j, "time");
    if (o->latency != TIME_NONE)
        json_i64(&j, "latency_ns", o->latency);
    else
        json_null(&j, "latency_ns");
    json_text(&j, "client", o->client);
    json_text(&j, "server", o->server);
    json_text(&j, "uid", o->uid);
    json_text(&j, "procedure", o->procedure);
    json_text(&j, "path", *o->path ? o->path : NULL);
    if (r->call.flags & SIGHTING_OFFSET)
        json_u64(&j, "offset", r->offset);
    if (r->call.flags & SIGHTING_COUNT)
        json_u64(&j, "count", r->count);
    json_text(&j, "status", o->status);
    json_object_end(&j);
    json_end(&j);
    fflush(stdout);
}
