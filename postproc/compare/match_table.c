/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/match_table.c
 *
 * Table alignment, of what match.c put into temp.pair and what no request of the other side belongs
 * to.  Its rows are in the order of the first side's calls, which is not always the reference.
 */
#include "compare/internal.h"

#include <stdio.h>

static const char put_rest[] =
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 2, "
    "reason, id, NULL, NULL, client, NULL,"
    " (SELECT ifnull(call_time, reply_time) FROM ref.operation o WHERE o.id = a.id)"
    " FROM temp.alone1 a;"
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 2, "
    "reason, NULL, id, NULL, client, NULL,"
    " (SELECT ifnull(call_time, reply_time) FROM sut.operation o WHERE o.id = a.id)"
    " FROM temp.alone2 a;"
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 2, 2, "
    "l.id, NULL, NULL, client, NULL, time FROM temp.lane1 l"
    " WHERE object <> 0 AND object NOT IN (SELECT ref FROM main.object);"
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 2, 2, "
    "NULL, l.id, NULL, client, NULL, time FROM temp.lane2 l"
    " WHERE object <> 0 AND object NOT IN (SELECT sut FROM main.object);"
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 3, 0, "
    "p.id, NULL, o.id, p.client, p.first,"
    " (SELECT call_time FROM ref.operation r WHERE r.id = p.id)"
    " FROM temp.part1 p LEFT JOIN main.object o ON o.ref = ifnull((SELECT x.ref FROM"
    " main.other_handle h JOIN main.object x ON x.id = h.same_as WHERE h.side = 1 AND h.object ="
    " p.object), p.object);"
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 3, 0, "
    "NULL, p.id, o.id, p.client, p.first,"
    " (SELECT call_time FROM sut.operation s WHERE s.id = p.id)"
    " FROM temp.part2 p LEFT JOIN main.object o ON o.sut = ifnull((SELECT x.sut FROM"
    " main.other_handle h JOIN main.object x ON x.id = h.same_as WHERE h.side = 2 AND h.object ="
    " p.object), p.object);";

/* What only the other side was asked stands behind the pair before it. */
static const char place_after_ref[] =
    "CREATE INDEX temp.pair_by_sut ON pair (sut, place) WHERE ref IS NOT NULL AND sut IS NOT NULL;"
    "UPDATE temp.pair SET place = ifnull((SELECT p.place FROM temp.pair p WHERE p.ref IS NOT NULL"
    " AND p.sut IS NOT NULL AND p.sut < pair.sut ORDER BY p.sut DESC LIMIT 1), 0)"
    " WHERE ref IS NULL;";
static const char place_after_sut[] =
    "CREATE INDEX temp.pair_by_ref ON pair (ref, place) WHERE ref IS NOT NULL AND sut IS NOT NULL;"
    "UPDATE temp.pair SET place = ifnull((SELECT p.place FROM temp.pair p WHERE p.ref IS NOT NULL"
    " AND p.sut IS NOT NULL AND p.ref < pair.ref ORDER BY p.ref DESC LIMIT 1), 0)"
    " WHERE sut IS NULL;";

static const char put_all[] =
    "INSERT INTO main.alignment SELECT NULL, p.kind, p.reason, p.ref, p.sut, p.object, p.client,"
    " p.listing, a.bits, b.bits, " CHANGE_COLUMNS ", p.other_last FROM temp.pair p"
    " LEFT JOIN temp.overlap1 a ON a.id = p.ref"
    " LEFT JOIN temp.overlap2 b ON b.id = p.sut ORDER BY p.place, ";
static const char order_of_ref[] = "p.ref IS NULL, p.ref, p.sut;";
static const char order_of_sut[] = "p.sut IS NULL, p.sut, p.ref;";

/* A type that one side alone tells is believed; two that differ are not. */
static const char put_types[] =
    "UPDATE main.object SET type = (SELECT CASE WHEN r.type = s.type OR s.type IS NULL THEN r.type"
    " WHEN r.type IS NULL THEN s.type END FROM ref.object r, sut.object s"
    " WHERE r.id = object.ref AND s.id = object.sut);"
    "DROP TABLE temp.pair; DROP TABLE temp.lane1; DROP TABLE temp.lane2; DROP TABLE temp.name1;"
    "DROP TABLE temp.name2; DROP TABLE temp.part1; DROP TABLE temp.part2; DROP TABLE temp.alone1;"
    "DROP TABLE temp.alone2; DROP TABLE temp.overlap1; DROP TABLE temp.overlap2;"
    "DROP TABLE temp.gone1; DROP TABLE temp.gone2;";

int match_put(struct compare *c, struct err *err)
{
    bool ref_first = c->first == REF;
    int64_t alone;
    char sql[sizeof(put_all) + sizeof(order_of_ref)];

    snprintf(sql, sizeof(sql), "%s%s", put_all, ref_first ? order_of_ref : order_of_sut);
    if (tables_run(c->db, put_rest, err) < 0 ||
        db_number(c->db,
                  ref_first ? "SELECT EXISTS (SELECT 1 FROM temp.pair WHERE ref IS NULL)"
                            : "SELECT EXISTS (SELECT 1 FROM temp.pair WHERE sut IS NULL)",
                  0, &alone, err) < 0 ||
        (alone && tables_run(c->db, ref_first ? place_after_ref : place_after_sut, err) < 0) ||
        tables_run(c->db, sql, err) < 0)
        return -err->code;
    return tables_run(c->db, put_types, err);
}
