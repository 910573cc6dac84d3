/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/html.c
 *
 * The page from its head to its script: verdict and sides, what was not compared, fields and rules;
 * and the functions by which html_*.c print rows and columns.  Groups, examples and latencies are
 * theirs.  For cmd_report.c and cmd_compare.c.  The contract is in html.h, what the parts share in
 * html_parts.h.
 */
#include "base/values.h"
#include "compare/verdict.h"
#include "report/html.h"
#include "report/html_parts.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>

int64_t html_rows(struct html *h, const char *sql, int64_t a, int64_t b,
                  void (*show)(struct html *h, sqlite3_stmt *row))
{
    sqlite3_stmt *row;
    int64_t count = 0;
    int result = sql_prepare(h->db, sql, &row, h->err);

    if (result < 0)
        return result;
    if (sqlite3_bind_parameter_count(row) > 0)
        sqlite3_bind_int64(row, 1, a);
    if (sqlite3_bind_parameter_count(row) > 1)
        sqlite3_bind_int64(row, 2, b);
    while ((result = sql_row(row, h->err)) > 0 && !h->page.failed) {
        show(h, row);
        count++;
    }
    sqlite3_finalize(row);
    if (h->page.failed)
        return -h->err->code;
    return result < 0 ? result : count;
}

const char *html_column(sqlite3_stmt *row, int at)
{
    const char *text = (const char *)sqlite3_column_text(row, at);

    return text ? text : "";
}

void html_put_column(struct html *h, sqlite3_stmt *row, int at, const char *none)
{
    if (sqlite3_column_type(row, at) == SQLITE_NULL)
        page_put(&h->page, "%s", none);
    else
        page_text_cut(&h->page, html_column(row, at), HTML_TEXT_MAX);
}

void html_put_count(struct html *h, uint64_t n)
{
    char text[VALUE_TEXT_MAX];

    page_put(&h->page, "%s", count_text(n, text));
}

/* --- the head of the page */

static void put_duration(struct html *h, sqlite3_stmt *row, int at, bool sign)
{
    char text[VALUE_TEXT_MAX];
    int64_t ns = sqlite3_column_int64(row, at);

    if (sqlite3_column_type(row, at) == SQLITE_NULL)
        page_put(&h->page, "<span class=\"none\">not known</span>");
    else
        page_put(&h->page, "%s%s", sign && ns >= 0 ? "+" : "", duration_text(ns, text));
}

static void show_source(struct html *h, sqlite3_stmt *row)
{
    page_put(&h->page, "<code>");
    html_put_column(h, row, 0, "?");
    page_put(&h->page, "</code>, ");
    html_put_count(h, (uint64_t)sqlite3_column_int64(row, 1));
    page_put(&h->page, " frames<br>");
}

static void show_side(struct html *h, sqlite3_stmt *row)
{
    static const char *const names[] = { "?", "reference", "system under test",
                                         "second run of the reference" };
    int64_t side = sqlite3_column_int64(row, 0);
    char text[VALUE_TEXT_MAX];

    page_put(&h->page, "<tr><th scope=\"row\">%s</th><td class=\"t\"><code>",
             names[side > 0 && side < 4 ? side : 0]);
    html_put_column(h, row, 1, "?");
    page_put(&h->page, "</code></td><td class=\"t\">");
    html_put_column(h, row, 2, "<span class=\"none\">all servers</span>");
    page_put(&h->page, "</td><td class=\"t\">");
    html_rows(h, "SELECT name, frames FROM source WHERE side = ?1 ORDER BY id LIMIT 40", side, 0,
              show_source);
    page_put(&h->page, "</td><td>");
    html_put_count(h, (uint64_t)sqlite3_column_int64(row, 3));
    page_put(&h->page, "</td><td class=\"t\">");
    if (sqlite3_column_type(row, 7) != SQLITE_NULL)
        page_put(&h->page, "%s UTC", time_text(sqlite3_column_int64(row, 7), text));
    page_put(&h->page, "</td><td>");
    put_duration(h, row, 4, true);
    if (sqlite3_column_type(row, 5) != SQLITE_NULL) {
        page_put(&h->page, " ± ");
        put_duration(h, row, 5, false);
    }
    page_put(&h->page, "</td><td>");
    put_duration(h, row, 6, false);
    page_put(&h->page, "</td></tr>\n");
}

static void tile(struct html *h, const char *name, uint64_t n)
{
    page_put(&h->page, "<div><dt>%s</dt><dd>", name);
    html_put_count(h, n);
    page_put(&h->page, "</dd></div>\n");
}

static const char select_totals[] =
    "SELECT (SELECT count(*) FROM alignment WHERE kind = 1),"
    " (SELECT count(*) FROM object),"
    " (SELECT count(*) FROM alignment WHERE kind = 2 AND ref IS NOT NULL),"
    " (SELECT count(*) FROM alignment WHERE kind = 2 AND ref IS NULL),"
    " (SELECT count(*) FROM alignment WHERE kind = 3 AND ref IS NOT NULL),"
    " (SELECT count(*) FROM alignment WHERE kind = 3 AND ref IS NULL),"
    " (SELECT count(*) FROM cause),"
    " (SELECT count(*) FROM discrepancy_group),"
    " (SELECT ifnull(sum(count), 0) FROM discrepancy_group),"
    " (SELECT ifnull(sum(count), 0) FROM discrepancy_group WHERE is_noise),"
    " (SELECT value + 0 FROM meta WHERE key = 'accepted'),"
    " (SELECT ifnull(sum(count), 0) FROM withheld),"
    " (SELECT count(DISTINCT object) FROM unsynchronized),"
    " (SELECT ifnull(sum(equal + different + withheld), 0) FROM compared)";

enum { TILES = 14 };

static int put_verdict(struct html *h)
{
    int verdict = verdict_of(h->db, h->err);
    const char *how = "unknown";

    if (verdict < 0)
        return verdict;
    if (verdict == VERDICT_UNLIKE)
        how = "bad";
    if (verdict == VERDICT_ALIKE)
        how = "good";
    page_put(&h->page, "<p class=\"verdict %s\">%s</p>\n", how,
             verdict_text((enum verdict)verdict));
    return 0;
}

static void show_totals(struct html *h, sqlite3_stmt *row)
{
    static const char *const names[TILES] = {
        "aligned operations",
        "matched objects",
        "operations, reference only",
        "operations, system under test only",
        "continued listings, reference",
        "continued listings, system under test",
        "causes of discrepancies",
        "groups of discrepancies",
        "discrepancies",
        "discrepancies that are noise",
        "accepted by rules for groups",
        "comparisons withheld",
        "unsynchronized objects",
        "field comparisons",
    };

    page_put(&h->page, "<dl class=\"tiles\">\n");
    for (int i = 0; i < TILES; i++)
        tile(h, names[i], (uint64_t)sqlite3_column_int64(row, i));
    page_put(&h->page, "</dl>\n");
}

static int put_summary(struct html *h)
{
    struct page *page = &h->page;

    page_put(page, "<a class=\"skip\" href=\"#discrepancies\">To the discrepancies</a>\n"
                   "<h1>Two servers, the same requests</h1>\n");
    if (put_verdict(h) < 0 || html_rows(h, select_totals, 0, 0, show_totals) < 0)
        return -h->err->code;
    page_put(page, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Sides\"><table "
                   "id=\"sides\">"
                   "<caption>What was compared</caption><thead><tr><th scope=\"col\">side</th>"
                   "<th scope=\"col\" class=\"t\">database</th><th scope=\"col\" class=\"t\">server"
                   "</th><th scope=\"col\" class=\"t\">captures</th>"
                   "<th scope=\"col\">operations</th><th scope=\"col\" class=\"t\">first call</th>"
                   "<th scope=\"col\">server clock against capture clock</th>"
                   "<th scope=\"col\">granularity of its times</th></tr></thead><tbody>\n");
    if (html_rows(h,
                  "SELECT id, database, server, operations, clock_offset, clock_error, granularity,"
                  " first_time FROM side ORDER BY id LIMIT 3",
                  0, 0, show_side) < 0)
        return -h->err->code;
    page_put(page, "</tbody></table></div>\n<nav aria-label=\"Parts\"><p>"
                   "<a href=\"#discrepancies\">Discrepancies</a> · <a href=\"#latency\">Latency</a>"
                   " · <a href=\"#left\">What was not compared</a> · <a href=\"#fields\">Fields</a>"
                   " · <a href=\"#rules\">Rules</a></p></nav>\n");
    return 0;
}

/* --- and ends with */

static void show_reason(struct html *h, sqlite3_stmt *row)
{
    page_put(&h->page, "<tr><th scope=\"row\">");
    html_put_column(h, row, 0, "?");
    page_put(&h->page, "</th><td>");
    html_put_count(h, (uint64_t)sqlite3_column_int64(row, 1));
    page_put(&h->page, "</td><td class=\"t\">");
    html_put_column(h, row, 2, "");
    page_put(&h->page, "</td></tr>\n");
}

static int put_reasons(struct html *h, const char *title, const char *sql)
{
    int64_t count;

    page_put(
        &h->page,
        "<div class=\"wide\"><table><caption>%s</caption><thead><tr><th scope=\"col\">reason</th>"
        "<th scope=\"col\">count</th><th scope=\"col\" class=\"t\">meaning</th></tr></thead>"
        "<tbody>\n",
        title);
    count = html_rows(h, sql, 0, 0, show_reason);
    if (count < 0)
        return -h->err->code;
    if (!count)
        page_put(&h->page, "<tr><td colspan=\"3\" class=\"none\">none</td></tr>\n");
    page_put(&h->page, "</tbody></table></div>\n");
    return 0;
}

static int put_left(struct html *h)
{
    page_put(&h->page, "<h2 id=\"left\">What was not compared</h2>\n");
    if (put_reasons(h, "Operations on one side only",
                    "SELECT CASE WHEN a.ref IS NULL THEN 'system under test' ELSE 'reference' END"
                    " || ' only: ' || ifnull(c.name, '?'), count(*), c.text FROM alignment a"
                    " LEFT JOIN code c ON c.domain = 'reason' AND c.value = a.reason"
                    " WHERE a.kind = 2 GROUP BY a.reason, a.ref IS NULL ORDER BY 2 DESC") < 0 ||
        put_reasons(h, "Comparisons withheld",
                    "SELECT ifnull(c.name, '?'), sum(w.count), c.text FROM withheld w"
                    " LEFT JOIN code c ON c.domain = 'withheld' AND c.value = w.reason"
                    " GROUP BY w.reason ORDER BY 2 DESC") < 0 ||
        put_reasons(h, "Unsynchronized objects",
                    "SELECT ifnull(c.name, '?') || ': ' || ifnull(k.name, '?'), count(*),"
                    " printf('%d until the end of the trace; %d comparisons withheld',"
                    "  sum(u.until_ref IS NULL), sum(u.withheld)) FROM unsynchronized u"
                    " LEFT JOIN code c ON c.domain = 'unsynchronized' AND c.value = u.what"
                    " LEFT JOIN code k ON k.domain = 'withheld' AND k.value = u.reason"
                    " GROUP BY u.what, u.reason ORDER BY 2 DESC") < 0)
        return -h->err->code;
    page_put(&h->page, "<p class=\"note\">Each is in the database: <code>SELECT * FROM one_sided"
                       "</code>, tables withheld and unsynchronized.</p>\n");
    return 0;
}

static void show_compared(struct html *h, sqlite3_stmt *row)
{
    page_put(&h->page, "<tr><th scope=\"row\">");
    html_put_column(h, row, 0, "?");
    page_put(&h->page, "</th>");
    for (int i = 1; i < 6; i++) {
        page_put(&h->page, "<td>");
        html_put_count(h, (uint64_t)sqlite3_column_int64(row, i));
        page_put(&h->page, "</td>");
    }
    page_put(&h->page, "</tr>\n");
}

static int put_compared(struct html *h)
{
    struct page *page = &h->page;

    page_put(page, "<h2 id=\"fields\">Fields that were compared</h2>\n<div "
                   "class=\"wide\"><table><caption>Comparisons "
                   "by type of reply</caption><thead><tr><th scope=\"col\">reply</th>"
                   "<th scope=\"col\">fields</th><th scope=\"col\">equal under the rule</th>"
                   "<th scope=\"col\">different</th><th scope=\"col\">withheld</th>"
                   "<th scope=\"col\">ignored by a rule</th></tr></thead><tbody>\n");
    if (html_rows(h,
                  "SELECT CASE instr(field, '.') WHEN 0 THEN field ELSE"
                  "  substr(field, 1, instr(field, '.') - 1) END, count(*), sum(equal),"
                  " sum(different), sum(withheld), sum(ignored) FROM compared"
                  " GROUP BY program, version, procedure, 1 ORDER BY program, version, procedure, 1"
                  " LIMIT 200",
                  0, 0, show_compared) < 0)
        return -h->err->code;
    page_put(page, "</tbody></table></div>\n");
    return 0;
}

enum { RULES_TEXT_MAX = 200000, RULES_FILES_MAX = 20 };

static void show_rules(struct html *h, sqlite3_stmt *row)
{
    page_put(&h->page, "<details><summary><code>");
    html_put_column(h, row, 0, "?");
    page_put(&h->page, "</code>, XXH3-128 <code>");
    html_put_column(h, row, 1, "?");
    page_put(&h->page, "</code></summary>\n<pre>");
    /* line by line: in a text line feeds would be shown as \x0a */
    for (const char *line = html_column(row, 2), *end; *line; line = *end ? end + 1 : end) {
        char *copy = strndup(line, (size_t)((end = strchrnul(line, '\n')) - line));

        page_text_cut(&h->page, copy ? copy : "", 2 * HTML_TEXT_MAX);
        page_put(&h->page, "\n");
        free(copy);
    }
    page_put(&h->page, "</pre>");
    if (sqlite3_column_int64(row, 3) > RULES_TEXT_MAX) {
        page_put(&h->page, "<p class=\"note\">The first ");
        html_put_count(h, RULES_TEXT_MAX);
        page_put(&h->page, " characters of ");
        html_put_count(h, (uint64_t)sqlite3_column_int64(row, 3));
        page_put(&h->page,
                 "; all of them: <code>SELECT text FROM rule_file WHERE id = %lld</code>"
                 "</p>",
                 (long long)sqlite3_column_int64(row, 4));
    }
    page_put(&h->page, "</details>\n");
}

static int put_rules(struct html *h)
{
    int64_t files;

    if (sql_number(h->db, "SELECT count(*) FROM rule_file", 0, &files, h->err) < 0)
        return -h->err->code;
    page_put(&h->page, "<h2 id=\"rules\">Rules</h2>\n<p>Later files override earlier ones.</p>\n");
    if (html_rows(h,
                  "SELECT name, digest, substr(text, 1, ?1), length(text), id FROM rule_file"
                  " ORDER BY id LIMIT ?2",
                  RULES_TEXT_MAX, RULES_FILES_MAX, show_rules) < 0)
        return -h->err->code;
    if (files > RULES_FILES_MAX) {
        page_put(&h->page, "<p class=\"note\">");
        html_put_count(h, (uint64_t)(files - RULES_FILES_MAX));
        page_put(&h->page, " further files are in the database only: <code>SELECT * FROM rule_file"
                           "</code></p>\n");
    }
    return 0;
}

static void show_maker(struct html *h, sqlite3_stmt *row)
{
    page_put(&h->page, "<footer><p class=\"note\">Compared by ");
    html_put_column(h, row, 0, "?");
    page_put(&h->page, "; rules ");
    html_put_column(h, row, 1, "?");
    page_put(&h->page, "</p></footer>\n");
}

/* --- */

enum { FILES_MAX = 65 }; /* default, and as many as compare takes */

/* The rules that the result was made by; if this program does not know them, the built-in ones:
 * here they say no more than why values that differ are none. */
static int read_rules(struct html *h)
{
    char *texts[2 * FILES_MAX] = { NULL };
    sqlite3_stmt *row;
    uint32_t count = 0;
    struct err ignored = { 0 };
    int result =
        sql_prepare(h->db, "SELECT name, text FROM rule_file ORDER BY id LIMIT 65", &row, h->err);

    if (result < 0)
        return result;
    while ((result = sql_row(row, h->err)) > 0 && count < FILES_MAX) {
        texts[count] = strdup(html_column(row, 0));
        texts[FILES_MAX + count] = strdup(html_column(row, 1));
        if (!texts[count] || !texts[FILES_MAX + count])
            result = err_memory(h->err, "rules");
        count++;
        if (result < 0)
            break;
    }
    sqlite3_finalize(row);
    if (result >= 0 &&
        (!count || rules_read((const char *const *)texts, (const char *const *)texts + FILES_MAX,
                              count, &h->rules, &ignored) < 0))
        result = rules_load(NULL, 0, &h->rules, h->err);
    for (int i = 0; i < 2 * FILES_MAX; i++)
        free(texts[i]);
    h->places.rules = h->rules;
    return result < 0 ? result : 0;
}

static int put_page(struct html *h)
{
    struct page *page = &h->page;
    int64_t most;

    if (sql_number(h->db, "SELECT max(n) FROM (SELECT count(*) AS n FROM source GROUP BY side)", 0,
                   &most, h->err) < 0)
        return -h->err->code;
    h->many_captures = most > 1;
    if (put_summary(h) < 0 || html_groups(h) < 0 || html_uncertain(h) < 0 || html_phases(h) < 0 ||
        html_latency(h) < 0 || put_left(h) < 0 || put_compared(h) < 0 || put_rules(h) < 0 ||
        html_rows(h,
                  "SELECT (SELECT value FROM meta WHERE key = 'created_by'),"
                  " (SELECT value FROM meta WHERE key = 'rules_digest')",
                  0, 0, show_maker) < 0)
        return -h->err->code;
    page_put(page, "<script>");
    page_raw(page, html_script, strlen(html_script));
    page_put(page, "</script>\n");
    return 0;
}

int report_html(sqlite3 *result, const char *path, struct err *err)
{
    struct html h = { .db = result, .err = err };
    char policy[HTML_POLICY_MAX];
    const struct page_head head = { "Two servers, the same requests", html_style,
                                    html_policy(html_script, policy) };
    struct output *output = output_open(path, err);
    int code;

    if (!output)
        return -err->code;
    code = read_rules(&h);
    if (code == 0) {
        page_begin(&h.page, &head, output_write, output, err);
        code = put_page(&h);
        h.page.failed |= code < 0;
        code = page_end(&h.page);
    }
    if (code == 0)
        code = output_commit(output, err);
    output_close(output);
    places_set_free(&h.places);
    rules_free(h.rules);
    return code;
}
