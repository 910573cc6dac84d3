/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outage_print.c
 *
 * Prints outages for people and as JSON (schemas/outage.schema.json).  The contract is in outage.h.
 */
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/outage.h"
#include "store/sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of an operation that contradicts an earlier one. */
enum { COL_PROCEDURE, COL_PATH, COL_FRAME, COL_EARLIER, COL_CLIENT };
static const char select_operation[] =
    "SELECT (SELECT p.name FROM procedure p WHERE p.program = o.program AND p.version = o.version"
    " AND p.number = o.procedure), (SELECT p.text FROM path p WHERE p.id = o.path),"
    " ifnull(o.reply_frame, o.call_frame), (SELECT e.reply_frame FROM operation e WHERE e.id = ?2),"
    " o.client FROM operation o WHERE o.id = ?1";

/* Calls |print| for each difference, with the row of its operation. */
static int each_difference(sqlite3 *db, const struct outage *o,
                           void (*print)(void *ctx, const struct outage_difference *difference,
                                         sqlite3_stmt *stmt),
                           void *ctx, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(db, select_operation, &stmt, err);

    for (uint32_t i = 0; result == 0 && i < o->difference_count; i++) {
        sqlite3_bind_int64(stmt, 1, o->differences[i].operation);
        sqlite3_bind_int64(stmt, 2, o->differences[i].earlier);
        result = sql_row(stmt, err);
        if (result > 0)
            print(ctx, &o->differences[i], stmt);
        result = result < 0 ? result : 0;
        sqlite3_reset(stmt);
    }
    return sql_end(stmt, result, err);
}

static bool came_back(const struct outage_client *c)
{
    return c->first_reply.time != TIME_NONE;
}

static bool has_tried(const struct outage_client *c)
{
    return c->last_try.time != TIME_NONE;
}

static void text_packet(const char *what, const struct outage_packet *p)
{
    char text[VALUE_TEXT_MAX];

    if (p->time == TIME_NONE)
        printf("  %-14s none in this trace\n", what);
    else
        printf("  %-14s %s, frame %" PRId64 "\n", what, time_text(p->time, text), p->frame);
}

/* Of a packet, after the last reply to anybody. */
static const char *after(const struct outage *o, const struct outage_packet *p,
                         char text[VALUE_TEXT_MAX + 1])
{
    if (p->time == TIME_NONE)
        return "-";
    text[0] = p->time < o->begin ? '-' : '+';
    duration_text(p->time < o->begin ? o->begin - p->time : p->time - o->begin, text + 1);
    return text;
}

static void text_clients(const struct outage *o)
{
    char a[VALUE_TEXT_MAX + 1], b[VALUE_TEXT_MAX + 1], c[VALUE_TEXT_MAX + 1];

    printf("  %12s %10s %9s %12s %7s %7s %7s %7s %9s %9s %7s  client\n", "last reply", "cut",
           "packet", "first reply", "resent", "TCP", "tries", "refused", "no answer", "answered",
           "errors");
    for (uint32_t i = 0; i < o->client_count; i++) {
        const struct outage_client *x = &o->clients[i];

        printf("  %12s %10s %9s %12s %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %9" PRIu64
               " %9" PRIu64 " %7" PRIu64 "  %s\n",
               after(o, &x->last_reply, a), after(o, &x->trouble, b), x->what ? x->what : "",
               after(o, &x->first_reply, c), x->resent_calls, x->resent_segments, x->attempts,
               x->refused, x->unanswered, x->answered, x->errors, x->address);
    }
}

static void text_gone(const struct outage *o)
{
    char text[VALUE_TEXT_MAX];

    for (uint32_t i = 0; i < o->client_count; i++) {
        const struct outage_client *c = &o->clients[i];

        if (came_back(c))
            continue;
        if (has_tried(c))
            printf("  %s did not come back; its last attempt was at %s, frame %" PRId64 "\n",
                   c->address, time_text(c->last_try.time, text), c->last_try.frame);
        else
            printf("  %s asked for nothing any more\n", c->address);
    }
}

static void text_difference(void *ctx, const struct outage_difference *d, sqlite3_stmt *stmt)
{
    const struct lint_rules *rules = ctx;
    const char *path = sql_column_text(stmt, COL_PATH);

    printf("    %s, frame %lld, against frame %lld: %s ", rules->rule[d->rule].name,
           (long long)sqlite3_column_int64(stmt, COL_FRAME),
           (long long)sqlite3_column_int64(stmt, COL_EARLIER),
           sql_column_text(stmt, COL_PROCEDURE));
    escape_print(stdout, path ? path : "-");
    printf(": %s\n", d->text);
}

/* What lint calls a suspect (model/lint/lint_rules.h). */
static bool has_suspects(const struct outage *o, const struct lint_rules *rules)
{
    for (uint32_t i = 0; i < o->difference_count; i++)
        if (rules->rule[o->differences[i].rule].level == LINT_SUSPECT)
            return true;
    return false;
}

static void text_ended(const struct outage *o)
{
    uint64_t closed = 0, resets = 0, refused = 0;

    for (uint32_t i = 0; i < o->client_count; i++) {
        closed += o->clients[i].closed;
        resets += o->clients[i].resets;
        refused += o->clients[i].refused;
    }
    printf("  the server     closed connections: %" PRIu64 ", reset: %" PRIu64
           ", refused attempts: %" PRIu64 "\n",
           closed, resets, refused);
}

/* Something follows the table of clients. */
static bool has_more(const struct outage *o)
{
    for (uint32_t i = 0; i < o->client_count; i++)
        if (!came_back(&o->clients[i]))
            return true;
    return o->status_count || o->different || o->lost || o->new_verifier || outage_unanswered(o);
}

uint64_t outage_unanswered(const struct outage *o)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < o->client_count; i++)
        all += o->clients[i].unanswered;
    return all;
}

/* A value for --silence that is below |ns|: one digit, and zeros. */
static void text_silence(int64_t ns)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    int64_t digit = ns, zeros = 1;
    int unit = 0;

    for (; unit < 3 && digit >= 1000; unit++)
        digit /= 1000;
    for (; digit >= 10; zeros *= 10)
        digit /= 10;
    printf("--silence %" PRId64 "%s", digit * zeros, units[unit]);
}

static void text_longest(const struct outages *all)
{
    char text[VALUE_TEXT_MAX], since[VALUE_TEXT_MAX];

    if (all->count || !all->longest)
        return;
    printf("the longest wait without any reply was %s, from %s on; ",
           duration_text(all->longest, text), time_text(all->since, since));
    text_silence(all->longest);
    puts(" shows it");
}

static int text_outage(sqlite3 *db, const struct outage_request *request, const struct outage *o,
                       bool events, struct err *err)
{
    char text[VALUE_TEXT_MAX], begin[VALUE_TEXT_MAX];

    printf("%s port %d: no reply%s%s for %s from %s on%s\n", o->server, o->port,
           request->traffic.client[0] ? " to " : "", request->traffic.client,
           duration_text(o->end - o->begin, text), time_text(o->begin, begin),
           o->first_reply.time == TIME_NONE ? ", to the end of the trace" : "");
    text_packet("last reply", &o->last_reply);
    text_packet("first reply", &o->first_reply);
    printf("  longest wait   %s\n", duration_text(o->waited, text));
    if (events)
        text_ended(o);
    putchar('\n');
    text_clients(o);
    if (has_more(o))
        putchar('\n');
    text_gone(o);
    for (uint32_t i = 0; i < o->status_count; i++)
        printf("  %s: %" PRIu64 " before, %" PRIu64 " after\n", o->statuses[i].name,
               o->statuses[i].before, o->statuses[i].after);
    if (o->different)
        printf("  answers after the outage that contradict answers before it: %" PRIu64 "\n",
               o->different);
    if (each_difference(db, o, text_difference, (void *)request->rules, err) < 0)
        return -err->code;
    if (o->different > o->difference_count)
        printf("    and %" PRIu64 " more\n", o->different - o->difference_count);
    if (has_suspects(o, request->rules))
        puts(
            "    unless something that the trace does not show, such as another client, changed the"
            " object");
    if (outage_lost_text(db, o, err) < 0)
        return -err->code;
    putchar('\n');
    return 0;
}

int outages_text(sqlite3 *db, const struct outage_request *request, const struct outages *all,
                 struct err *err)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (text_outage(db, request, &all->list[i], all->events, err) < 0)
            return -err->code;
    printf("%" PRIu32 " outage%s of %" PRIu64 " service%s\n", all->count,
           all->count == 1 ? "" : "s", all->services, all->services == 1 ? "" : "s");
    text_longest(all);
    if (all->not_followed)
        printf("%" PRIu64 " UNSTABLE WRITEs were not followed: too many waited for a COMMIT\n",
               all->not_followed);
    if (!all->events && all->tcp)
        puts("the trace does not say what happened to TCP connections");
    return 0;
}

static void json_packet(struct json *j, const char *key, const struct outage_packet *p)
{
    if (p->time == TIME_NONE) {
        json_null(j, key);
        return;
    }
    json_object(j, key);
    json_i64(j, "time", p->time);
    json_i64(j, "source", p->source);
    json_i64(j, "frame", p->frame);
    json_object_end(j);
}

static void json_client(struct json *j, const struct outage_client *c)
{
    json_object(j, NULL);
    json_text(j, "client", c->address);
    json_bool(j, "came_back", came_back(c));
    json_packet(j, "last_reply", &c->last_reply);
    json_packet(j, "trouble", &c->trouble);
    json_text(j, "trouble_was", c->what);
    json_packet(j, "last_try", &c->last_try);
    json_packet(j, "first_reply", &c->first_reply);
    json_u64(j, "resent_calls", c->resent_calls);
    json_u64(j, "resent_segments", c->resent_segments);
    json_u64(j, "attempts", c->attempts);
    json_u64(j, "syns", c->syns);
    json_u64(j, "refused", c->refused);
    json_u64(j, "resets", c->resets);
    json_u64(j, "closed", c->closed);
    json_u64(j, "unanswered", c->unanswered);
    json_u64(j, "answered_after", c->answered);
    json_u64(j, "errors_after", c->errors);
    json_object_end(j);
}

struct json_context {
    struct json *json;
    const struct lint_rules *rules;
};

static void json_difference(void *ctx, const struct outage_difference *d, sqlite3_stmt *stmt)
{
    const struct json_context *c = ctx;
    struct json *j = c->json;

    json_object(j, NULL);
    json_text(j, "rule", c->rules->rule[d->rule].name);
    json_text(j, "level", lint_level_name(c->rules->rule[d->rule].level));
    json_i64(j, "operation", d->operation);
    json_i64(j, "frame", sqlite3_column_int64(stmt, COL_FRAME));
    json_i64(j, "earlier_operation", d->earlier);
    json_i64(j, "earlier_frame", sqlite3_column_int64(stmt, COL_EARLIER));
    json_text(j, "client", sql_column_text(stmt, COL_CLIENT));
    json_text(j, "procedure_name", sql_column_text(stmt, COL_PROCEDURE));
    json_text(j, "path", sql_column_text(stmt, COL_PATH));
    json_text(j, "text", d->text);
    json_object_end(j);
}

static int json_outage(sqlite3 *db, struct json_context *c, const struct outage *o, struct err *err)
{
    struct json *j = c->json;

    json_object(j, NULL);
    json_text(j, "server", o->server);
    json_i64(j, "port", o->port);
    json_i64(j, "begin", o->begin);
    json_i64(j, "end", o->end);
    json_i64(j, "waited", o->waited);
    json_packet(j, "last_reply", &o->last_reply);
    json_packet(j, "first_reply", &o->first_reply);
    json_array(j, "clients");
    for (uint32_t i = 0; i < o->client_count; i++)
        json_client(j, &o->clients[i]);
    json_array_end(j);
    json_array(j, "statuses");
    for (uint32_t i = 0; i < o->status_count; i++) {
        json_object(j, NULL);
        json_text(j, "status", o->statuses[i].name);
        json_u64(j, "before", o->statuses[i].before);
        json_u64(j, "after", o->statuses[i].after);
        json_object_end(j);
    }
    json_array_end(j);
    json_u64(j, "different", o->different);
    json_array(j, "differences");
    if (each_difference(db, o, json_difference, c, err) < 0)
        return -err->code;
    json_array_end(j);
    if (outage_lost_json(db, j, o, err) < 0)
        return -err->code;
    json_object_end(j);
    return 0;
}

int outages_json(sqlite3 *db, const char *name, const struct outage_request *request,
                 const struct outages *all, struct err *err)
{
    struct json j = { .out = stdout, .indented = true };
    struct json_context c = { &j, request->rules };

    json_object(&j, NULL);
    json_file(&j, "trace", name);
    json_u64(&j, "services", all->services);
    json_i64(&j, "silence", request->silence);
    json_bool(&j, "connection_events", all->events);
    if (all->longest) {
        json_object(&j, "longest_wait");
        json_i64(&j, "since", all->since);
        json_i64(&j, "waited", all->longest);
        json_object_end(&j);
    } else {
        json_null(&j, "longest_wait");
    }
    json_u64(&j, "not_followed", all->not_followed);
    json_array(&j, "outages");
    for (uint32_t i = 0; i < all->count; i++)
        if (json_outage(db, &c, &all->list[i], err) < 0)
            return -err->code;
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    return j.failed ? err_memory(err, "outages") : 0;
}
