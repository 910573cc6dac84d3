/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/match_table.c
 *
 * Fills table alignment from temp.pair, which match.c made, and from requests without a
 * counterpart.  Its rows are in the order of the first side's calls, which is not always the
 * reference.
 */
#include "compare/compare_parts.h"
#include "compare/state_columns.h"

#include <stdio.h>

/* Of each side: |%1$s| is its name, |%2$d| its number.  What has no readable call or no client on
 * the other side; requests on objects that are not matched; parts of listings. */
enum { UNMATCHED = 1 }; /* match_numbers.c has put these */
static const char *const put_rest[] = {
    "INSERT INTO temp.pair (kind, reason, %1$s, client, place) SELECT 2, reason, id, client,"
    " (SELECT ifnull(call_time, reply_time) FROM %1$s.operation o WHERE o.id = a.id)"
    " FROM temp.alone%2$d a",
    "INSERT INTO temp.pair (kind, reason, %1$s, client, place) SELECT 2, 2, l.id, client, time"
    " FROM temp.sequence%2$d l"
    " WHERE object <> 0 AND object NOT IN (SELECT %1$s FROM main.object)",
    "INSERT INTO temp.pair (kind, reason, %1$s, object, client, listing, place) SELECT 3, 0, p.id,"
    " o.id, p.client, p.first, (SELECT call_time FROM %1$s.operation r WHERE r.id = p.id)"
    " FROM temp.part%2$d p LEFT JOIN main.object o ON o.%1$s = ifnull((SELECT x.%1$s FROM"
    " main.other_handle h JOIN main.object x ON x.id = h.same_as WHERE h.side = %2$d AND h.object ="
    " p.object), p.object)",
};

/* |%1$s|: the first side, |%2$s|: the other.  Requests that only the other side has come after the
 * pair before them. */
static const char has_others[] = "SELECT EXISTS (SELECT 1 FROM temp.pair WHERE %1$s IS NULL)";
static const char place_others[] =
    "CREATE INDEX temp.pair_by_%2$s ON pair (%2$s, place)"
    " WHERE ref IS NOT NULL AND sut IS NOT NULL;"
    "UPDATE temp.pair SET place = ifnull((SELECT p.place FROM temp.pair p WHERE p.ref IS NOT NULL"
    " AND p.sut IS NOT NULL AND p.%2$s < pair.%2$s ORDER BY p.%2$s DESC LIMIT 1), 0)"
    " WHERE %1$s IS NULL;";
static const char put_all[] =
    "INSERT INTO main.alignment SELECT NULL, p.kind, p.reason, p.ref, p.sut, p.object, p.client,"
    " p.listing, a.bits, b.bits, " STATE_COLUMNS "p.other_last FROM temp.pair p"
    " LEFT JOIN temp.overlap1 a ON a.id = p.ref"
    " LEFT JOIN temp.overlap2 b ON b.id = p.sut"
    " ORDER BY p.place, p.%1$s IS NULL, p.%1$s, p.%2$s;";

/* A type that one side alone tells is believed; two that differ are not. */
static const char put_types[] =
    "UPDATE main.object SET type = (SELECT CASE WHEN r.type = s.type OR s.type IS NULL THEN r.type"
    " WHEN r.type IS NULL THEN s.type END FROM ref.object r, sut.object s"
    " WHERE r.id = object.ref AND s.id = object.sut);"
    "DROP TABLE temp.pair; DROP TABLE temp.sequence1; DROP TABLE temp.sequence2; DROP TABLE "
    "temp.name1;"
    "DROP TABLE temp.name2; DROP TABLE temp.part1; DROP TABLE temp.part2; DROP TABLE temp.alone1;"
    "DROP TABLE temp.alone2; DROP TABLE temp.overlap1; DROP TABLE temp.overlap2;"
    "DROP TABLE temp.gone1; DROP TABLE temp.gone2;";

static int put_others(struct compare *c, struct err *err)
{
    char sql[1024];

    for (size_t i = 0; i < sizeof(put_rest) / sizeof(put_rest[0]); i++)
        for (int side = 0; side < SIDES && !(c->by_number && i == UNMATCHED); side++) {
            snprintf(sql, sizeof(sql), put_rest[i], c->side[side].schema, db_side(side));
            if (sql_run(c->db, sql, err) < 0)
                return -err->code;
        }
    return 0;
}

int match_put(struct compare *c, struct err *err)
{
    const char *first = c->side[c->first].schema, *other = c->side[!c->first].schema;
    int64_t others;
    char sql[1024];

    snprintf(sql, sizeof(sql), has_others, first);
    if (put_others(c, err) < 0 || sql_number(c->db, sql, 0, &others, err) < 0)
        return -err->code;
    snprintf(sql, sizeof(sql), place_others, first, other);
    if (others && sql_run(c->db, sql, err) < 0)
        return -err->code;
    snprintf(sql, sizeof(sql), put_all, first, other);
    if (sql_run(c->db, sql, err) < 0)
        return -err->code;
    return sql_run(c->db, put_types, err);
}
