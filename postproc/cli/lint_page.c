/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/lint_page.c
 *
 * Findings of "nfsdigest lint" as one page that needs nothing else: for each rule its text, its
 * findings, and a display filter of Wireshark for their frames.  The contract is in lint_print.h.
 */
#include "cli/lint_print.h"

#include "base/output.h"
#include "base/values.h"
#include "show/page.h"
#include "show/page_cells.h"
#include "store/sql.h"

#include <inttypes.h>
#include <stdio.h>

struct painting {
    struct lint_view *view;
    struct page *page;
    uint32_t frames; /* in the filter so far */
};

static void tile(struct page *page, const char *name, uint64_t value)
{
    char text[VALUE_TEXT_MAX];

    page_put(page, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, count_text(value, text));
}

static void tiles(const struct lint_view *v, struct page *page)
{
    page_put(page, "<dl class=\"tiles\">\n");
    tile(page, "operations of NFSv3", v->counts.operations);
    tile(page, "errors", lint_view_level(v, LINT_ERROR));
    tile(page, "suspects", lint_view_level(v, LINT_SUSPECT));
    tile(page, "notes", lint_view_level(v, LINT_NOTE));
    tile(page, "READs", v->counts.reads);
    tile(page, "READs compared with WRITEs", v->counts.compared);
    tile(page, "READs compared with READs", v->counts.read_again);
    tile(page, "without a reply", v->counts.unanswered);
    tile(page, "not judged: call not captured", v->counts.unknown);
    if (v->others)
        tile(page, "operations of other programs, not judged", v->others);
    tile(page, "gaps in the captures", (uint64_t)v->gaps);
    if (v->counts.excused)
        tile(page, "explained by restarts", v->counts.excused);
    if (v->counts.undecided)
        tile(page, "not judged for lack of room or of a verifier", v->counts.undecided);
    if (v->counts.objects_forgotten)
        tile(page, "objects forgotten", v->counts.objects_forgotten);
    page_put(page, "</dl>\n");
    if (v->counts.reads && !v->counts.with_blocks)
        page_put(page,
                 "<p class=\"note\">READs were compared with single WRITEs and READs of the same "
                 "range only: ingest with --block-digests to compare others.</p>\n");
    if (v->gaps)
        page_put(page, "<p class=\"note\">Gaps in the captures may hide changes: suspects can come "
                       "from them.</p>\n");
}

/* Whom the findings blame. */
static void hosts(const struct lint_view *v, struct page *page)
{
    static const char *const heads[] = { "host", "<role", "errors", "suspects", "notes", NULL };

    if (!v->host_count)
        return;
    cells_begin(page, "who breaks rules", heads);
    for (uint32_t i = 0; i < v->host_count; i++) {
        const struct lint_host *h = &v->hosts[i];

        cells_row(page, h->address);
        cells_text(page, h->is_client ? "client" : "server");
        for (int level = LINT_ERROR; level <= LINT_NOTE; level++)
            cells_count(page, h->found[level]);
        cells_row_end(page);
    }
    cells_end(page);
}

static void frame_cell(struct page *page, sqlite3_stmt *stmt, int column)
{
    if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
        cells_text(page, "-");
    else
        cells_count(page, (uint64_t)sqlite3_column_int64(stmt, column));
}

static int paint_row(void *ctx, const struct lint_shown *s, sqlite3_stmt *stmt, struct err *err)
{
    const struct painting *p = ctx;
    const char *procedure = sql_column_text(stmt, LINT_PROCEDURE);
    const char *path = sql_column_text(stmt, LINT_PATH);
    const char *client = sql_column_text(stmt, LINT_CLIENT);
    int64_t earlier = s->earlier ? lint_frame_of(p->view, s->earlier, err) : 0;
    char time[VALUE_TEXT_MAX];

    if (earlier < 0)
        return -err->code;
    cells_row(p->page, procedure ? procedure : "-");
    cells_text(p->page, path ? path : "-");
    cells_text(p->page, client ? client : "-");
    cells_text(p->page, sqlite3_column_type(stmt, LINT_TIME) == SQLITE_NULL
                            ? "-"
                            : time_text(sqlite3_column_int64(stmt, LINT_TIME), time));
    cells_count(p->page, (uint64_t)sqlite3_column_int64(stmt, LINT_SOURCE));
    frame_cell(p->page, stmt, LINT_CALL_FRAME);
    frame_cell(p->page, stmt, LINT_REPLY_FRAME);
    if (earlier)
        cells_count(p->page, (uint64_t)earlier);
    else
        cells_text(p->page, "-");
    cells_text(p->page, s->text);
    cells_row_end(p->page);
    return 0;
}

static int paint_filter(void *ctx, const struct lint_shown *s, sqlite3_stmt *stmt, struct err *err)
{
    struct painting *p = ctx;

    (void)s, (void)err;
    for (int column = LINT_CALL_FRAME; column <= LINT_REPLY_FRAME; column++)
        if (sqlite3_column_type(stmt, column) != SQLITE_NULL)
            page_put(p->page, "%s%lld", p->frames++ ? ", " : "frame.number in {",
                     (long long)sqlite3_column_int64(stmt, column));
    return 0;
}

static int paint_rule(struct lint_view *v, enum lint_id id, struct page *page, struct err *err)
{
    static const char *const heads[] = { "procedure",      "<path", "<client", "<time (UTC)",
                                         "source",         "call",  "reply",   "earlier",
                                         "<what happened", NULL };
    const struct lint_rule *rule = &v->rules->rule[id];
    struct painting p = { .view = v, .page = page };

    page_put(page, "<details%s><summary>%s: %" PRIu64 "</summary>\n<p>%s, ",
             rule->level == LINT_NOTE ? "" : " open", rule->name, v->found[id],
             lint_level_name(rule->level));
    page_put(page, "of the %s. The rule: ", lint_blamed(rule));
    page_text(page, rule->text);
    page_put(page, " (");
    page_text(page, rule->source);
    page_put(page, ").</p>\n");
    cells_begin(page, "findings", heads);
    if (lint_each(v, id, paint_row, &p, err) < 0)
        return -err->code;
    cells_end(page);
    if (v->found[id] > v->top)
        page_put(page, "<p class=\"note\">and %" PRIu64 " more</p>\n", v->found[id] - v->top);
    page_put(page, "<p>In Wireshark: <code>");
    if (lint_each(v, id, paint_filter, &p, err) < 0)
        return -err->code;
    page_put(page, "%s</code></p>\n</details>\n", p.frames ? "}" : "-");
    return 0;
}

static int paint(struct lint_view *v, struct page *page, struct err *err)
{
    uint64_t errors = lint_view_level(v, LINT_ERROR), suspects = lint_view_level(v, LINT_SUSPECT);

    page_put(page, "<h1>What breaks RFC 1813 in <code>");
    page_text(page, v->name);
    page_put(page, "</code></h1>\n<p class=\"verdict %s\">", errors + suspects ? "bad" : "good");
    if (errors + suspects)
        page_put(page, "%" PRIu64 " error%s and %" PRIu64 " suspect%s", errors,
                 errors == 1 ? "" : "s", suspects, suspects == 1 ? "" : "s");
    else
        page_put(page, "No errors and no suspects");
    page_put(page, "</p>\n<p>An error breaks the rule by itself. A suspect contradicts an earlier "
                   "reply, unless something that the trace does not show changed the object in "
                   "between. A note is allowed, but worth knowing.</p>\n");
    tiles(v, page);
    hosts(v, page);
    for (int i = 0; i < LINT_RULES; i++)
        if (v->found[i] && paint_rule(v, (enum lint_id)i, page, err) < 0)
            return -err->code;
    return 0;
}

int lint_page(struct lint_view *v, const char *path, struct err *err)
{
    const struct page_head head = { .title = "What breaks RFC 1813" };
    struct output *output = output_open(path, err);
    struct page page = { 0 };
    int result;

    if (!output)
        return -err->code;
    page_begin(&page, &head, output_write, output, err);
    result = paint(v, &page, err);
    page.failed |= result < 0;
    if (page_end(&page) < 0)
        result = -err->code;
    if (result == 0)
        result = output_commit(output, err);
    output_close(output);
    return result;
}
