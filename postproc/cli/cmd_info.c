/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_info.c
 *
 * "nfsdigest info": the queries of a summary, and their rows as text and as JSON.  A capture or a
 * stream of records goes into a private database first.  Tables by procedure, client and path are
 * operation_groups.h's.  The contract of subcommands is in cli.h.
 */
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/cli.h"
#include "ingest/ingest.h"
#include "show/args.h"
#include "store/operation_groups.h"
#include "store/sql.h"
#include "store/sql_json.h"

#include <string.h>

static const char about[] =
    "Summarizes a trace database, a record stream or a capture.  Latencies are\n"
    "those of answered operations, from the frame that completed the call to the\n"
    "frame that completed the reply.  Percentiles are exact, by nearest rank.\n";

struct request {
    bool json;
    const char *by;
    uint64_t top;
};

/* Runs |sql| and puts each row as an object into an array. */
static int json_rows(sqlite3 *db, const char *name, const char *sql, struct json *j,
                     struct err *err)
{
    sqlite3_stmt *stmt;

    if (sql_prepare(db, sql, &stmt, err) < 0)
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

static const char sql_sources[] =
    "SELECT id, name, kind, state, note, size, digest, frames, operations, calls, replies,"
    " retransmissions, copies, problems, first_time, last_time FROM source ORDER BY id";
static const char sql_totals[] =
    "SELECT (SELECT count(*) FROM source) AS sources, (SELECT sum(frames) FROM source) AS frames,"
    " (SELECT min(first_time) FROM source) AS first_time,"
    " (SELECT max(last_time) FROM source) AS last_time,"
    " count(*) AS operations, count(call_frame) AS calls, count(reply_frame) AS replies,"
    " (SELECT count(*) FROM retransmission WHERE kind = 1) AS retransmitted_calls,"
    " (SELECT count(*) FROM retransmission WHERE kind = 2) AS further_replies,"
    " (SELECT count(*) FROM copy WHERE kind = 3) AS copies_of_calls,"
    " (SELECT count(*) FROM copy WHERE kind = 4) AS copies_of_replies,"
    " sum(call_flags & 1) AS partial_calls, sum(reply_flags & 1) AS partial_replies,"
    " (SELECT count(*) FROM object) AS objects, (SELECT count(*) FROM path) AS paths,"
    " (SELECT count(DISTINCT client) FROM flow) AS clients,"
    " (SELECT count(DISTINCT server) FROM flow) AS servers FROM operation";
static const char sql_pairing[] =
    "SELECT c.name AS pairing, count(o.id) AS operations FROM code c"
    " LEFT JOIN operation o ON o.pairing = c.value WHERE c.domain = 'pairing'"
    " GROUP BY c.value ORDER BY c.value";
static const char sql_problems[] =
    "SELECT c.name AS problem, count(*) AS count, sum(p.length) AS bytes FROM problem p"
    " JOIN code c ON c.domain = 'problem' AND c.value = p.kind GROUP BY p.kind ORDER BY p.kind";
static const char sql_counters[] =
    "SELECT name, sum(value) AS value FROM counter GROUP BY name ORDER BY name";

static int add_unopened(void *ctx, sqlite3_stmt *stmt, struct err *err)
{
    (void)err;
    unopened_add(ctx, sql_column_text(stmt, 0), (uint64_t)sqlite3_column_int64(stmt, 1), NULL);
    return 0;
}

/* Encapsulations among the counters that were not opened, because the captures were read without
 * Wireshark.
 */
static int read_unopened(sqlite3 *db, struct unopened *unopened, struct err *err)
{
    *unopened = (struct unopened){ 0 };
    return sql_each(db, sql_counters, add_unopened, unopened, err);
}

static void json_latency(struct json *j, const char *key, const struct group *x, int64_t latency)
{
    if (x->answered)
        json_i64(j, key, latency);
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

        json_break(j);
        json_object(j, NULL);
        json_text(j, group_names[by], x->label);
        if (by == BY_PROCEDURE) {
            json_i64(j, "program", x->key[0]);
            json_i64(j, "version", x->key[1]);
            json_i64(j, "number", x->key[2]);
        }
        json_u64(j, "operations", x->operations);
        json_u64(j, "errors", x->errors);
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

/* What names something: it may hold anything. */
static void print_line(const char *text)
{
    escape_print(stdout, text);
    putchar('\n');
}

static void text_groups(const struct groups *g, enum group_by by)
{
    static const char *const titles[] = { "Operations", "Clients", "Busiest files" };
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX], d[VALUE_TEXT_MAX];

    printf("\n%s\n%12s %9s %11s %11s %9s %9s %9s %9s  %s\n", titles[by], "operations", "errors",
           "read", "written", "p50", "p90", "p99", "max", group_names[by]);
    for (int i = 0; i < g->count; i++) {
        const struct group *x = &g->groups[i];

        printf("%12s %9s %11s %11s", count_text(x->operations, a), count_text(x->errors, b),
               x->read ? size_text(x->read, c) : "-", x->written ? size_text(x->written, d) : "-");
        if (x->answered)
            printf(" %9s %9s %9s %9s", duration_text(x->p50, a), duration_text(x->p90, b),
                   duration_text(x->p99, c), duration_text(x->max, d));
        else
            printf(" %9s %9s %9s %9s", "-", "-", "-", "-");
        fputs("  ", stdout);
        print_line(x->label);
    }
    if (g->left_out)
        printf("%12s more; --top shows more\n", count_text(g->left_out, a));
}

/* |j| NULL: as text. */
static int print_groups(sqlite3 *db, const struct request *request, struct json *j, struct err *err)
{
    for (int by = 0; by < BY_MAX; by++) {
        struct groups groups;

        if (request->by && strcmp(request->by, group_names[by]) != 0)
            continue;
        if (groups_read(db, (enum group_by)by, (int64_t)request->top, &groups, err) < 0)
            return -err->code;
        if (j)
            json_groups(&groups, (enum group_by)by, j);
        else if (groups.count)
            text_groups(&groups, (enum group_by)by);
        groups_free(&groups);
    }
    return 0;
}

static int print_json(sqlite3 *db, const char *name, const struct request *request, struct err *err)
{
    struct json j = { .out = stdout };
    struct unopened unopened;

    json_object(&j, NULL);
    json_name(&j, "database", (struct bytes){ (const uint8_t *)name, (uint32_t)strlen(name) });
    if (read_unopened(db, &unopened, err) < 0)
        return -err->code;
    if (!request->by && (json_rows(db, "sources", sql_sources, &j, err) < 0 ||
                         json_rows(db, "totals", sql_totals, &j, err) < 0 ||
                         json_rows(db, "pairing", sql_pairing, &j, err) < 0))
        return -err->code;
    if (print_groups(db, request, &j, err) < 0 ||
        (!request->by && (json_rows(db, "problems", sql_problems, &j, err) < 0 ||
                          json_rows(db, "counters", sql_counters, &j, err) < 0)))
        return -err->code;
    if (!request->by) {
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

/* Steps through |sql| with |print| for each row. */
static int each_row(sqlite3 *db, const char *sql, void (*print)(sqlite3_stmt *stmt),
                    const char *title, struct err *err)
{
    sqlite3_stmt *stmt;
    bool first = true;

    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    for (; sqlite3_step(stmt) == SQLITE_ROW; first = false) {
        if (first && title)
            printf("\n%s\n", title);
        print(stmt);
    }
    return sql_end(stmt, 0, err);
}

static const char *column_count_text(sqlite3_stmt *s, int column, char text[VALUE_TEXT_MAX])
{
    return count_text((uint64_t)sqlite3_column_int64(s, column), text);
}

static void text_source(sqlite3_stmt *s)
{
    char frames[VALUE_TEXT_MAX], operations[VALUE_TEXT_MAX], size[VALUE_TEXT_MAX];

    printf("%4lld  ", (long long)sqlite3_column_int64(s, 0));
    escape_print(stdout, (const char *)sqlite3_column_text(s, 1));
    printf(": %s, %s, %s frames, %s operations%s\n", (const char *)sqlite3_column_text(s, 2),
           size_text((uint64_t)sqlite3_column_int64(s, 5), size), column_count_text(s, 7, frames),
           column_count_text(s, 8, operations),
           strcmp((const char *)sqlite3_column_text(s, 3), "cut") == 0 ? ", CUT" : "");
    if (sqlite3_column_type(s, 4) != SQLITE_NULL) {
        fputs("      ", stdout);
        print_line((const char *)sqlite3_column_text(s, 4));
    }
}

static void text_totals(sqlite3_stmt *s)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX], d[VALUE_TEXT_MAX];
    int64_t first = sqlite3_column_int64(s, 2), last = sqlite3_column_int64(s, 3);

    if (sqlite3_column_type(s, 2) == SQLITE_NULL)
        puts("\nTime          not known: no packet has a time");
    else
        printf("\nTime          %s to %s UTC, %s\n", time_text(first, a), time_text(last, b),
               duration_text(last - first, c));
    printf("Frames        %s\n", column_count_text(s, 1, a));
    printf("Operations    %s by %s clients of %s servers on %s objects\n",
           column_count_text(s, 4, a), column_count_text(s, 15, b), column_count_text(s, 16, c),
           column_count_text(s, 13, d));
    printf("Calls         %s, and %s retransmissions; %s partial\n", column_count_text(s, 5, a),
           column_count_text(s, 7, b), column_count_text(s, 11, c));
    printf("Replies       %s, and %s retransmissions; %s partial\n", column_count_text(s, 6, a),
           column_count_text(s, 8, b), column_count_text(s, 12, c));
    if (sqlite3_column_int64(s, 9) || sqlite3_column_int64(s, 10))
        printf("Copies        %s of calls, %s of replies: datagrams captured more than once\n",
               column_count_text(s, 9, a), column_count_text(s, 10, b));
    printf("Pairing      ");
}

static void text_pairing(sqlite3_stmt *s)
{
    char text[VALUE_TEXT_MAX];

    printf(" %s %s%s", column_count_text(s, 1, text), (const char *)sqlite3_column_text(s, 0),
           strcmp((const char *)sqlite3_column_text(s, 0), "capture ended") == 0 ? "\n" : ",");
}

static void text_problem(sqlite3_stmt *s)
{
    char count[VALUE_TEXT_MAX], size[VALUE_TEXT_MAX];

    printf("%12s %-10s %s\n", column_count_text(s, 1, count),
           (const char *)sqlite3_column_text(s, 0),
           size_text((uint64_t)sqlite3_column_int64(s, 2), size));
}

static void text_counter(sqlite3_stmt *s)
{
    char text[VALUE_TEXT_MAX];

    printf("%12s %s\n", column_count_text(s, 1, text), (const char *)sqlite3_column_text(s, 0));
}

static int text_unopened(sqlite3 *db, struct err *err)
{
    struct unopened unopened;
    char text[VALUE_TEXT_MAX];

    if (read_unopened(db, &unopened, err) < 0)
        return -err->code;
    if (unopened.packets)
        printf("Encapsulated  %s packets that nfsdigest does not open itself: %s\n"
               "              To read them: tshark -q -z nfspair,out=-,decap=wireshark\n",
               count_text(unopened.packets, text), unopened.names);
    return 0;
}

static int print_text(sqlite3 *db, const char *name, const struct request *request, struct err *err)
{
    if (request->by)
        return print_groups(db, request, NULL, err);
    print_line(name);
    if (each_row(db, sql_sources, text_source, NULL, err) < 0 ||
        each_row(db, sql_totals, text_totals, NULL, err) < 0 ||
        each_row(db, sql_pairing, text_pairing, NULL, err) < 0 || text_unopened(db, err) < 0 ||
        print_groups(db, request, NULL, err) < 0 ||
        each_row(db, sql_problems, text_problem, "Losses and problems", err) < 0)
        return -err->code;
    return each_row(db, sql_counters, text_counter, "Counters", err);
}

/* A private database of |input|; *|cut|: as far as it could be read. */
static struct store *make_private(struct input *input, struct err *cut, struct err *err)
{
    static const struct engine_options defaults;
    struct store *store = store_open("", STORE_WRITE, err);
    struct ingest *ingest = store ? ingest_new(store, &defaults, &progress_line, err) : NULL;
    struct err note;
    int result = ingest ? ingest_input(ingest, input, true, &note, err) : -err->code;

    if (result == INGEST_CUT)
        *cut = *err;
    if (result >= 0)
        result = ingest_finish(ingest, err);
    ingest_free(ingest);
    progress_clear();
    if (result >= 0)
        return store;
    store_close(store);
    return NULL;
}

/* Opens the database, or makes a private one of |path|, which is read once: it may be a pipe. */
static struct store *open_or_make(const char *path, struct err *cut, struct err *err)
{
    struct input *input = input_open(path, true, err);
    struct store *store = NULL;
    const uint8_t *head;
    bool is_file;
    size_t len;

    if (!input)
        return NULL;
    len = input_head(input, &head);
    if (!store_is_database(head, len)) {
        store = make_private(input, cut, err);
        input_close(input);
        return store;
    }
    is_file = input_is_file(input) || store_no_stream(input_name(input), err) == 0;
    input_close(input);
    return is_file ? store_open(path, STORE_READ, err) : NULL;
}

static int parse_by(const struct request *request, struct err *err)
{
    for (int i = 0; request->by && i < BY_MAX; i++)
        if (strcmp(request->by, group_names[i]) == 0)
            return 0;
    return request->by ? err_set(err, ERR_USAGE, "--by takes procedure, client or path") : 0;
}

int cmd_info(int argc, char **argv, struct err *err)
{
    struct request request = { .top = 20 };
    const struct arg own[] = {
        { 'b', "by", "WHAT", "show only the table by procedure, client or path", set_text,
          &request.by },
        { 'n', "top", "N", "show N lines in each table (20)", set_count, &request.top },
        { 'j', "json", NULL, "print JSON; times and latencies in ns", set_flag, &request.json },
        { 0 },
    };
    const struct args args = {
        "nfsdigest info [OPTION...] DATABASE|FILE", about, own, NULL, NULL, 1, "one file"
    };
    struct err cut = { 0 };
    struct store *store;
    int first, result;

    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (parse_by(&request, err) < 0)
        return -err->code;
    if (request.top > INT32_MAX)
        request.top = INT32_MAX;
    store = open_or_make(argv[first], &cut, err);
    if (!store)
        return -err->code;
    result = request.json ? print_json(store_db(store), argv[first], &request, err)
                          : print_text(store_db(store), argv[first], &request, err);
    store_close(store);
    if (result == 0 && cut.code) {
        *err = cut;
        result = -cut.code;
    }
    return result;
}
