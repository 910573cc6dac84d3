/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/compare_report_text.c
 *
 * The report of a comparison as text: for each part a query, and a function that prints one of its
 * rows.  JSON is in compare_report_json.c.  For cmd_compare.c.  The contract is in
 * compare_report.h.
 */
#include "base/escape.h"
#include "base/values.h"
#include "compare/verdict.h"
#include "report/compare_report.h"
#include "show/colour.h"
#include "store/sql.h"

#include <string.h>

enum { UNCERTAIN_SHOWN = 20 };

struct printer {
    sqlite3 *db;
    FILE *out;
    struct err *err;
    bool colour;
    int64_t cause; /* of the line before */
    char reason[512];
};

static const char *column(sqlite3_stmt *stmt, int at)
{
    const char *text = (const char *)sqlite3_column_text(stmt, at);

    return text ? text : "-";
}

static const char *count(sqlite3_stmt *stmt, int at, char text[VALUE_TEXT_MAX])
{
    return count_text((uint64_t)sqlite3_column_int64(stmt, at), text);
}

/* Shows the rows of |sql|, with |bind| as ?1.  |show| prints a row; |head| is printed before the
 * first. */
static int show_rows(struct printer *p, const char *sql, int64_t bind, const char *head,
                     void (*show)(struct printer *p, sqlite3_stmt *stmt))
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(p->db, sql, &stmt, p->err) < 0)
        return -p->err->code;
    if (sqlite3_bind_parameter_count(stmt))
        sqlite3_bind_int64(stmt, 1, bind);
    while ((result = sql_row(stmt, p->err)) > 0) {
        if (head)
            fputs(head, p->out);
        head = NULL;
        show(p, stmt);
    }
    sqlite3_finalize(stmt);
    return result;
}

static void show_side(struct printer *p, sqlite3_stmt *stmt)
{
    char n[VALUE_TEXT_MAX], d[VALUE_TEXT_MAX], g[VALUE_TEXT_MAX];

    fprintf(p->out, "%-5s %s%s%s: %s operations", column(stmt, 0), column(stmt, 1),
            sqlite3_column_type(stmt, 2) == SQLITE_NULL ? "" : ", server ",
            sqlite3_column_type(stmt, 2) == SQLITE_NULL ? "" : column(stmt, 2), count(stmt, 3, n));
    if (sqlite3_column_type(stmt, 4) != SQLITE_NULL)
        fprintf(p->out, "; server clock %s%s against the capture clock; granularity of times %s",
                sqlite3_column_int64(stmt, 4) < 0 ? "" : "+",
                duration_text(sqlite3_column_int64(stmt, 4), d),
                duration_text(sqlite3_column_int64(stmt, 5), g));
    fputc('\n', p->out);
}

static void show_totals(struct printer *p, sqlite3_stmt *stmt)
{
    char n[6][VALUE_TEXT_MAX];

    fprintf(p->out,
            "%s aligned operations on %s matched objects; operations on one side only: ref %s,"
            " sut %s; continued listings: ref %s, sut %s\n",
            count(stmt, 0, n[0]), count(stmt, 1, n[1]), count(stmt, 2, n[2]), count(stmt, 3, n[3]),
            count(stmt, 7, n[4]), count(stmt, 8, n[5]));
    fprintf(p->out,
            "%s discrepancies in %s groups, of %s causes; %s uncertain; %s comparisons withheld",
            count(stmt, 4, n[4]), count(stmt, 5, n[5]), count(stmt, 10, n[2]), count(stmt, 9, n[1]),
            count(stmt, 6, n[0]));
    if (sqlite3_column_int64(stmt, 11))
        fprintf(p->out, "; %s accepted by rules for groups", count(stmt, 11, n[3]));
    fputc('\n', p->out);
}

static const char select_totals[] =
    "SELECT (SELECT count(*) FROM alignment WHERE kind = 1), (SELECT count(*) FROM object),"
    " (SELECT count(*) FROM alignment WHERE kind = 2 AND ref IS NOT NULL),"
    " (SELECT count(*) FROM alignment WHERE kind = 2 AND sut IS NOT NULL),"
    " (SELECT ifnull(sum(count), 0) FROM discrepancy_group), (SELECT count(*) FROM "
    "discrepancy_group),"
    " (SELECT ifnull(sum(count), 0) FROM withheld),"
    " (SELECT count(*) FROM alignment WHERE kind = 3 AND ref IS NOT NULL),"
    " (SELECT count(*) FROM alignment WHERE kind = 3 AND sut IS NOT NULL),"
    " (SELECT value + 0 FROM meta WHERE key = 'uncertain'),"
    " (SELECT count(*) FROM cause), (SELECT value + 0 FROM meta WHERE key = 'accepted')";

static int show_verdict(struct printer *p)
{
    int verdict = verdict_of(p->db, p->err);

    if (verdict >= 0)
        colour_put(p->out,
                   p->colour &&
                       (verdict_is_finding((enum verdict)verdict) || verdict == VERDICT_ALIKE),
                   verdict == VERDICT_ALIKE ? COLOUR_GOOD : COLOUR_BAD,
                   verdict_text((enum verdict)verdict));
    fputc('\n', p->out);
    if (verdict >= 0 && verdict_is_finding((enum verdict)verdict))
        fputs("This does not say which one is wrong; \"nfsdigest lint\" judges each by itself.\n",
              p->out);
    return verdict;
}

static void show_cause(struct printer *p, sqlite3_stmt *stmt)
{
    char n[VALUE_TEXT_MAX], first[VALUE_TEXT_MAX], last[VALUE_TEXT_MAX], severity[32];
    int64_t group = sqlite3_column_int64(stmt, 5), groups = sqlite3_column_int64(stmt, 4);

    snprintf(severity, sizeof(severity), "%-12s", column(stmt, 2));
    fprintf(p->out, "%4lld %8s  ", (long long)sqlite3_column_int64(stmt, 0), count(stmt, 3, n));
    colour_put(p->out, p->colour && strcmp(column(stmt, 2), "outcome") == 0, COLOUR_BAD, severity);
    fputc(' ', p->out);
    if (sqlite3_column_type(stmt, 7) != SQLITE_NULL)
        fprintf(p->out, "%s: ", column(stmt, 7));
    colour_put(p->out, p->colour, COLOUR_HEAD, column(stmt, 1));
    if (sqlite3_column_int64(stmt, 8))
        fprintf(p->out, " [%s]",
                sqlite3_column_int64(stmt, 8) == groups ? "noise" : "partly noise");
    fprintf(p->out, "\n%4s %8s  %-12s group%s %s", "", "", "", groups > 1 ? "s" : "",
            count_text((uint64_t)group, first));
    if (groups > 1)
        fprintf(p->out, " to %s", count_text((uint64_t)(group + groups - 1), last));
    if (sqlite3_column_type(stmt, 6) != SQLITE_NULL)
        fprintf(p->out, ": %s", column(stmt, 6));
    fputc('\n', p->out);
}

/* A line of a group, below the heading of its cause.  A reason is not said twice. */
static void show_line(struct printer *p, sqlite3_stmt *stmt)
{
    char n[VALUE_TEXT_MAX];

    if (sqlite3_column_int64(stmt, 7) != p->cause) {
        p->cause = sqlite3_column_int64(stmt, 7);
        p->reason[0] = '\0';
        fprintf(p->out, "Cause %lld: ", (long long)p->cause);
        colour_put(p->out, p->colour, COLOUR_HEAD, column(stmt, 8));
        fputc('\n', p->out);
    }
    fprintf(p->out, "%4lld %8s  %-20s %-44s %s%s\n", (long long)sqlite3_column_int64(stmt, 0),
            count(stmt, 1, n), column(stmt, 2), column(stmt, 3), column(stmt, 4),
            sqlite3_column_int(stmt, 6) ? " [noise]" : "");
    if (strcmp(p->reason, column(stmt, 5)) != 0)
        fprintf(p->out, "%4s %8s  %s\n", "", "", column(stmt, 5));
    snprintf(p->reason, sizeof(p->reason), "%s", column(stmt, 5));
}

static void show_example(struct printer *p, sqlite3_stmt *stmt)
{
    fprintf(p->out, "      %s%s%s", column(stmt, 1),
            sqlite3_column_type(stmt, 2) == SQLITE_NULL ? "" : " entry ",
            sqlite3_column_type(stmt, 2) == SQLITE_NULL ? "" : column(stmt, 2));
    fprintf(p->out, "\n        ref %s (frame %s of %s)\n        sut %s (frame %s of %s)\n",
            column(stmt, 3), column(stmt, 4), column(stmt, 5), column(stmt, 6), column(stmt, 7),
            column(stmt, 8));
}

/* ?1: the group */
static const char select_examples[] =
    "SELECT d.id, ifnull(ifnull(r.path, s.path) || CASE WHEN o.path <> ifnull(r.path, s.path) THEN"
    " ', of ' || o.path ELSE '' END, ifnull(o.path, '')), d.element, ifnull(d.ref_text, '-'), "
    "ifnull(r.reply_frame, "
    "r.call_frame),"
    " (SELECT name FROM source q WHERE q.side = 1 AND q.id = ifnull(r.reply_source,"
    "  r.call_source)), ifnull(d.sut_text, '-'), ifnull(s.reply_frame, s.call_frame),"
    " (SELECT name FROM source q WHERE q.side = 2 AND q.id = ifnull(s.reply_source,"
    "  s.call_source))"
    " FROM (SELECT DISTINCT example, discrepancy FROM step WHERE discrepancy_group = ?1) x"
    " JOIN discrepancy d ON d.id = x.discrepancy LEFT JOIN object o ON o.id = d.object"
    " LEFT JOIN operation r ON r.side = 1 AND r.id = d.ref"
    " LEFT JOIN operation s ON s.side = 2 AND s.id = d.sut ORDER BY x.example";

static void show_step(struct printer *p, sqlite3_stmt *stmt)
{
    fprintf(p->out, "        %2lld. %-18s %-40s %s, %s (frames %s, %s)\n",
            (long long)sqlite3_column_int64(stmt, 0), column(stmt, 1), column(stmt, 2),
            column(stmt, 3), column(stmt, 4), column(stmt, 5), column(stmt, 6));
}

static const char select_steps[] =
    "SELECT x.number, ifnull(r.name, s.name), ifnull(r.path, s.path), ifnull(r.status, '-'),"
    " ifnull(s.status, '-'), ifnull(r.call_frame, '-'), ifnull(s.call_frame, '-') FROM step x"
    " LEFT JOIN operation r ON r.side = 1 AND r.id = x.ref"
    " LEFT JOIN operation s ON s.side = 2 AND s.id = x.sut"
    " WHERE x.discrepancy_group = ?1 AND x.example = 1 ORDER BY x.number";

#define SELECT_GROUPS                                                                              \
    "SELECT c.id, c.count, c.operation, c.field, c.difference, c.reason, c.compared,"              \
    " k.text, (SELECT l.text || ', ' || f.name || ' line ' || l.line FROM rule l  JOIN"            \
    " rule_file f ON f.id = l.file WHERE l.id = c.rule), c.noise_count, c.noise_compared,"         \
    " EXISTS (SELECT 1 FROM side WHERE id = 3) FROM discrepancy_group c JOIN code k ON"            \
    " k.domain = 'kind' AND k.value = c.kind"

static int show_groups(struct printer *p, const struct report_options *o)
{
    char limited[sizeof(select_examples) + 24];
    sqlite3_stmt *stmt;
    int result;

    snprintf(limited, sizeof(limited), "%s LIMIT %u", select_examples, o->examples);
    if (sql_prepare(p->db,
                    o->baseline ? SELECT_GROUPS
                        " WHERE c.id IN (SELECT id FROM temp.baseline_new) ORDER BY c.id"
                                : SELECT_GROUPS " ORDER BY c.id",
                    &stmt, p->err) < 0)
        return -p->err->code;
    while ((result = sql_row(stmt, p->err)) > 0) {
        int64_t id = sqlite3_column_int64(stmt, 0);

        fprintf(p->out, "\n%lld. %s %s: %s (%s of %s)\n   %s.\n   rule %s\n", (long long)id,
                column(stmt, 2), column(stmt, 3), column(stmt, 4), column(stmt, 1), column(stmt, 6),
                column(stmt, 5), column(stmt, 8));
        if (sqlite3_column_type(stmt, 9) != SQLITE_NULL)
            fprintf(p->out, "   between two runs of the reference: %s of %s comparisons\n",
                    column(stmt, 9), column(stmt, 10));
        else if (sqlite3_column_int(stmt, 11))
            fputs("   between two runs of the reference: not known, the rules of that run did not "
                  "find it\n",
                  p->out);
        if (show_rows(p, limited, id, "   examples:\n", show_example) < 0 ||
            show_rows(p, select_steps, id,
                      "   operations that lead to the first example (ref, sut):\n",
                      show_step) < 0) {
            sqlite3_finalize(stmt);
            return -p->err->code;
        }
    }
    sqlite3_finalize(stmt);
    return result;
}

static void show_doubt(struct printer *p, sqlite3_stmt *stmt)
{
    fprintf(p->out, "  %s %s %s\n      ref %s (frame %s), sut %s (frame %s): %s\n", column(stmt, 0),
            column(stmt, 1), column(stmt, 2), column(stmt, 3), column(stmt, 4), column(stmt, 5),
            column(stmt, 6), column(stmt, 7));
}

/* Lists uncertain differences one by one. */
static int show_uncertain(struct printer *p)
{
    char n[VALUE_TEXT_MAX];
    int64_t all;

    if (sql_number(p->db, "SELECT value + 0 FROM meta WHERE key = 'uncertain'", 0, &all, p->err) <
            0 ||
        show_rows(p,
                  "SELECT operation, field, ifnull(path, ''), ref_text, ref_frame, sut_text,"
                  " sut_frame, reason FROM doubt"
                  " ORDER BY kind = 'status' DESC, kind = 'missing reply', id LIMIT ?1",
                  UNCERTAIN_SHOWN,
                  "\nUncertain differences: they may have another cause than the servers\n",
                  show_doubt) < 0)
        return -p->err->code;
    if (all > UNCERTAIN_SHOWN)
        fprintf(p->out, "  and %s more (--json, or view doubt of the result)\n",
                count_text((uint64_t)(all - UNCERTAIN_SHOWN), n));
    return 0;
}

static void show_count(struct printer *p, sqlite3_stmt *stmt)
{
    char n[VALUE_TEXT_MAX];

    fprintf(p->out, "%13s  %s: %s\n", count(stmt, 0, n), column(stmt, 1), column(stmt, 2));
}

static void show_one_sided(struct printer *p, sqlite3_stmt *stmt)
{
    fprintf(p->out, "  %s operation %s: %s (frame %s of %s): %s %s\n", column(stmt, 0),
            column(stmt, 1), column(stmt, 2), column(stmt, 3), column(stmt, 4), column(stmt, 5),
            column(stmt, 6));
}

static void show_performance(struct printer *p, sqlite3_stmt *stmt)
{
    char n[VALUE_TEXT_MAX], t[6][VALUE_TEXT_MAX];

    for (int i = 0; i < 6; i++)
        duration_text(sqlite3_column_int64(stmt, 2 + i), t[i]);
    fprintf(p->out, "%-20s %8s %9s %9s %9s %9s %9s %9s %7.2f\n", column(stmt, 0), count(stmt, 1, n),
            t[0], t[1], t[2], t[3], t[4], t[5], sqlite3_column_double(stmt, 8));
}

static void show_slow(struct printer *p, sqlite3_stmt *stmt)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    fprintf(p->out, "  %-18s %-40s ref %s (frame %s), sut %s (frame %s)\n", column(stmt, 0),
            column(stmt, 1), duration_text(sqlite3_column_int64(stmt, 2), a), column(stmt, 3),
            duration_text(sqlite3_column_int64(stmt, 4), b), column(stmt, 5));
}

static void show_phase_side(struct printer *p, sqlite3_stmt *stmt, int at)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], n[VALUE_TEXT_MAX];

    if (!sqlite3_column_int64(stmt, at))
        fprintf(p->out, " %9s %10s %9s", "-", "-", "-");
    else
        fprintf(p->out, " %9s %10s %9s", duration_text(sqlite3_column_int64(stmt, at + 1), a),
                count(stmt, at + 2, n), duration_text(sqlite3_column_int64(stmt, at + 3), b));
}

static void show_phase(struct printer *p, sqlite3_stmt *stmt)
{
    double ref = sqlite3_column_double(stmt, 2), sut = sqlite3_column_double(stmt, 6);
    char n[VALUE_TEXT_MAX];

    show_phase_side(p, stmt, 1);
    show_phase_side(p, stmt, 5);
    if (ref > 0 && sut > 0)
        fprintf(p->out, " %7.2f", sut / ref);
    else
        fprintf(p->out, " %7s", "-");
    fprintf(p->out, " %12s  ", count(stmt, 9, n));
    escape_print(p->out, column(stmt, 0));
    fputc('\n', p->out);
}

static int show_phases(struct printer *p)
{
    return show_rows(
        p,
        "SELECT name, ref_times, ref_lasted, ref_operations, ref_latency, sut_times,"
        " sut_lasted, sut_operations, sut_latency, discrepancies FROM phase ORDER BY id",
        0,
        "\nPhases, with the sums of latencies\n"
        "ref lasted operations latencies sut lasted operations latencies sut/ref"
        " discrepancies  phase\n",
        show_phase);
}

/* --- beside a baseline */

static void show_baseline(struct printer *p, sqlite3_stmt *stmt)
{
    char n[3][VALUE_TEXT_MAX];

    fprintf(p->out, "\nGroups that are new since %s: %s; unchanged: %s; gone: %s%s\n",
            column(stmt, 0), count(stmt, 2, n[0]), count(stmt, 4, n[1]), count(stmt, 3, n[2]),
            sqlite3_column_int(stmt, 1) ? "" : "; it was made under other rules");
    if (sqlite3_column_int(stmt, 5))
        fputs("In it, only one server answered some of the calls, too.\n", p->out);
}

static void show_state(struct printer *p, sqlite3_stmt *stmt)
{
    char n[VALUE_TEXT_MAX], was[VALUE_TEXT_MAX];

    fprintf(p->out, "%4s %8s  %-20s %-44s %s", column(stmt, 0), count(stmt, 1, n), column(stmt, 2),
            column(stmt, 3), column(stmt, 4));
    if (sqlite3_column_type(stmt, 5) != SQLITE_NULL)
        fprintf(p->out, "; %s before", count(stmt, 5, was));
    fputc('\n', p->out);
}

static int show_since(struct printer *p, const struct report_options *o)
{
    if (show_rows(p,
                  "SELECT database, same_rules, new, gone, unchanged, was_silent"
                  " FROM temp.baseline_totals",
                  0, NULL, show_baseline) < 0 ||
        show_rows(p,
                  "SELECT g.id, g.count, g.operation, g.field, g.difference, g.reason, g.is_noise,"
                  " c.id, c.title FROM discrepancy_group g LEFT JOIN cause c ON c.id = g.cause_id"
                  " WHERE g.id IN (SELECT id FROM temp.baseline_new) ORDER BY g.id",
                  0, "\nNew\n   #    count  operation            field and difference; reason\n",
                  show_line) < 0 ||
        show_rows(p,
                  "SELECT '', count, operation, field, difference, NULL FROM temp.baseline_gone"
                  " ORDER BY id",
                  0, "\nGone\n", show_state) < 0 ||
        show_rows(p,
                  "SELECT g.id, g.count, g.operation, g.field, g.difference,"
                  " CASE WHEN g.count <> u.was THEN u.was END FROM temp.baseline_unchanged u"
                  " JOIN discrepancy_group g ON g.id = u.id ORDER BY g.id",
                  0, "\nUnchanged\n", show_state) < 0)
        return -p->err->code;
    return o->examples ? show_groups(p, o) : 0;
}

int report_text(sqlite3 *result, const struct report_options *o, FILE *out, struct err *err)
{
    struct printer p = { .db = result, .out = out, .err = err, .colour = colour_is_wanted(out) };

    if (show_rows(&p,
                  "SELECT name, database, server, operations, clock_offset, granularity FROM side"
                  " ORDER BY id",
                  0, NULL, show_side) < 0 ||
        show_rows(&p, select_totals, 0, NULL, show_totals) < 0 || show_verdict(&p) < 0)
        return -err->code;
    if (o->baseline)
        return show_since(&p, o);
    if (o->phases)
        return show_phases(&p);
    if (show_rows(&p,
                  "SELECT id, title, severity, count, groups, first_group, procedures, name, noise"
                  " FROM causes ORDER BY id",
                  0, "\n   #    count  severity     cause; its groups\n", show_cause) < 0 ||
        show_rows(&p,
                  "SELECT g.id, g.count, g.operation, g.field, g.difference, g.reason, g.is_noise,"
                  " c.id, c.title FROM discrepancy_group g LEFT JOIN cause c ON c.id = g.cause_id"
                  " ORDER BY g.id",
                  0, "\n   #    count  operation            field and difference; reason\n",
                  show_line) < 0)
        return -err->code;
    if (o->examples && (show_groups(&p, o) < 0 || show_uncertain(&p) < 0))
        return -err->code;
    if (show_rows(&p,
                  "SELECT sum(w.count), c.name, c.text FROM withheld w JOIN code c ON c.domain ="
                  " 'withheld' AND c.value = w.reason GROUP BY w.reason ORDER BY 1 DESC",
                  0, "\nComparisons withheld\n", show_count) < 0 ||
        show_rows(&p,
                  "SELECT count(*), CASE WHEN a.ref IS NULL THEN 'sut' ELSE 'ref' END || ' only, '"
                  " || c.name, c.text FROM alignment a JOIN code c ON c.domain = 'reason'"
                  " AND c.value = a.reason WHERE a.kind = 2 GROUP BY a.reason, a.ref IS NULL"
                  " ORDER BY a.ref IS NULL, 1 DESC",
                  0, "\nOperations on one side only\n", show_count) < 0)
        return -err->code;
    if (o->one_sided &&
        show_rows(&p,
                  "SELECT side, operation, procedure, frame, (SELECT name FROM source q WHERE"
                  "  q.side = CASE o.side WHEN 'ref' THEN 1 ELSE 2 END AND q.id ="
                  "  o.source), reason, ifnull(path, '') FROM one_sided o"
                  " ORDER BY id",
                  0, NULL, show_one_sided) < 0)
        return -err->code;
    if (show_phases(&p) < 0 ||
        show_rows(
            &p,
            "SELECT operation, pairs, ref_p50, ref_p90, ref_p99, sut_p50, sut_p90, sut_p99,"
            " ratio FROM performance ORDER BY pairs DESC, program, version, procedure",
            0,
            "\nLatency of pairs            n   ref p50       p90       p99   sut p50       p90"
            "       p99  sut/ref\n",
            show_performance) < 0)
        return -err->code;
    return show_rows(
        &p,
        "SELECT r.name, ifnull(r.path, ''), w.ref_latency, r.call_frame, w.sut_latency,"
        " s.call_frame FROM slowest w JOIN operation r ON r.side = 1 AND r.id = w.ref"
        " JOIN operation s ON s.side = 2 AND s.id = w.sut ORDER BY w.rank LIMIT 5",
        0, "\nLargest differences in latency\n", show_slow);
}
