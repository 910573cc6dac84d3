/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/html_examples.c
 *
 * Examples of a group: both values, both replies, and the operations that lead there.
 */
#include "report/html_parts.h"
#include "store/sql.h"

#include <stdio.h>

struct example {
    int64_t group, number, discrepancy;
};

/* ?1 the group, ?2 the example's number */
static const char select_steps[] =
    "SELECT x.number, ifnull(r.name, s.name), r.id, s.id, r.path, s.path, r.path2, s.path2,"
    " r.status, s.status, r.call_frame, s.call_frame, r.reply_frame, s.reply_frame,"
    " r.program, s.program, r.version, s.version, r.procedure, s.procedure, r.arguments,"
    " s.arguments, r.arguments_length, s.arguments_length, r.result, s.result, r.result_length,"
    " s.result_length, r.call_flags, s.call_flags, r.reply_flags, s.reply_flags,"
    " r.data_digest, s.data_digest, r.client, s.client, r.xid, s.xid,"
    " (SELECT name FROM source WHERE side = 1 AND id = ifnull(r.reply_source, r.call_source)),"
    " (SELECT name FROM source WHERE side = 2 AND id = ifnull(s.reply_source, s.call_source))"
    " FROM step x LEFT JOIN operation r ON r.side = 1 AND r.id = x.ref"
    " LEFT JOIN operation s ON s.side = 2 AND s.id = x.sut"
    " WHERE x.discrepancy_group = ?1 AND x.example = ?2 ORDER BY x.number";

enum step_column { /* of ref; sut's is the next one */
                   S_NUMBER,
                   S_NAME,
                   S_ID,
                   S_PATH = S_ID + 2,
                   S_PATH2 = S_PATH + 2,
                   S_STATUS = S_PATH2 + 2,
                   S_CALL = S_STATUS + 2,
                   S_REPLY = S_CALL + 2,
                   S_PROGRAM = S_REPLY + 2,
                   S_VERSION = S_PROGRAM + 2,
                   S_PROCEDURE = S_VERSION + 2,
                   S_ARGUMENTS = S_PROCEDURE + 2,
                   S_ARGUMENTS_LENGTH = S_ARGUMENTS + 2,
                   S_RESULT = S_ARGUMENTS_LENGTH + 2,
                   S_RESULT_LENGTH = S_RESULT + 2,
                   S_CALL_FLAGS = S_RESULT_LENGTH + 2,
                   S_REPLY_FLAGS = S_CALL_FLAGS + 2,
                   S_DIGEST = S_REPLY_FLAGS + 2,
                   S_CLIENT = S_DIGEST + 2,
                   S_XID = S_CLIENT + 2,
                   S_SOURCE = S_XID + 2,
};

static struct html_message message_of(sqlite3_stmt *row, int side, bool arguments)
{
    struct html_message m = {
        .program = sqlite3_column_int64(row, S_PROGRAM + side),
        .version = sqlite3_column_int64(row, S_VERSION + side),
        .answered = arguments || !html_is_null(row, S_REPLY + side),
        .status = (const char *)sqlite3_column_text(row, S_STATUS + side),
        .body = { sql_column_bytes(row, (arguments ? S_ARGUMENTS : S_RESULT) + side),
                  (uint32_t)sqlite3_column_int64(
                      row, (arguments ? S_ARGUMENTS_LENGTH : S_RESULT_LENGTH) + side),
                  (uint32_t)sqlite3_column_int64(row, (arguments ? S_CALL_FLAGS : S_REPLY_FLAGS) +
                                                          side) },
        .data_digest = sql_column_bytes(row, S_DIGEST + side),
    };

    if (!html_is_null(row, S_PROCEDURE + side))
        m.procedure = procedure_find((uint32_t)m.program, (uint32_t)m.version,
                                     (uint32_t)sqlite3_column_int64(row, S_PROCEDURE + side));
    return m;
}

static void put_frames(struct html *h, sqlite3_stmt *row, int side)
{
    struct page *page = &h->page;

    if (html_is_null(row, S_ID + side)) {
        page_put(page, "<span class=\"none\">no such operation</span>");
        return;
    }
    if (html_is_null(row, S_CALL + side))
        page_put(page, "call not captured");
    else
        page_put(page, "%lld", (long long)sqlite3_column_int64(row, S_CALL + side));
    if (html_is_null(row, S_REPLY + side))
        page_put(page, ", no reply");
    else
        page_put(page, ", %lld", (long long)sqlite3_column_int64(row, S_REPLY + side));
    if (h->many_captures) {
        page_put(page, " of ");
        html_put_column(h, row, S_SOURCE + side, "?");
    }
}

static void put_path(struct html *h, sqlite3_stmt *row)
{
    int side = html_is_null(row, S_PATH) ? SUT : REF;

    page_put(&h->page, "<code>");
    html_put_column(h, row, S_PATH + side, "");
    page_put(&h->page, "</code>");
    if (!html_is_null(row, S_PATH2 + side)) {
        page_put(&h->page, " → <code>");
        html_put_column(h, row, S_PATH2 + side, "");
        page_put(&h->page, "</code>");
    }
}

/* Not the handles, which name what the path names, and not file contents. */
static int put_arguments(struct html *h, const struct html_message *m)
{
    struct body body = { 0 };
    const struct places_key key = { (uint32_t)m->program, (uint32_t)m->version, m->procedure,
                                    false };
    struct places *places;
    uint32_t shown = 0;

    if (!m->procedure || !m->body.data.len)
        return 0;
    if (places_get(&h->places, &key, &places, h->err) < 0 ||
        body_read(&body, places, m->body, h->err) < 0) {
        body_free(&body);
        return -h->err->code;
    }
    for (uint32_t i = 0; i < body.count; i++) {
        const struct item *item = &body.items[i];
        const char *dot = strchr(item->place->path, '.');
        char text[COMPARE_TEXT_MAX];

        if (item->place->field->cls == CLASS_HANDLE || item->place->field->cls == CLASS_DATA)
            continue;
        if (shown++ == 24) {
            page_put(&h->page, ", …");
            break;
        }
        page_put(&h->page, shown > 1 ? ", " : "");
        page_text(&h->page, dot ? dot + 1 : item->place->path);
        page_put(&h->page, "&nbsp;");
        page_text_cut(&h->page, values_text(item, NULL, text), 60);
    }
    body_free(&body);
    return 0;
}

static void show_step(struct html *h, sqlite3_stmt *row)
{
    struct page *page = &h->page;
    struct html_message arguments = message_of(row, html_is_null(row, S_ID) ? SUT : REF, true);

    page_put(page, "<tr><th scope=\"row\">%lld. ", (long long)sqlite3_column_int64(row, S_NUMBER));
    html_put_column(h, row, S_NAME, "?");
    page_put(page, "</th><td class=\"t\">");
    put_path(h, row);
    page_put(page, "<br><small>");
    put_arguments(h, &arguments);
    page_put(page, "</small></td>");
    for (int side = 0; side < SIDES; side++) {
        page_put(page, "<td class=\"t\">");
        html_put_column(h, row, S_STATUS + side, "");
        page_put(page, "<br><small>");
        put_frames(h, row, side);
        page_put(page, "</small></td>");
    }
    page_put(page, "</tr>\n");
}

/* ?1 the discrepancy */
static const char select_discrepancy[] =
    "SELECT d.element, d.ref_text, d.sut_text, d.ref, d.sut,"
    " ifnull(ifnull(r.path, s.path), (SELECT path FROM object o WHERE o.id = d.object)),"
    " r.call_frame, s.call_frame, r.reply_frame, s.reply_frame, r.client, s.client, r.xid, s.xid,"
    " (SELECT name FROM source WHERE side = 1 AND id = ifnull(r.reply_source, r.call_source)),"
    " (SELECT name FROM source WHERE side = 2 AND id = ifnull(s.reply_source, s.call_source)),"
    " c.field, c.id FROM discrepancy d JOIN discrepancy_group c ON c.id = d.discrepancy_group"
    " LEFT JOIN operation r ON r.side = 1 AND r.id = d.ref"
    " LEFT JOIN operation s ON s.side = 2 AND s.id = d.sut WHERE d.id = ?1";

enum discrepancy_column {
    D_ELEMENT,
    D_TEXT,
    D_ID = D_TEXT + 2,
    D_PATH = D_ID + 2,
    D_CALL,
    D_REPLY = D_CALL + 2,
    D_CLIENT = D_REPLY + 2,
    D_XID = D_CLIENT + 2,
    D_SOURCE = D_XID + 2,
    D_FIELD = D_SOURCE + 2,
};

static void put_side(struct html *h, sqlite3_stmt *row, int side)
{
    struct page *page = &h->page;

    page_put(page, "<tr><th scope=\"row\">%s</th><td class=\"t\"><mark>",
             side == REF ? "reference" : "system under test");
    html_put_column(h, row, D_TEXT + side, "none");
    page_put(page, "</mark></td><td class=\"t\">");
    if (html_is_null(row, D_ID + side)) {
        page_put(page, "<span class=\"none\">no operation</span></td><td></td></tr>\n");
        return;
    }
    if (!html_is_null(row, D_CALL + side))
        page_put(page, "call in frame %lld, ", (long long)sqlite3_column_int64(row, D_CALL + side));
    if (html_is_null(row, D_REPLY + side))
        page_put(page, "no reply");
    else
        page_put(page, "reply in frame %lld", (long long)sqlite3_column_int64(row, D_REPLY + side));
    page_put(page, " of <code>");
    html_put_column(h, row, D_SOURCE + side, "?");
    page_put(page, "</code></td><td class=\"t\">");
    html_put_column(h, row, D_CLIENT + side, "");
    page_put(page, ", XID 0x%08llx</td></tr>\n",
             (unsigned long long)sqlite3_column_int64(row, D_XID + side));
}

static void show_values(struct html *h, sqlite3_stmt *row)
{
    struct page *page = &h->page;

    page_put(page, "<p>");
    if (!html_is_null(row, D_PATH)) {
        page_put(page, "<code>");
        html_put_column(h, row, D_PATH, "");
        page_put(page, "</code>");
    }
    if (!html_is_null(row, D_ELEMENT)) {
        page_put(page, " element <code>");
        html_put_column(h, row, D_ELEMENT, "");
        page_put(page, "</code>");
    }
    page_put(page, "</p>\n<div class=\"wide\"><table><caption>The difference</caption><thead><tr>"
                   "<th scope=\"col\">side</th><th scope=\"col\" class=\"t\">value</th>"
                   "<th scope=\"col\" class=\"t\">frames</th>"
                   "<th scope=\"col\" class=\"t\">client</th></tr></thead><tbody>\n");
    put_side(h, row, REF);
    put_side(h, row, SUT);
    page_put(page, "</tbody></table></div>\n");
}

/* The operations of an example's last step, of which the discrepancy is. */
static int put_replies(struct html *h, const struct example *x)
{
    struct html_message messages[SIDES];
    struct html_found found = { .group = x->group };
    sqlite3_stmt *row = NULL, *steps = NULL;
    int result = sql_prepare(h->db, select_discrepancy, &row, h->err);

    if (result == 0) {
        sqlite3_bind_int64(row, 1, x->discrepancy);
        result = sql_row(row, h->err);
    }
    if (result > 0) {
        found.field = html_column(row, D_FIELD);
        found.element = (const char *)sqlite3_column_text(row, D_ELEMENT);
        found.ref = sql_column(row, D_ID, 0);
        found.sut = sql_column(row, D_ID + 1, 0);
        result = sql_prepare(h->db, select_steps, &steps, h->err);
    }
    if (steps && result == 0) {
        sqlite3_bind_int64(steps, 1, x->group);
        sqlite3_bind_int64(steps, 2, x->number);
        while ((result = sql_row(steps, h->err)) > 0) {
            if (sql_column(steps, S_ID, 0) != found.ref ||
                sql_column(steps, S_ID + 1, 0) != found.sut)
                continue;
            messages[REF] = message_of(steps, REF, false);
            messages[SUT] = message_of(steps, SUT, false);
            result = html_replies(h, messages, &found);
            break;
        }
    }
    sqlite3_finalize(steps);
    sqlite3_finalize(row);
    return result < 0 ? result : 0;
}

static int put_example(struct html *h, const struct example *x)
{
    struct page *page = &h->page;

    page_put(page, "<details%s><summary>Example %lld</summary>\n", x->number == 1 ? " open" : "",
             (long long)x->number);
    if (html_rows(h, select_discrepancy, x->discrepancy, 0, show_values) < 0)
        return -h->err->code;
    if (page->size > HTML_REPLIES_MAX)
        page_put(page, "<p class=\"note\">The replies are left out to keep the page small. "
                       "They are in table operation of the database.</p>\n");
    else if (put_replies(h, x) < 0)
        return -h->err->code;
    page_put(page,
             "<div class=\"wide\"><table><caption>Operations that lead to it</caption><thead><tr>"
             "<th scope=\"col\">operation</th><th scope=\"col\" class=\"t\">object and "
             "arguments</th><th scope=\"col\" class=\"t\">reference: outcome, frames of call "
             "and reply</th><th scope=\"col\" class=\"t\">system under test</th></tr></thead>"
             "<tbody>\n");
    if (html_rows(h, select_steps, x->group, x->number, show_step) < 0)
        return -h->err->code;
    page_put(page, "</tbody></table></div>\n</details>\n");
    return 0;
}

int html_examples(struct html *h, int64_t group)
{
    sqlite3_stmt *row;
    int result =
        sql_prepare(h->db,
                    "SELECT example, max(discrepancy) FROM step WHERE discrepancy_group = ?1"
                    " GROUP BY example ORDER BY example LIMIT 10",
                    &row, h->err);

    if (result < 0)
        return result;
    sqlite3_bind_int64(row, 1, group);
    while ((result = sql_row(row, h->err)) > 0) {
        struct example x = { group, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1) };

        result = put_example(h, &x);
        if (result < 0)
            break;
    }
    sqlite3_finalize(row);
    return result;
}
