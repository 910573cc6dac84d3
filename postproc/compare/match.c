/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/match.c
 *
 * From the roots down: the requests on two matched objects are aligned, what aligned requests found
 * or made is matched, and so on.  When that leads no further, names in matched directories do, and
 * at last objects whose first request was the same.
 */
#include "compare/align.h"
#include "compare/internal.h"
#include "compare/lags.h"
#include "compare/objects.h"

#include <stdio.h>
#include <stdlib.h>

/* What lane statements return. */
struct lane {
    sqlite3_stmt *stmt;
    struct align_element element;
    int64_t client, name;
    bool has_row;
};

struct match {
    struct compare *c;
    struct objects objects;
    struct lane lane[SIDES];
    sqlite3_stmt *names[SIDES], *put, *object;
    uint32_t row; /* of the pair of objects whose lanes are aligned; 0: none */
    int64_t client, name;
    struct align_windows *windows;
    struct lags *lags;
    uint32_t aligned, named; /* pairs of objects that were seen to */
    uint64_t pairs;
};

_Static_assert(CHANGE_STATES == 10, "CHANGE_COLUMNS and LANE_COLUMNS name all");

static const char make_tables[] =
    "CREATE TEMP TABLE pair (kind, reason, ref, sut, object, client, listing, "
    "place, " CHANGE_COLUMNS ", other_last);"
    "CREATE TEMP TABLE name1 AS SELECT parent, name, min(id) AS id, object FROM ref.name_event"
    " WHERE event <> 3 AND parent IS NOT NULL AND object IS NOT NULL GROUP BY parent, name, object;"
    "CREATE TEMP TABLE name2 AS SELECT parent, name, min(id) AS id, object FROM sut.name_event"
    " WHERE event <> 3 AND parent IS NOT NULL AND object IS NOT NULL GROUP BY parent, name, object;"
    "CREATE INDEX temp.name1_in_order ON name1 (parent, name, id, object);"
    "CREATE INDEX temp.name2_in_order ON name2 (parent, name, id, object);";

static int put_object(struct match *m, const char *path_sql, int64_t by, struct err *err)
{
    const struct object_pair *pair = &m->objects.pairs[m->objects.count - 1];
    sqlite3_stmt *stmt = NULL;
    int result = 0;

    sqlite3_bind_int64(m->object, 1, m->objects.count);
    sqlite3_bind_int64(m->object, 2, pair->object[REF]);
    sqlite3_bind_int64(m->object, 3, pair->object[SUT]);
    sqlite3_bind_int(m->object, 4, pair->how);
    sqlite3_bind_null(m->object, 5);
    if (path_sql) {
        result = tables_prepare(m->c->db, path_sql, &stmt, err);
        if (result == 0) {
            sqlite3_bind_int64(stmt, 1, by);
            result = db_row(m->c->db, stmt, err);
            if (result > 0)
                db_bind_text(m->object, 5, (const char *)sqlite3_column_text(stmt, 0));
        }
    }
    if (result >= 0)
        result = tables_step(m->c->db, m->object, err);
    sqlite3_finalize(stmt);
    return result;
}

static const char path_of_operation[] =
    "SELECT p.text FROM ref.operation o JOIN ref.path p ON p.id = o.path WHERE o.id = ?1";

static const char path_of_root[] =
    "SELECT name FROM ref.name_event WHERE object = ?1 AND parent IS NULL ORDER BY id LIMIT 1";

static int match(struct match *m, uint32_t ref, uint32_t sut, enum match_how how,
                 const char *path_sql, int64_t by, struct err *err)
{
    int result = matched_match(&m->objects, ref, sut, how, err);

    return result > 0 ? put_object(m, path_sql, by, err) : result;
}

/* --- lanes */

static int advance(struct match *m, struct lane *lane, struct err *err)
{
    int result = db_row(m->c->db, lane->stmt, err);

    lane->has_row = result > 0;
    if (result > 0) {
        lane->client = sqlite3_column_int64(lane->stmt, 0);
        lane->name = sqlite3_column_int64(lane->stmt, 1);
        lane->element =
            (struct align_element){ .time = sqlite3_column_int64(lane->stmt, 2),
                                    .id = sqlite3_column_int64(lane->stmt, 3),
                                    .key = (uint64_t)sqlite3_column_int64(lane->stmt, 4),
                                    .made = (uint32_t)sqlite3_column_int64(lane->stmt, 5) };
        for (int i = 0; i < CHANGE_STATES; i++)
            lane->element.state[i] = sqlite3_column_int64(lane->stmt, 6 + i);
    }
    return result < 0 ? result : 0;
}

static int next(void *ctx, int side, struct align_element *element, struct err *err)
{
    struct match *m = ctx;
    struct lane *lane = &m->lane[side];

    if (!lane->has_row || lane->client != m->client || lane->name != m->name)
        return 0;
    *element = lane->element;
    return advance(m, lane, err) < 0 ? -err->code : 1;
}

static int put(void *ctx, const struct align_element *ref, const struct align_element *sut,
               struct err *err)
{
    struct match *m = ctx;

    sqlite3_bind_int(m->put, 1, ref && sut ? ALIGN_PAIR : ALIGN_ONE_SIDED);
    sqlite3_bind_int(m->put, 2, ref && sut ? REASON_NONE : REASON_NOT_ASKED);
    tables_bind_unless(m->put, 3, ref ? ref->id : 0, 0);
    tables_bind_unless(m->put, 4, sut ? sut->id : 0, 0);
    tables_bind_unless(m->put, 5, m->row, 0);
    sqlite3_bind_int64(m->put, 6, m->client);
    tables_bind_unless(m->put, 7, ref ? ref->time : INT64_MIN, INT64_MIN);
    for (int i = 0; i < CHANGE_LAST; i++) /* sums: they may wrap */
        tables_bind_unless(
            m->put, 8 + i,
            ref && sut ? (int64_t)((uint64_t)ref->state[i] - (uint64_t)sut->state[i]) : 0, 0);
    tables_bind_unless(m->put, 8 + CHANGE_LAST,
                       ref && sut && ref->state[CHANGE_LAST] != sut->state[CHANGE_LAST], 0);
    if (tables_step(m->c->db, m->put, err) < 0)
        return -err->code;
    if (!ref || !sut)
        return 0;
    m->pairs++;
    lags_note(m->lags, m->client, ref->time, sut->time);
    if (!m->row) /* MOUNT */
        return match(m, ref->made, sut->made, MATCH_ROOT, path_of_root, ref->made, err);
    return match(m, ref->made, sut->made, MATCH_PAIR, path_of_operation, ref->id, err);
}

static bool expect(void *ctx, const struct align_element *ref, int64_t *sut_time, int64_t *error)
{
    struct match *m = ctx;

    return lags_expect(m->lags, m->client, ref->time, sut_time, error);
}

/* Aligns what each client asked of two objects; 0 and 0: of none. */
static int align_objects(struct match *m, uint32_t row, struct err *err)
{
    const struct align align = { next, put, expect, m };
    int result = 0;

    m->row = row;
    for (int side = 0; result == 0 && side < SIDES; side++) {
        sqlite3_bind_int64(m->lane[side].stmt, 1, row ? m->objects.pairs[row - 1].object[side] : 0);
        result = advance(m, &m->lane[side], err);
    }
    while (result == 0 && (m->lane[REF].has_row || m->lane[SUT].has_row)) {
        const struct lane *first = &m->lane[REF], *other = &m->lane[SUT];

        if (!first->has_row ||
            (other->has_row && (other->client < first->client ||
                                (other->client == first->client && other->name < first->name))))
            first = other;
        m->client = first->client;
        m->name = first->name;
        result = align_run(m->windows, &align, err);
    }
    sqlite3_reset(m->lane[REF].stmt);
    sqlite3_reset(m->lane[SUT].stmt);
    return result;
}

/* --- names */

struct named {
    const char *name;
    uint32_t object;
    bool has_row;
};

/* The next name of an object that is not matched. */
static int next_name(struct match *m, int side, struct named *n, struct err *err)
{
    int result;

    while ((result = db_row(m->c->db, m->names[side], err)) > 0) {
        n->name = (const char *)sqlite3_column_text(m->names[side], 0);
        n->object = (uint32_t)sqlite3_column_int64(m->names[side], 1);
        if (n->name && !matched_row(&m->objects, side, n->object))
            break;
    }
    n->has_row = result > 0;
    return result < 0 ? result : 0;
}

static int match_names(struct match *m, uint32_t row, struct err *err)
{
    struct named n[SIDES];
    int result = 0;

    for (int side = 0; result == 0 && side < SIDES; side++) {
        sqlite3_bind_int64(m->names[side], 1, m->objects.pairs[row - 1].object[side]);
        result = next_name(m, side, &n[side], err);
    }
    while (result == 0 && n[REF].has_row && n[SUT].has_row) {
        int order = strcmp(n[REF].name, n[SUT].name);

        if (order == 0) {
            char *quoted = sqlite3_mprintf(
                "SELECT path || '/' || %Q FROM main.object WHERE id = ?1", n[REF].name);

            result = quoted ? match(m, n[REF].object, n[SUT].object, MATCH_NAME, quoted, row, err)
                            : err_set(err, ERR_SYSTEM, "out of memory");
            sqlite3_free(quoted);
        }
        if (result == 0 && order <= 0)
            result = next_name(m, REF, &n[REF], err);
        if (result == 0 && order >= 0)
            result = next_name(m, SUT, &n[SUT], err);
    }
    sqlite3_reset(m->names[REF]);
    sqlite3_reset(m->names[SUT]);
    return result;
}

/* Everything that follows from what was matched so far. */
static int follow(struct match *m, struct err *err)
{
    int result = 0;

    while (result == 0 && (m->aligned < m->objects.count || m->named < m->objects.count)) {
        if (m->aligned < m->objects.count)
            result = align_objects(m, ++m->aligned, err);
        else
            result = match_names(m, ++m->named, err);
    }
    return result;
}

/* --- roots and the like */

static const char find_roots[] =
    "SELECT DISTINCT e.name, e.object FROM %s.name_event e JOIN %s.object o ON o.id = e.object"
    " WHERE e.parent IS NULL AND %s ORDER BY e.id";

static int open_roots(struct match *m, int side, sqlite3_stmt **stmt, struct err *err)
{
    const struct compare_side *s = &m->c->side[side];
    char *where = s->server ? sqlite3_mprintf("o.server = %Q", s->server) : sqlite3_mprintf("1");
    char *sql = where ? sqlite3_mprintf(find_roots, s->schema, s->schema, where) : NULL;
    int result =
        sql ? tables_prepare(m->c->db, sql, stmt, err) : err_set(err, ERR_SYSTEM, "out of memory");

    sqlite3_free(where);
    sqlite3_free(sql);
    return result;
}

/* MOUNT's objects: by equal paths, then in their order. */
static int match_roots(struct match *m, bool by_path, struct err *err)
{
    sqlite3_stmt *ref = NULL, *sut = NULL;
    int result, found = 0;

    if (open_roots(m, REF, &ref, err) < 0 || open_roots(m, SUT, &sut, err) < 0) {
        sqlite3_finalize(ref);
        return -err->code;
    }
    while ((result = db_row(m->c->db, ref, err)) > 0) {
        const char *path = (const char *)sqlite3_column_text(ref, 0);
        uint32_t object = (uint32_t)sqlite3_column_int64(ref, 1);
        char *sql = sqlite3_mprintf("SELECT %Q", path);

        if (matched_row(&m->objects, REF, object)) {
            sqlite3_free(sql);
            continue;
        }
        while (sql && (found = db_row(m->c->db, sut, err)) > 0) {
            const char *other = (const char *)sqlite3_column_text(sut, 0);
            uint32_t candidate = (uint32_t)sqlite3_column_int64(sut, 1);

            if (matched_row(&m->objects, SUT, candidate) || (by_path && strcmp(path, other) != 0))
                continue;
            found = match(m, object, candidate, MATCH_ROOT, sql, 0, err);
            break;
        }
        sqlite3_reset(sut);
        sqlite3_free(sql);
        if (!sql)
            result = err_set(err, ERR_SYSTEM, "out of memory");
        if (found < 0 || !sql) {
            result = -err->code;
            break;
        }
    }
    sqlite3_finalize(ref);
    sqlite3_finalize(sut);
    return result;
}

/* Objects that nothing led to, with their first request. */
struct orphan {
    int64_t time, id;
    uint64_t key;
    uint32_t object, order;
    uint32_t passed; /* of the first one with a key: so many are matched */
};

static int read_orphans(struct match *m, int side, struct orphan **orphans, uint32_t *count,
                        struct err *err)
{
    uint32_t cap = 0;
    sqlite3_stmt *stmt;
    char sql[256];
    int result;

    *orphans = NULL;
    *count = 0;
    snprintf(sql, sizeof(sql),
             "SELECT min(time), id, key, object FROM temp.lane%d WHERE object <> 0 GROUP BY object"
             " ORDER BY 1, 2",
             side + 1);
    if (tables_prepare(m->c->db, sql, &stmt, err) < 0)
        return -err->code;
    while ((result = db_row(m->c->db, stmt, err)) > 0) {
        uint32_t object = (uint32_t)sqlite3_column_int64(stmt, 3);

        if (matched_row(&m->objects, side, object))
            continue;
        if (*count == cap) {
            void *grown = realloc(*orphans, (cap = cap ? cap * 2 : 256) * sizeof(**orphans));

            if (!grown) {
                result = err_set(err, ERR_SYSTEM, "out of memory for objects");
                break;
            }
            *orphans = grown;
        }
        (*orphans)[*count] = (struct orphan){ .time = sqlite3_column_int64(stmt, 0),
                                              .id = sqlite3_column_int64(stmt, 1),
                                              .key = (uint64_t)sqlite3_column_int64(stmt, 2),
                                              .object = object,
                                              .order = *count };
        ++*count;
    }
    sqlite3_finalize(stmt);
    return result;
}

static int by_key(const void *a, const void *b)
{
    const struct orphan *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The first with |key|, or where it would be. */
static uint32_t find_key(const struct orphan *o, uint32_t count, uint64_t key)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (o[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Each with the first of the other side that has the same first request and is free. */
static int match_orphans(struct match *m, struct err *err)
{
    struct orphan *o[SIDES] = { NULL, NULL };
    uint32_t count[SIDES] = { 0, 0 };
    int result = 0;

    for (int side = 0; result == 0 && side < SIDES; side++)
        result = read_orphans(m, side, &o[side], &count[side], err);
    if (result == 0 && count[SUT])
        qsort(o[SUT], count[SUT], sizeof(*o[SUT]), by_key);
    for (uint32_t i = 0; result == 0 && i < count[REF]; i++) {
        const struct orphan *ref = &o[REF][i];
        uint32_t first = find_key(o[SUT], count[SUT], ref->key), best = first;

        if (first == count[SUT] || o[SUT][first].key != ref->key ||
            matched_row(&m->objects, REF, ref->object))
            continue;
        best += o[SUT][first].passed;
        while (best < count[SUT] && o[SUT][best].key == ref->key &&
               matched_row(&m->objects, SUT, o[SUT][best].object))
            best++;
        o[SUT][first].passed = best - first;
        if (best == count[SUT] || o[SUT][best].key != ref->key)
            continue;
        result = match(m, ref->object, o[SUT][best].object, MATCH_FIRST, path_of_operation, ref->id,
                       err);
        if (result == 0)
            result = follow(m, err);
    }
    free(o[REF]);
    free(o[SUT]);
    return result;
}

/* --- the table */

static const char put_rest[] =
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 2, "
    "reason, id, NULL, NULL, client, NULL,"
    " (SELECT ifnull(call_time, reply_time) FROM ref.operation o WHERE o.id = a.id)"
    " FROM temp.alone1 a;"
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 2, "
    "reason, NULL, id, NULL, client, NULL, NULL FROM temp.alone2;"
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 2, 2, "
    "l.id, NULL, NULL, client, NULL, time FROM temp.lane1 l"
    " WHERE object <> 0 AND object NOT IN (SELECT ref FROM main.object);"
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 2, 2, "
    "NULL, l.id, NULL, client, NULL, NULL FROM temp.lane2 l"
    " WHERE object <> 0 AND object NOT IN (SELECT sut FROM main.object);"
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 3, 0, "
    "p.id, NULL, o.id, p.client, p.first,"
    " (SELECT call_time FROM ref.operation r WHERE r.id = p.id)"
    " FROM temp.part1 p LEFT JOIN main.object o ON o.ref = p.object;"
    "INSERT INTO temp.pair (kind, reason, ref, sut, object, client, listing, place) SELECT 3, 0, "
    "NULL, p.id, o.id, p.client, p.first, NULL"
    " FROM temp.part2 p LEFT JOIN main.object o ON o.sut = p.object;";

/* What only the sut was asked stands behind the pair before it. */
static const char place_rest[] =
    "CREATE INDEX temp.pair_by_sut ON pair (sut, place) WHERE ref IS NOT NULL AND sut IS NOT NULL;"
    "UPDATE temp.pair SET place = ifnull((SELECT p.place FROM temp.pair p WHERE p.ref IS NOT NULL"
    " AND p.sut IS NOT NULL AND p.sut < pair.sut ORDER BY p.sut DESC LIMIT 1), 0)"
    " WHERE ref IS NULL;";

static const char put_all[] =
    "INSERT INTO main.alignment SELECT NULL, p.kind, p.reason, p.ref, p.sut, p.object, p.client,"
    " p.listing, a.bits, b.bits, " CHANGE_COLUMNS ", p.other_last FROM temp.pair p"
    " LEFT JOIN temp.overlap1 a ON a.id = p.ref"
    " LEFT JOIN temp.overlap2 b ON b.id = p.sut ORDER BY p.place, p.ref IS NULL, p.ref, p.sut;"
    "UPDATE main.object SET type = (SELECT type FROM ref.object o WHERE o.id = object.ref);"
    "DROP TABLE temp.pair; DROP TABLE temp.lane1; DROP TABLE temp.lane2; DROP TABLE temp.name1;"
    "DROP TABLE temp.name2; DROP TABLE temp.part1; DROP TABLE temp.part2; DROP TABLE temp.alone1;"
    "DROP TABLE temp.alone2; DROP TABLE temp.overlap1; DROP TABLE temp.overlap2;"
    "DROP TABLE temp.gone1; DROP TABLE temp.gone2;";

static int prepare(struct match *m, struct err *err)
{
    sqlite3 *db = m->c->db;

    if (tables_run(db, make_tables, err) < 0 ||
        tables_prepare(db, "INSERT INTO temp.pair VALUES (?,?,?,?,?,?,NULL,?,?,?,?,?,?,?,?,?,?,?)",
                       &m->put, err) < 0 ||
        tables_prepare(db, "INSERT INTO main.object (id, ref, sut, how, path) VALUES (?,?,?,?,?)",
                       &m->object, err) < 0)
        return -err->code;
    for (int side = 0; side < SIDES; side++) {
        char sql[256];

        snprintf(sql, sizeof(sql),
                 "SELECT " LANE_COLUMNS " FROM temp.lane%d"
                 " WHERE object = ? ORDER BY client, name, time, id",
                 side + 1);
        if (tables_prepare(db, sql, &m->lane[side].stmt, err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql),
                 "SELECT name, object FROM temp.name%d WHERE parent = ? ORDER BY name, id",
                 side + 1);
        if (tables_prepare(db, sql, &m->names[side], err) < 0)
            return -err->code;
    }
    return 0;
}

static int run(struct match *m, struct err *err)
{
    m->windows = align_open(err);
    m->lags =
        m->windows ? lags_new(m->c->side[REF].first_time, m->c->side[REF].last_time, err) : NULL;
    if (!m->lags || matched_init(&m->objects, m->c->db, err) < 0 ||
        tables_run(m->c->db, "BEGIN", err) < 0 || prepare(m, err) < 0 ||
        match_roots(m, true, err) < 0 || align_objects(m, 0, err) < 0 ||
        match_roots(m, false, err) < 0 || follow(m, err) < 0 || match_orphans(m, err) < 0)
        return -err->code;
    return tables_run(m->c->db, "COMMIT", err);
}

static int put_table(sqlite3 *db, struct err *err)
{
    int64_t alone;

    if (tables_run(db, put_rest, err) < 0 ||
        db_number(db, "SELECT EXISTS (SELECT 1 FROM temp.pair WHERE ref IS NULL)", 0, &alone, err) <
            0 ||
        (alone && tables_run(db, place_rest, err) < 0))
        return -err->code;
    return tables_run(db, put_all, err);
}

int match_run(struct compare *c, struct err *err)
{
    struct match m = { .c = c };
    int result = run(&m, err);

    sqlite3_finalize(m.put);
    sqlite3_finalize(m.object);
    for (int side = 0; side < SIDES; side++) {
        sqlite3_finalize(m.lane[side].stmt);
        sqlite3_finalize(m.names[side]);
    }
    matched_free(&m.objects);
    align_close(m.windows);
    lags_free(m.lags);
    c->pairs = m.pairs;
    if (result == 0 && !m.pairs)
        return err_set(err, ERR_INPUT, "the two sides have no operation in common");
    return result < 0 ? result : put_table(c->db, err);
}
