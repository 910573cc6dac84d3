/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/suggest.h"

#include "base/values.h"
#include "store/sql.h"

/* Of a text in a comment, so that its line is not too long for a rule file. */
enum { SHOWN_MAX = 240 };

/* Nothing in a text ends its line. */
static void put_text(FILE *out, const char *text, size_t most)
{
    size_t i = 0;

    for (; text[i] && (i < most || ((unsigned char)text[i] & 0xc0) == 0x80); i++)
        fputc((unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i], out);
    if (text[i])
        fputs("...", out);
}

static const char *column(sqlite3_stmt *row, int at)
{
    const char *text = (const char *)sqlite3_column_text(row, at);

    return text ? text : "-";
}

/* In a comment. */
static void put_column(FILE *out, sqlite3_stmt *row, int at)
{
    put_text(out, column(row, at), SHOWN_MAX);
}

/* In a rule, between |before| and |after|. */
static void put_part(FILE *out, const char *before, sqlite3_stmt *row, int at, const char *after)
{
    fputs(before, out);
    put_text(out, column(row, at), SIZE_MAX);
    fputs(after, out);
}

static void put_count(FILE *out, sqlite3_stmt *row, int at)
{
    char text[VALUE_TEXT_MAX];

    fputs(count_text((uint64_t)sqlite3_column_int64(row, at), text), out);
}

/* ?1: the group */
static const char select_example[] =
    "SELECT ifnull(ifnull(r.path, s.path), o.path), d.ref_text, ifnull(r.reply_frame,"
    " r.call_frame), (SELECT name FROM source q WHERE q.side = 1 AND q.id ="
    "  ifnull(r.reply_source, r.call_source)), d.sut_text, ifnull(s.reply_frame, s.call_frame),"
    " (SELECT name FROM source q WHERE q.side = 2 AND q.id = ifnull(s.reply_source,"
    "  s.call_source)), d.element FROM discrepancy d LEFT JOIN object o ON o.id = d.object"
    " LEFT JOIN operation r ON r.side = 1 AND r.id = d.ref"
    " LEFT JOIN operation s ON s.side = 2 AND s.id = d.sut"
    " WHERE d.discrepancy_group = ?1 ORDER BY d.id LIMIT 1";

static void put_side(FILE *out, sqlite3_stmt *row, const char *side, int at)
{
    fprintf(out, "%s ", side);
    put_column(out, row, at);
    if (sqlite3_column_type(row, at + 1) != SQLITE_NULL) {
        fputs(" (frame ", out);
        put_column(out, row, at + 1);
        fputs(" of ", out);
        put_column(out, row, at + 2);
        fputc(')', out);
    }
}

static int put_example(sqlite3 *db, int64_t group, FILE *out, struct err *err)
{
    sqlite3_stmt *row;
    int result;

    if (sql_prepare(db, select_example, &row, err) < 0)
        return -err->code;
    sqlite3_bind_int64(row, 1, group);
    result = sql_row(row, err);
    if (result > 0) {
        fputs("# example: ", out);
        put_column(out, row, 0);
        if (sqlite3_column_type(row, 7) != SQLITE_NULL) {
            fputs(" entry ", out);
            put_column(out, row, 7);
        }
        fputs("\n#   ", out);
        put_side(out, row, "ref", 1);
        fputs("\n#   ", out);
        put_side(out, row, "sut", 4);
        fputc('\n', out);
    }
    sqlite3_finalize(row);
    return result < 0 ? result : 0;
}

/* Groups that conditions of rules cannot tell apart are one. */
static const char select_groups[] =
    "SELECT min(id), sum(count), sum(compared), operation, field, difference, circumstance,"
    " class IS NULL, cause, reason, min(is_noise) FROM discrepancy_group"
    " GROUP BY operation, field, difference, circumstance, class ORDER BY class IS NOT NULL, 1";

static int put_rule(sqlite3 *db, sqlite3_stmt *row, FILE *out, struct err *err)
{
    fputs("\n# group ", out);
    put_column(out, row, 0);
    fputs(": ", out);
    put_count(out, row, 1);
    fputs(" of ", out);
    put_count(out, row, 2);
    fputs(" comparisons", out);
    if (sqlite3_column_type(row, 8) != SQLITE_NULL) {
        fputs("; cause ", out);
        put_column(out, row, 8);
    }
    fputs(sqlite3_column_int(row, 10) ? "; noise\n# " : "\n# ", out);
    put_column(out, row, 9);
    fputc('\n', out);
    if (put_example(db, sqlite3_column_int64(row, 0), out, err) < 0)
        return -err->code;
    put_part(out, "# Reason to accept it:\n", row, 4, " = ignored");
    put_part(out, " if operation=\"", row, 3, "\"");
    put_part(out, ", difference=\"", row, 5, "\"");
    if (sqlite3_column_type(row, 6) != SQLITE_NULL)
        put_part(out, ", when=\"", row, 6, "\"");
    fputc('\n', out);
    return 0;
}

static int put_sides(sqlite3 *db, FILE *out, struct err *err)
{
    sqlite3_stmt *row;
    int result;

    if (sql_prepare(db, "SELECT name, database FROM side WHERE id < 3 ORDER BY id", &row, err) < 0)
        return -err->code;
    while ((result = sql_row(row, err)) > 0) {
        fputs("#   ", out);
        put_column(out, row, 0);
        fputs("  ", out);
        put_column(out, row, 1);
        fputc('\n', out);
    }
    sqlite3_finalize(row);
    return result;
}

int report_rules(sqlite3 *result, FILE *out, struct err *err)
{
    sqlite3_stmt *row;
    int code, section = -1;

    fputs("# Rules that accept what nfsdigest compare found between\n", out);
    if (put_sides(result, out, err) < 0)
        return -err->code;
    fputs("# Each rule accepts one group of differences.  Write down why, or remove the rule.\n"
          "# Then give this file to --rules, by a name with a / or . in it.\n",
          out);
    if (sql_prepare(result, select_groups, &row, err) < 0)
        return -err->code;
    while ((code = sql_row(row, err)) > 0) {
        int event = sqlite3_column_int(row, 7);

        if (event != section)
            fputs(event ? "\n[messages]\n" : "\n[fields]\n", out);
        section = event;
        code = put_rule(result, row, out, err);
        if (code < 0)
            break;
    }
    sqlite3_finalize(row);
    return code;
}
