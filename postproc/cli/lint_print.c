/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/lint_print.c
 *
 * Collects the findings of "nfsdigest lint", and prints them rule by rule.  Frames and paths are
 * read from the database when they are printed.  The contract is in lint_print.h.
 */
#include "cli/lint_print.h"

#include "base/escape.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/values.h"
#include "show/colour.h"
#include "store/sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* enum lint_column */
static const char select_operation[] =
    "SELECT (SELECT p.name FROM procedure p WHERE p.program = o.program AND p.version = o.version"
    " AND p.number = o.procedure), (SELECT p.text FROM path p WHERE p.id = o.path),"
    " ifnull(o.call_source, o.reply_source), o.call_frame, o.reply_frame, o.client,"
    " ifnull(o.call_time, o.reply_time)"
    " FROM operation o WHERE o.id = ?";

int lint_view_add(struct lint_view *v, const struct lint_finding *f, struct err *err)
{
    struct lint_shown *s;

    if (!v->chosen[f->rule])
        return 0;
    if (lint_hosts_add(v, f, err) < 0)
        return -err->code;
    if (v->found[f->rule]++ >= v->top)
        return 0;
    if (GROW(v->shown, v->shown_count, v->shown_cap) < 0)
        return err_memory(err, "findings");
    s = &v->shown[v->shown_count];
    *s = (struct lint_shown){ f->rule, f->effect->id, f->earlier, strdup(f->text) };
    if (!s->text)
        return err_memory(err, "findings");
    v->shown_count++;
    return 0;
}

bool lint_view_reads(const struct lint_view *v, enum lint_id rule)
{
    return v->chosen[rule] && v->found[rule] < v->top;
}

void lint_view_free(struct lint_view *v)
{
    for (uint32_t i = 0; i < v->shown_count; i++)
        free(v->shown[i].text);
    free(v->shown);
    lint_hosts_free(v);
}

uint64_t lint_view_level(const struct lint_view *v, enum lint_level level)
{
    uint64_t count = 0;

    for (int i = 0; i < LINT_RULES; i++)
        count += v->rules->rule[i].level == level ? v->found[i] : 0;
    return count;
}

const char *lint_blamed(const struct lint_rule *rule)
{
    return rule->blames_client ? "client" : "server";
}

int lint_each(struct lint_view *v, enum lint_id rule,
              int (*print)(void *ctx, const struct lint_shown *shown, sqlite3_stmt *stmt,
                           struct err *err),
              void *ctx, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(v->db, select_operation, &stmt, err);

    for (uint32_t i = 0; result == 0 && i < v->shown_count; i++) {
        if (v->shown[i].rule != rule)
            continue;
        sqlite3_bind_int64(stmt, 1, v->shown[i].operation);
        result = sql_row(stmt, err);
        if (result > 0)
            result = print(ctx, &v->shown[i], stmt, err);
        sqlite3_reset(stmt);
    }
    return sql_end(stmt, result, err);
}

int64_t lint_frame_of(struct lint_view *v, int64_t operation, struct err *err)
{
    char sql[128];
    int64_t frame;

    snprintf(sql, sizeof(sql),
             "SELECT ifnull(reply_frame, call_frame) FROM operation WHERE id = %" PRId64,
             operation);
    return sql_number(v->db, sql, 0, &frame, err) < 0 ? -1 : frame;
}

static void print_frames(sqlite3_stmt *stmt)
{
    static const char *const names[] = { "call", "reply" };

    for (int i = 0; i < 2; i++)
        if (sqlite3_column_type(stmt, LINT_CALL_FRAME + i) != SQLITE_NULL)
            printf("%s%s %lld", i ? ", " : "", names[i],
                   (long long)sqlite3_column_int64(stmt, LINT_CALL_FRAME + i));
}

static int print_text(void *ctx, const struct lint_shown *s, sqlite3_stmt *stmt, struct err *err)
{
    struct lint_view *v = ctx;
    const char *procedure = sql_column_text(stmt, LINT_PROCEDURE);
    const char *path = sql_column_text(stmt, LINT_PATH);
    int64_t source = sqlite3_column_int64(stmt, LINT_SOURCE);
    char time[VALUE_TEXT_MAX];

    fputs("    ", stdout);
    if (sqlite3_column_type(stmt, LINT_TIME) != SQLITE_NULL)
        printf("%s, ", time_text(sqlite3_column_int64(stmt, LINT_TIME), time));
    if (source > 1)
        printf("source %lld, ", (long long)source);
    print_frames(stmt);
    printf(": %s ", procedure ? procedure : "-");
    escape_print(stdout, path ? path : "-");
    printf(": %s", s->text);
    if (s->earlier) {
        int64_t frame = lint_frame_of(v, s->earlier, err);

        if (frame < 0)
            return -err->code;
        printf(" (frame %" PRId64 ")", frame);
    }
    putchar('\n');
    return 0;
}

static void print_rule(const struct lint_rule *rule, uint64_t found)
{
    bool colour = colour_is_wanted(stdout);
    char count[VALUE_TEXT_MAX];

    colour_put(stdout, colour, COLOUR_HEAD, rule->name);
    fputs(": ", stdout);
    colour_put(stdout, colour && rule->level == LINT_ERROR, COLOUR_BAD,
               lint_level_name(rule->level));
    printf(", %s, %s: %s\n  %s\n", lint_blamed(rule), rule->source, count_text(found, count),
           rule->text);
}

static void print_levels(uint64_t errors, uint64_t suspects, uint64_t notes)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX];

    printf("%s error%s, %s suspect%s, %s note%s\n", count_text(errors, a), errors == 1 ? "" : "s",
           count_text(suspects, b), suspects == 1 ? "" : "s", count_text(notes, c),
           notes == 1 ? "" : "s");
}

static void print_some(const char *what, uint64_t count)
{
    char text[VALUE_TEXT_MAX];

    if (count)
        printf("%s: %s\n", what, count_text(count, text));
}

/* What was judged, and what was not. */
static void print_counts(const struct lint_view *v)
{
    const struct lint_counts *counts = &v->counts;
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX];

    print_some("operations of other programs, such as MOUNT and NFSACL, which were not judged",
               v->others);
    print_some("operations without a reply", counts->unanswered);
    print_some("not judged, because the call was not captured or is of another version",
               counts->unknown);
    print_some("gaps in the captures, which may hide changes", (uint64_t)v->gaps);
    printf("contents: %s of %s READs were compared with WRITEs, %s with earlier READs%s\n",
           count_text(counts->compared, a), count_text(counts->reads, b),
           count_text(counts->read_again, c),
           counts->reads && !counts->with_blocks
               ? ", only those of the same ranges: ingest with --block-digests to compare others"
               : "");
    printf("calls that change something and were sent again: %s%s\n",
           count_text(counts->sent_again, a),
           counts->sent_again
               ? ""
               : ", so the trace does not show if the duplicate request cache works");
    printf("restarts of servers, by new write verifiers: %s%s\n",
           count_text(counts->new_verifiers, a),
           counts->new_verifiers ? "" : ", so the trace does not show if stable data survive one");
    print_some("contradictions that restarts of the server explain", counts->excused);
    print_some("contradictions that were not judged for lack of room or of a verifier",
               counts->undecided);
    print_some("objects forgotten for lack of room", counts->objects_forgotten);
    print_some("verifiers not judged for lack of room", counts->verifiers_ignored);
}

static int text_of_level(struct lint_view *v, enum lint_level level, struct err *err)
{
    char a[VALUE_TEXT_MAX];

    for (int i = 0; i < LINT_RULES; i++) {
        const struct lint_rule *rule = &v->rules->rule[i];

        if (!v->found[i] || rule->level != level)
            continue;
        print_rule(rule, v->found[i]);
        if (lint_each(v, (enum lint_id)i, print_text, v, err) < 0)
            return -err->code;
        if (v->found[i] > v->top)
            printf("    and %s more\n", count_text(v->found[i] - v->top, a));
        putchar('\n');
    }
    return 0;
}

int lint_text(struct lint_view *v, struct err *err)
{
    char a[VALUE_TEXT_MAX];

    for (enum lint_level level = LINT_ERROR; level <= LINT_NOTE; level++)
        if (text_of_level(v, level, err) < 0)
            return -err->code;
    printf("%s operation%s of NFSv3: ", count_text(v->counts.operations, a),
           v->counts.operations == 1 ? "" : "s");
    print_levels(lint_view_level(v, LINT_ERROR), lint_view_level(v, LINT_SUSPECT),
                 lint_view_level(v, LINT_NOTE));
    for (uint32_t i = 0; i < v->host_count; i++) {
        const struct lint_host *h = &v->hosts[i];

        printf("  %s %s: ", h->is_client ? "client" : "server", h->address);
        print_levels(h->found[LINT_ERROR], h->found[LINT_SUSPECT], h->found[LINT_NOTE]);
    }
    if (lint_view_level(v, LINT_SUSPECT))
        puts("a suspect stands unless something that the trace does not show, such as another "
             "client,"
             " changed the object");
    print_counts(v);
    return 0;
}

struct json_view {
    struct lint_view *view;
    struct json *json;
};

static void json_column(struct json *j, const char *key, sqlite3_stmt *stmt, int column)
{
    if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
        json_null(j, key);
    else
        json_i64(j, key, sqlite3_column_int64(stmt, column));
}

static int print_json(void *ctx, const struct lint_shown *s, sqlite3_stmt *stmt, struct err *err)
{
    const struct json_view *jv = ctx;
    struct json *j = jv->json;
    int64_t frame = s->earlier ? lint_frame_of(jv->view, s->earlier, err) : 0;

    if (frame < 0)
        return -err->code;
    json_object(j, NULL);
    json_i64(j, "operation", s->operation);
    json_text(j, "procedure_name", sql_column_text(stmt, LINT_PROCEDURE));
    json_text(j, "path", sql_column_text(stmt, LINT_PATH));
    json_text(j, "client", sql_column_text(stmt, LINT_CLIENT));
    json_column(j, "time", stmt, LINT_TIME);
    json_column(j, "source", stmt, LINT_SOURCE);
    json_column(j, "call_frame", stmt, LINT_CALL_FRAME);
    json_column(j, "reply_frame", stmt, LINT_REPLY_FRAME);
    json_text(j, "text", s->text);
    if (s->earlier) {
        json_i64(j, "earlier_operation", s->earlier);
        json_i64(j, "earlier_frame", frame);
    }
    json_object_end(j);
    return 0;
}

static int json_rule(const struct json_view *jv, enum lint_id id, struct err *err)
{
    struct lint_view *v = jv->view;
    const struct lint_rule *rule = &v->rules->rule[id];

    json_object(jv->json, NULL);
    json_text(jv->json, "rule", rule->name);
    json_text(jv->json, "level", lint_level_name(rule->level));
    json_text(jv->json, "blames", lint_blamed(rule));
    json_text(jv->json, "rfc", rule->source);
    json_text(jv->json, "text", rule->text);
    json_u64(jv->json, "count", v->found[id]);
    json_array(jv->json, "shown");
    if (lint_each(v, id, print_json, (void *)jv, err) < 0)
        return -err->code;
    json_array_end(jv->json);
    json_object_end(jv->json);
    return 0;
}

int lint_json(struct lint_view *v, struct err *err)
{
    struct json j = { .out = stdout, .indented = true };
    const struct json_view jv = { v, &j };

    json_object(&j, NULL);
    json_file(&j, "database", v->name);
    json_u64(&j, "operations", v->counts.operations);
    json_u64(&j, "unanswered", v->counts.unanswered);
    json_u64(&j, "unknown", v->counts.unknown);
    json_u64(&j, "other_programs", v->others);
    json_i64(&j, "gaps", v->gaps);
    json_u64(&j, "objects_forgotten", v->counts.objects_forgotten);
    json_u64(&j, "verifiers_ignored", v->counts.verifiers_ignored);
    json_u64(&j, "new_verifiers", v->counts.new_verifiers);
    json_u64(&j, "sent_again", v->counts.sent_again);
    json_u64(&j, "reads", v->counts.reads);
    json_u64(&j, "reads_compared", v->counts.compared);
    json_u64(&j, "reads_compared_with_reads", v->counts.read_again);
    json_u64(&j, "reads_with_blocks", v->counts.with_blocks);
    json_u64(&j, "excused", v->counts.excused);
    json_u64(&j, "undecided", v->counts.undecided);
    json_u64(&j, "errors", lint_view_level(v, LINT_ERROR));
    json_u64(&j, "suspects", lint_view_level(v, LINT_SUSPECT));
    json_u64(&j, "notes", lint_view_level(v, LINT_NOTE));
    json_array(&j, "hosts");
    for (uint32_t i = 0; i < v->host_count; i++) {
        const struct lint_host *h = &v->hosts[i];

        json_object(&j, NULL);
        json_text(&j, "role", h->is_client ? "client" : "server");
        json_text(&j, "address", h->address);
        json_u64(&j, "errors", h->found[LINT_ERROR]);
        json_u64(&j, "suspects", h->found[LINT_SUSPECT]);
        json_u64(&j, "notes", h->found[LINT_NOTE]);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_array(&j, "rules");
    for (int i = 0; i < LINT_RULES; i++)
        if (v->found[i] && json_rule(&jv, (enum lint_id)i, err) < 0)
            return -err->code;
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    return j.failed ? err_memory(err, "findings") : 0;
}
