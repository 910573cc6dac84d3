/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/info_text.c
 *
 * The summary of a trace for people.  The contract is in info_print.h.
 */
#include "base/escape.h"
#include "base/values.h"
#include "cli/filter_args.h"
#include "cli/info_print_parts.h"
#include "store/sql.h"

#include <stdio.h>
#include <string.h>

/* What names something: it may hold anything. */
static void print_line(const char *text)
{
    escape_print(stdout, text);
    putchar('\n');
}

static void text_groups(const struct groups *g, enum group_by by)
{
    static const char *const titles[] = { "Operations", "Clients",
                                          "Users",      "Files and directories",
                                          "Phases",     "Exports",
                                          "Servers",    "Statuses other than OK" };
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX], d[VALUE_TEXT_MAX];
    char e[VALUE_TEXT_MAX];

    printf("\n%s\n", titles[by]);
    if (by == BY_PHASE)
        printf("%9s ", "lasted");
    printf("%12s %9s %7s %11s %11s %9s %9s %9s %9s  ", "operations", "errors", "resent", "read",
           "written", "p50", "p90", "p99", "max");
    printf(by == BY_STATUS ? "%-22s procedure\n" : "%s\n", group_names[by]);
    for (int i = 0; i < g->count; i++) {
        const struct group *x = &g->groups[i];

        if (by == BY_PHASE)
            printf("%9s ", x->times ? duration_text(x->lasted, a) : "-");
        printf("%12s %9s %7s %11s %11s", count_text(x->operations, a), count_text(x->errors, b),
               count_text(x->resent, e), x->read ? size_text(x->read, c) : "-",
               x->written ? size_text(x->written, d) : "-");
        if (x->answered)
            printf(" %9s %9s %9s %9s", duration_text(x->p50, a), duration_text(x->p90, b),
                   duration_text(x->p99, c), duration_text(x->max, d));
        else
            printf(" %9s %9s %9s %9s", "-", "-", "-", "-");
        fputs("  ", stdout);
        if (x->detail)
            printf("%-22s %s\n", x->label, x->detail);
        else
            print_line(x->label);
    }
    if (g->left_out)
        printf("%12s more; --top shows more\n", count_text(g->left_out, a));
}

static void text_tables(const struct info_view *view)
{
    for (int by = 0; by < BY_MAX; by++)
        if (view->groups.by[by].count)
            text_groups(&view->groups.by[by], (enum group_by)by);
}

/* Steps through |sql| with |print| for each row. */
static int each_row(const struct info_view *view, const char *sql,
                    void (*print)(sqlite3_stmt *stmt), const char *title, struct err *err)
{
    sqlite3_stmt *stmt;
    bool first = true;

    if (info_prepare(view, sql, &stmt, err) < 0)
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
    printf("Operations    %s by %s client%s of %s server%s on %s objects\n",
           column_count_text(s, 4, a), column_count_text(s, 15, b),
           sqlite3_column_int64(s, 15) == 1 ? "" : "s", column_count_text(s, 16, c),
           sqlite3_column_int64(s, 16) == 1 ? "" : "s", column_count_text(s, 13, d));
    printf("Calls         %s, and %s retransmissions; %s partial\n", column_count_text(s, 5, a),
           column_count_text(s, 7, b), column_count_text(s, 11, c));
    printf("Replies       %s, and %s retransmissions; %s partial\n", column_count_text(s, 6, a),
           column_count_text(s, 8, b), column_count_text(s, 12, c));
    if (sqlite3_column_int64(s, 9) || sqlite3_column_int64(s, 10))
        printf("Copies        %s of calls, %s of replies: datagrams captured more than once\n",
               column_count_text(s, 9, a), column_count_text(s, 10, b));
}

static void text_server(sqlite3_stmt *s)
{
    printf("%-13s %s, port%s %s\n", sqlite3_column_int64(s, 0) == 1 ? "Servers" : "",
           sql_column_text(s, 1), strchr(sql_column_text(s, 2), ',') ? "s" : "",
           sql_column_text(s, 2));
}

static void text_pairing(sqlite3_stmt *s)
{
    char text[VALUE_TEXT_MAX];

    printf(" %s %s%s", column_count_text(s, 1, text), (const char *)sqlite3_column_text(s, 0),
           strcmp((const char *)sqlite3_column_text(s, 0), "capture ended") == 0 ? "\n" : ",");
}

static int say_pairing(const struct info_view *view, struct err *err)
{
    printf("Pairing      ");
    return each_row(view, info_pairing, text_pairing, NULL, err);
}

static void text_phase(sqlite3_stmt *s)
{
    char start[VALUE_TEXT_MAX], lasted[VALUE_TEXT_MAX];

    printf("  %s %12s  %s  ", time_text(sqlite3_column_int64(s, 2), start),
           sqlite3_column_type(s, 3) == SQLITE_NULL
               ? "to the end"
               : duration_text((int64_t)((uint64_t)sqlite3_column_int64(s, 3) -
                                         (uint64_t)sqlite3_column_int64(s, 2)),
                               lasted),
           (const char *)sqlite3_column_text(s, 1));
    print_line((const char *)sqlite3_column_text(s, 0));
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

static int text_unopened(const struct info_view *view, struct err *err)
{
    struct unopened unopened;
    char text[VALUE_TEXT_MAX];

    if (info_unopened(view->db, &unopened, err) < 0)
        return -err->code;
    if (unopened.packets)
        printf("Encapsulated  %s packets that nfsdigest does not open itself: %s\n"
               "              To read them: tshark -q -z nfspair,out=-,decap=wireshark\n",
               count_text(unopened.packets, text), unopened.names);
    return 0;
}

/* Only what holds for operations that match the filter. */
static int text_matching(const struct info_view *view, struct err *err)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX];
    const struct groups_totals *t = &view->groups.totals;
    struct info_matching m;

    if (info_matching(view, &m, err) < 0)
        return -err->code;
    print_line(view->name);
    if (t->timed)
        printf("Time          %s to %s UTC, %s\n", time_text(t->first_time, a),
               time_text(t->last_time, b), duration_text(t->last_time - t->first_time, c));
    printf("Operations    %s of %s match\n", count_text(t->operations, a),
           count_text((uint64_t)m.of, b));
    if (!t->operations)
        return filter_say_none(view->db, view->filter, err);
    printf("Calls         %s, and %s retransmissions; %s partial\n", count_text(t->calls, a),
           count_text((uint64_t)m.retransmitted_calls, b), count_text(t->partial_calls, c));
    printf("Replies       %s, and %s retransmissions; %s partial\n", count_text(t->replies, a),
           count_text((uint64_t)m.further_replies, b), count_text(t->partial_replies, c));
    if (say_pairing(view, err) < 0)
        return -err->code;
    text_tables(view);
    return 0;
}

int info_text(const struct info_view *view, struct err *err)
{
    if (view->only_tables) {
        text_tables(view);
        return view->filter && !view->groups.totals.operations
                   ? filter_say_none(view->db, view->filter, err)
                   : 0;
    }
    if (view->filter)
        return text_matching(view, err);
    print_line(view->name);
    if (each_row(view, info_sources, text_source, "Sources", err) < 0 ||
        each_row(view, info_totals, text_totals, NULL, err) < 0 ||
        each_row(view, info_servers, text_server, NULL, err) < 0 || say_pairing(view, err) < 0 ||
        text_unopened(view, err) < 0)
        return -err->code;
    text_tables(view);
    if (each_row(view, info_phases, text_phase, "Phases (--by phase shows what happened in them)",
                 err) < 0 ||
        each_row(view, info_problems, text_problem,
                 "Losses and problems: how many, and how many bytes they took", err) < 0)
        return -err->code;
    return each_row(view, info_counters, text_counter, "Counters", err);
}
