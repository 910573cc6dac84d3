/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/match.c
 *
 * Matches objects from the roots down.  The requests on two matched objects are aligned, the
 * objects that aligned requests found or made are matched, and so on.  When this leads no further,
 * names in matched directories are used, and at last objects whose first requests are equal.
 * match_numbers.c does this for a recorded replay, whose operations say what they belong to.
 * renewals.c handles a new handle for a file that had another one before.
 */
#include "compare/match_parts.h"
#include "compare/state_columns.h"

#include <stdio.h>
#include <string.h>

static const char make_tables[] =
    "CREATE TEMP TABLE pair (kind, reason, ref, sut, object, client, listing, "
    "place, " STATE_COLUMNS "other_last);"
    "CREATE TEMP TABLE name1 AS SELECT parent, name, min(id) AS id, object FROM ref.name_event"
    " WHERE event NOT IN (3, 5) AND parent IS NOT NULL AND object IS NOT NULL GROUP BY parent, "
    "name, object;"
    "CREATE TEMP TABLE name2 AS SELECT parent, name, min(id) AS id, object FROM sut.name_event"
    " WHERE event NOT IN (3, 5) AND parent IS NOT NULL AND object IS NOT NULL GROUP BY parent, "
    "name, object;"
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
        result = sql_prepare(m->c->db, path_sql, &stmt, err);
        if (result == 0) {
            sqlite3_bind_int64(stmt, 1, by);
            result = sql_row(stmt, err);
            if (result > 0)
                sql_bind_text(m->object, 5, (const char *)sqlite3_column_text(stmt, 0));
        }
    }
    if (result >= 0)
        result = sql_step(m->object, err);
    sqlite3_finalize(stmt);
    return result;
}

/* Paths are those that the reference has. */
const char match_path_of_operation[] =
    "SELECT p.text FROM ref.operation o JOIN ref.path p ON p.id = o.path WHERE o.id = ?1";

static const char path_of_root[] =
    "SELECT name FROM ref.name_event WHERE object = ?1 AND parent IS NULL ORDER BY id LIMIT 1";

int match_objects(struct match *m, const struct alike *a, struct err *err)
{
    int ref = match_side(m, REF);
    int result = matched_match(&m->objects, a->object[ref], a->object[!ref], a->how, err);

    return result > 0 ? put_object(m, a->path_sql, a->by[ref], err) : result;
}

/* --- sequences of requests */

int match_advance(struct sequence *sequence, struct err *err)
{
    int result = sql_row(sequence->stmt, err);

    sequence->has_row = result > 0;
    if (result > 0) {
        sequence->client = sqlite3_column_int64(sequence->stmt, SEQUENCE_CLIENT);
        sequence->name = sqlite3_column_int64(sequence->stmt, SEQUENCE_NAME);
        sequence->element = (struct align_element){
            .time = sqlite3_column_int64(sequence->stmt, SEQUENCE_TIME),
            .id = sqlite3_column_int64(sequence->stmt, SEQUENCE_ID),
            .done = sqlite3_column_int64(sequence->stmt, SEQUENCE_DONE),
            .key = (uint64_t)sqlite3_column_int64(sequence->stmt, SEQUENCE_KEY),
            .made = (uint32_t)sqlite3_column_int64(sequence->stmt, SEQUENCE_MADE),
            .failed = sqlite3_column_int(sequence->stmt, SEQUENCE_FAILED),
            .again = (uint32_t)sqlite3_column_int64(sequence->stmt, SEQUENCE_AGAIN)
        };
        for (int i = 0; i < CHANGE_STATES; i++)
            sequence->element.state[i] = sqlite3_column_int64(sequence->stmt, SEQUENCE_STATE + i);
    }
    return result < 0 ? result : 0;
}

static int next(void *ctx, int side, struct align_element *element, struct err *err)
{
    struct match *m = ctx;
    struct sequence *sequence = &m->sequence[side];

    if (!sequence->has_row || sequence->client != m->client || sequence->name != m->name)
        return 0;
    *element = sequence->element;
    return match_advance(sequence, err) < 0 ? -err->code : 1;
}

#define PARAMETER(state, column) ",?"
static const char put_pair[] =
    "INSERT INTO temp.pair VALUES (?,?,?,?,?,?,NULL,?" STATE_COLUMN_LIST(PARAMETER) ",?)";
enum { PUT_KIND = 1, PUT_REASON, PUT_REF, PUT_SUT, PUT_OBJECT, PUT_CLIENT, PUT_PLACE, PUT_STATE };

int match_put_requests(struct match *m, const struct align_element *a,
                       const struct align_element *b, struct err *err)
{
    sqlite3_bind_int(m->put, PUT_KIND, a && b ? ALIGN_PAIR : ALIGN_ONE_SIDED);
    sqlite3_bind_int(m->put, PUT_REASON,
                     a && b                  ? REASON_NONE
                     : (a ? a : b)->doubtful ? REASON_DOUBTFUL
                                             : m->reason);
    sql_bind_unless(m->put, PUT_REF + match_side(m, ONE), a ? a->id : 0, 0);
    sql_bind_unless(m->put, PUT_REF + match_side(m, OTHER), b ? b->id : 0, 0);
    sql_bind_unless(m->put, PUT_OBJECT, m->row, 0);
    sqlite3_bind_int64(m->put, PUT_CLIENT, m->client);
    sql_bind_unless(m->put, PUT_PLACE, a ? a->time : INT64_MIN, INT64_MIN);
    for (int i = 0; i < CHANGE_LAST; i++) /* sums: they may wrap */
        sql_bind_unless(m->put, PUT_STATE + i,
                        a && b ? (int64_t)((uint64_t)a->state[i] - (uint64_t)b->state[i]) : 0, 0);
    sql_bind_unless(m->put, PUT_STATE + CHANGE_LAST,
                    a && b && a->state[CHANGE_LAST] != b->state[CHANGE_LAST], 0);
    if (sql_step(m->put, err) < 0)
        return -err->code;
    if (!a || !b)
        return 0;
    m->pairs++;
    time_offsets_note(m->offsets, m->client, a->time, b->time);
    for (int i = 0; i < 2; i++)
        if (renewals_note(&m->renewals, match_side(m, i), i == ONE ? a : b,
                          (i == ONE ? b : a)->made, err) < 0)
            return -err->code;
    const struct alike root = {
        { a->made, b->made }, MATCH_ROOT, path_of_root, { a->made, b->made }
    };
    const struct alike made = {
        { a->made, b->made }, MATCH_PAIR, match_path_of_operation, { a->id, b->id }
    };

    return match_objects(m, m->row ? &made : &root /* MOUNT */, err);
}

static int put(void *ctx, const struct align_element *a, const struct align_element *b,
               struct err *err)
{
    return match_put_requests(ctx, a, b, err);
}

static bool expect(void *ctx, const struct align_element *a, struct align_expected *e)
{
    struct match *m = ctx;

    return time_offsets_expect(m->offsets, m->client, a->time, e);
}

/* Aligns what each client asked of two objects; 0 and 0: of none. */
static int align_objects(struct match *m, uint32_t row, struct err *err)
{
    const struct align align = { next, put, expect, m };
    int result = 0;

    m->row = row;
    for (int i = 0; result == 0 && i < 2; i++) {
        sqlite3_bind_int64(m->sequence[i].stmt, 1,
                           row ? m->objects.pairs[row - 1].object[match_side(m, i)] : 0);
        result = match_advance(&m->sequence[i], err);
    }
    while (result == 0 && (m->sequence[ONE].has_row || m->sequence[OTHER].has_row)) {
        const struct sequence *first = &m->sequence[ONE], *other = &m->sequence[OTHER];

        if (!first->has_row ||
            (other->has_row && (other->client < first->client ||
                                (other->client == first->client && other->name < first->name))))
            first = other;
        m->client = first->client;
        m->name = first->name;
        result = align_run(m->windows, &align, err);
    }
    sqlite3_reset(m->sequence[ONE].stmt);
    sqlite3_reset(m->sequence[OTHER].stmt);
    return result < 0 ? result : renewals_apply(&m->renewals, m->aligned, err);
}

/* --- names */

struct named {
    const char *name;
    uint32_t object;
    bool has_row;
};

/* The next name of an object that is not matched. */
static int next_name(struct match *m, int which, struct named *n, struct err *err)
{
    int result;

    while ((result = sql_row(m->names[which], err)) > 0) {
        n->name = (const char *)sqlite3_column_text(m->names[which], 0);
        n->object = (uint32_t)sqlite3_column_int64(m->names[which], 1);
        if (n->name && !matched_row(&m->objects, match_side(m, which), n->object))
            break;
    }
    n->has_row = result > 0;
    return result < 0 ? result : 0;
}

static int match_names(struct match *m, uint32_t row, struct err *err)
{
    struct named n[2];
    int result = 0;

    for (int i = 0; result == 0 && i < 2; i++) {
        sqlite3_bind_int64(m->names[i], 1, m->objects.pairs[row - 1].object[match_side(m, i)]);
        result = next_name(m, i, &n[i], err);
    }
    while (result == 0 && n[ONE].has_row && n[OTHER].has_row) {
        int order = strcmp(n[ONE].name, n[OTHER].name);

        if (order == 0) {
            char *quoted = sqlite3_mprintf(
                "SELECT path || '/' || %Q FROM main.object WHERE id = ?1", n[ONE].name);
            const struct alike named = {
                { n[ONE].object, n[OTHER].object }, MATCH_NAME, quoted, { row, row }
            };

            result = quoted ? match_objects(m, &named, err) : err_memory(err, "a statement");
            sqlite3_free(quoted);
        }
        if (result == 0 && order <= 0)
            result = next_name(m, ONE, &n[ONE], err);
        if (result == 0 && order >= 0)
            result = next_name(m, OTHER, &n[OTHER], err);
    }
    sqlite3_reset(m->names[ONE]);
    sqlite3_reset(m->names[OTHER]);
    return result;
}

int match_follow(struct match *m, struct err *err)
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

int match_all_names(struct match *m, struct err *err)
{
    int result = 0;

    while (result == 0 && m->named < m->objects.count)
        result = match_names(m, ++m->named, err);
    return result;
}

/* --- roots and the like */

static const char find_roots[] =
    "SELECT DISTINCT e.name, e.object FROM %s.name_event e JOIN %s.object o ON o.id = e.object"
    " WHERE e.parent IS NULL AND %s ORDER BY e.id";

static int open_roots(struct match *m, int which, sqlite3_stmt **stmt, struct err *err)
{
    const struct compare_side *s = &m->c->side[match_side(m, which)];
    char *where = s->server ? sqlite3_mprintf("o.server = %Q", s->server) : sqlite3_mprintf("1");
    char *sql = where ? sqlite3_mprintf(find_roots, s->schema, s->schema, where) : NULL;
    int result = sql ? sql_prepare(m->c->db, sql, stmt, err) : err_memory(err, "a statement");

    sqlite3_free(where);
    sqlite3_free(sql);
    return result;
}

/* Matches the root that |one| is at with the first free one of |other|; 0, or negative. */
static int match_root(struct match *m, sqlite3_stmt *one, sqlite3_stmt *other, bool by_path,
                      struct err *err)
{
    const char *path = (const char *)sqlite3_column_text(one, 0);
    uint32_t object = (uint32_t)sqlite3_column_int64(one, 1);
    int found = 0;

    if (matched_row(&m->objects, match_side(m, ONE), object))
        return 0;
    while ((found = sql_row(other, err)) > 0) {
        const char *like = (const char *)sqlite3_column_text(other, 0);
        uint32_t candidate = (uint32_t)sqlite3_column_int64(other, 1);

        if (matched_row(&m->objects, match_side(m, OTHER), candidate) ||
            (by_path && strcmp(path, like) != 0))
            continue;
        const struct alike root = {
            { object, candidate }, MATCH_ROOT, path_of_root, { object, candidate }
        };

        found = match_objects(m, &root, err);
        break;
    }
    sqlite3_reset(other);
    return found < 0 ? found : 0;
}

/* MOUNT's objects: by equal paths, then in their order. */
static int match_roots(struct match *m, bool by_path, struct err *err)
{
    sqlite3_stmt *one = NULL, *other = NULL;
    int result;

    if (open_roots(m, ONE, &one, err) < 0 || open_roots(m, OTHER, &other, err) < 0) {
        sqlite3_finalize(one);
        return -err->code;
    }
    while ((result = sql_row(one, err)) > 0)
        if (match_root(m, one, other, by_path, err) < 0) {
            result = -err->code;
            break;
        }
    sqlite3_finalize(one);
    sqlite3_finalize(other);
    return result;
}

static int prepare(struct match *m, struct err *err)
{
    sqlite3 *db = m->c->db;

    if (sql_run(db, make_tables, err) < 0 || sql_prepare(db, put_pair, &m->put, err) < 0 ||
        sql_prepare(db, "INSERT INTO main.object (id, ref, sut, how, path) VALUES (?,?,?,?,?)",
                    &m->object, err) < 0)
        return -err->code;
    for (int i = 0; i < 2; i++) {
        char sql[512];

        snprintf(sql, sizeof(sql),
                 "SELECT " SEQUENCE_COLUMNS " FROM temp.sequence%d"
                 " WHERE object = ? ORDER BY client, name, time, id",
                 db_side(match_side(m, i)));
        if (sql_prepare(db, sql, &m->sequence[i].stmt, err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql),
                 "SELECT name, object FROM temp.name%d WHERE parent = ? ORDER BY name, id",
                 db_side(match_side(m, i)));
        if (sql_prepare(db, sql, &m->names[i], err) < 0)
            return -err->code;
    }
    return 0;
}

/* Requests of a client that occur once on each side.  They belong together, unless each side lost
 * another one: those are out of order against both neighbours on a side, and are left out. */
static const char find_sure[] =
    "SELECT client, ref, sut FROM (SELECT a.client, a.time AS ref, b.time AS sut,"
    " lag(b.time, 1) OVER w AS before, lag(b.time, 2) OVER w AS before2,"
    " lead(b.time, 1) OVER w AS after, lead(b.time, 2) OVER w AS after2 FROM"
    " (SELECT client, key, time FROM temp.sequence%d GROUP BY 1, 2 HAVING count(*) = 1) a JOIN"
    " (SELECT client, key, time FROM temp.sequence%d GROUP BY 1, 2 HAVING count(*) = 1) b"
    " ON b.client = a.client AND b.key = a.key"
    " WINDOW w AS (PARTITION BY a.client ORDER BY a.time))"
    " WHERE NOT (ifnull(sut > after AND sut > after2, 0) OR"
    " ifnull(sut < before AND sut < before2, 0))";

static int note_sure(struct match *m, struct err *err)
{
    char sql[sizeof(find_sure) + 32];
    sqlite3_stmt *stmt;
    int result;

    snprintf(sql, sizeof(sql), find_sure, db_side(match_side(m, ONE)),
             db_side(match_side(m, OTHER)));
    if (sql_prepare(m->c->db, sql, &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0)
        time_offsets_note_sure(m->offsets, sqlite3_column_int64(stmt, 0),
                               sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2));
    sqlite3_finalize(stmt);
    return result;
}

static int align_all(struct match *m, struct err *err)
{
    if (note_sure(m, err) < 0 || match_roots(m, true, err) < 0 || align_objects(m, 0, err) < 0 ||
        match_roots(m, false, err) < 0 || match_follow(m, err) < 0)
        return -err->code;
    return match_orphans(m, err);
}

static int run(struct match *m, struct err *err)
{
    const struct compare_side *first = &m->c->side[m->c->first];

    m->windows = align_open(err);
    m->offsets = m->windows ? time_offsets_new(first->first_time, first->last_time, err) : NULL;
    m->renewals.c = m->c;
    m->renewals.objects = &m->objects;
    if (!m->offsets || matched_open(&m->objects, m->c->db, err) < 0 ||
        sql_run(m->c->db, "BEGIN", err) < 0 || prepare(m, err) < 0 ||
        (m->c->by_number ? match_numbers(m, err) : align_all(m, err)) < 0)
        return -err->code;
    return sql_run(m->c->db, "COMMIT", err);
}

int match_run(struct compare *c, struct err *err)
{
    struct match m = { .c = c, .reason = REASON_NOT_ASKED };
    int result = run(&m, err);

    sqlite3_finalize(m.put);
    sqlite3_finalize(m.object);
    for (int i = 0; i < 2; i++) {
        sqlite3_finalize(m.sequence[i].stmt);
        sqlite3_finalize(m.names[i]);
    }
    matched_free(&m.objects);
    renewals_close(&m.renewals);
    align_close(m.windows);
    time_offsets_free(m.offsets);
    c->pairs = m.pairs;
    if (result == 0 && !m.pairs)
        return err_set(err, ERR_INPUT, "the two sides have no operation in common");
    return result < 0 ? result : match_put(c, err);
}
