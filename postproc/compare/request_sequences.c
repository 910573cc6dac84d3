/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/request_sequences.c
 *
 * One pass over the operations of each side, in the order of calls.
 */
#include "align/changes.h"
#include "align/overlap.h"
#include "compare/compare_parts.h"
#include "compare/open_listings.h"
#include "compare/retries.h"
#include "compare/row.h"
#include "compare/state_columns.h"
#include "judge/clock.h"
#include "judge/judge_body.h"

#include "record/record.h"
#include "wire/failure.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

enum { NO_CLIENT = 0, NAME_FURTHER = 1 };

struct sequences {
    struct compare *c;
    int side;
    sqlite3_stmt *select, *sequence, *part, *overlap, *alone, *gone, *root;
    /* For requests that say which of the other side they repeat, else NULL: its key, and where the
     * listing began of which it is a part. */
    sqlite3_stmt *counterpart, *listed;
    struct overlap overlaps;
    struct clock_side *clock;
    struct body body;
    struct changes *changes;
    struct retries retries;
    bool names_count; /* when requests are compared */
    bool is_log;      /* compare_is_log */
    struct open_listings listings;
};

enum { COL_CLIENT = ROW_COUNT, COL_BOTH, COL_CALLER, COL_NUMBERED, COL_FLOW };

static const char make_tables[] =
    "CREATE TEMP TABLE sequence%d (object, " SEQUENCE_COLUMNS ");"
    "CREATE TEMP TABLE part%d (id INTEGER PRIMARY KEY, first INTEGER, object INTEGER,"
    " client INTEGER);"
    "CREATE TEMP TABLE overlap%d (id INTEGER PRIMARY KEY, bits INTEGER);"
    "CREATE TEMP TABLE alone%d (id INTEGER PRIMARY KEY, reason INTEGER, client INTEGER);"
    "CREATE TEMP TABLE gone%d (operation INTEGER, object INTEGER);"
    "CREATE TEMP TABLE root%d (name INTEGER PRIMARY KEY);"
    "INSERT INTO temp.gone%d SELECT operation, object FROM %s.name_event"
    " WHERE event = 3 AND object IS NOT NULL AND operation IS NOT NULL;"
    "CREATE INDEX temp.gone%d_by_operation ON gone%d (operation, object);";

static const char select_operations[] =
    "SELECT " ROW_COLUMNS("o") ", c.id, c.ref IS NOT NULL AND c.sut IS NOT NULL, k.number, "
                               "o.counterpart IS NOT NULL, o.flow"
                               " FROM %s.operation o LEFT JOIN main.client c ON c.%s = o.client"
                               " LEFT JOIN temp.caller%d k ON k.credential = o.credential%s"
                               " ORDER BY ifnull(o.call_time, o.reply_time), o.id";

static int put_overlap(void *ctx, int64_t id, uint32_t bits, struct err *err)
{
    struct sequences *l = ctx;

    sqlite3_bind_int64(l->overlap, 1, id);
    sqlite3_bind_int64(l->overlap, 2, bits);
    return sql_step(l->overlap, err);
}

static int put_alone(struct sequences *l, const struct effect *e, enum align_reason reason,
                     int64_t client, struct err *err)
{
    sqlite3_bind_int64(l->alone, 1, e->id);
    sqlite3_bind_int(l->alone, 2, (int)reason);
    sql_bind_unless(l->alone, 3, client, NO_CLIENT);
    return sql_step(l->alone, err);
}

static int find_gone(struct sequences *l, const struct effect *e, uint32_t *gone, struct err *err)
{
    int result;

    *gone = 0;
    if (!action_takes_name(effect_action(e)))
        return 0;
    sqlite3_bind_int64(l->gone, 1, e->id);
    result = sql_row(l->gone, err);
    if (result > 0)
        *gone = row_id(l->gone, 0);
    sqlite3_reset(l->gone);
    return result < 0 ? result : 0;
}

/* The change time after a change of the object (or directory) tells of the server's clock.  Of a
 * log, most of what changed nothing is there, because it differs; so it is passed over, as the
 * shadow did. */
static int sample_clock(struct sequences *l, const struct effect *e, struct err *err)
{
    enum whose whose = e->roles & ROLE_PARENT ? OF_PARENT : OF_OBJECT;
    struct attributes a;
    int64_t ctime;

    if (!e->succeeded || !(e->object_role & ROLE_MODIFIES) ||
        (l->is_log && !effect_change_time(e, &ctime)))
        return 0;
    if (e->call_time != INT64_MIN && effect_attributes(e, whose, &a))
        clock_sample(l->clock, a.ctime, e->call_time, e->done_time);
    return steps_note(&l->c->side[l->side].steps, e, err);
}

/* The cookie of a listing's last entry, and whether it is the end. */
static int read_listing_end(struct sequences *l, const struct effect *e, uint64_t *cookie,
                            bool *goes_on, struct err *err)
{
    const struct places_key of = { e->program, e->version, e->procedure, true };
    struct places *places;

    *goes_on = false;
    if (!e->succeeded || e->result != WALK_OK || (e->has_eof && e->eof))
        return 0;
    if (places_get(&l->c->places, &of, &places, err) < 0 ||
        body_read(&l->body, places, effect_result(e), err) < 0)
        return -err->code;
    for (uint32_t i = l->body.count; !*goes_on && i-- > 0;)
        if (l->body.items[i].place->field->cls == CLASS_COOKIE) {
            *cookie = l->body.items[i].value;
            *goes_on = true;
        }
    return 0;
}

/* What |stmt| says of the request that |e| repeats on the other side; else |value| stays. */
static int find_repeated(sqlite3_stmt *stmt, const struct effect *e, int64_t *value,
                         struct err *err)
{
    int result;

    if (!stmt)
        return 0;
    sqlite3_bind_int64(stmt, 1, e->id);
    result = sql_row(stmt, err);
    if (result > 0)
        *value = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return result < 0 ? result : 0;
}

static int put_part(struct sequences *l, const struct effect *e, int64_t first, int64_t client,
                    struct err *err)
{
    sqlite3_bind_int64(l->part, 1, e->id);
    sqlite3_bind_int64(l->part, 2, first);
    sqlite3_bind_int64(l->part, 3, e->object);
    sqlite3_bind_int64(l->part, 4, client);
    return sql_step(l->part, err) < 0 ? -err->code : 1;
}

/* READDIR and the like: what begins a listing is a request of its own, and so is what goes on with
 * one that is not known; what goes on with a known one belongs to that. 1: it was a part. */
static int take_listing(struct sequences *l, const struct effect *e, int64_t client,
                        struct err *err)
{
    struct open_listing now = { .cookie = e->asked.cookie,
                                .object = e->object,
                                .client = (uint32_t)client,
                                .flow = (uint32_t)sqlite3_column_int64(l->select, COL_FLOW),
                                .procedure = e->procedure };
    struct open_listing *open = NULL;
    int64_t first;
    bool goes_on;

    /* a request that repeats a part of a listing belongs to what repeats its beginning */
    if (find_repeated(l->listed, e, &now.first, err) < 0)
        return -err->code;
    if (now.cookie)
        open = open_listings_find(&l->listings, &now);
    first = open ? open->first : 0;
    if (read_listing_end(l, e, &now.cookie, &goes_on, err) < 0)
        return -err->code;
    now.first = first ? first : e->id;
    if (goes_on)
        open_listings_go_on(&l->listings, open, &now);
    else if (open)
        open_listings_end(&l->listings, open);
    return first ? put_part(l, e, first, client, err) : 0;
}

/* An entry of a directory is a thing of its own: its requests are aligned by themselves.  So are
 * those that go on with a listing whose beginning is not known, and those of each caller;
 * and each path that is mounted. */
static int64_t name_of(const struct sequences *l, const struct effect *e)
{
    uint64_t caller = (uint64_t)sqlite3_column_int64(l->select, COL_CALLER), name = 0;

    if (e->procedure->result->roles & ROLE_ENTRY && e->asked.cookie)
        name = NAME_FURTHER;
    else if (e->roles & ROLE_ROOT_PATH)
        name = XXH3_64bits(e->root_path.data, e->root_path.len);
    else if (l->names_count && e->name_role && e->roles & ROLE_PARENT)
        name = XXH3_64bits(e->name.data, e->name.len);
    return (int64_t)(caller ? XXH3_64bits_withSeed(&name, sizeof(name), caller) : name);
}

static void bind_column(struct sequences *l, int column, int64_t value)
{
    sqlite3_bind_int64(l->sequence, 2 + column, value);
}

/* Which repetition of a failed request it is. */
static uint32_t again(struct sequences *l, const struct effect *e, int64_t client, int64_t name,
                      uint64_t key)
{
    const uint64_t of[] = { key, e->object, (uint64_t)client, (uint64_t)name };

    return retries_take(&l->retries, XXH3_64bits(of, sizeof(of)), e);
}

static int put_request(struct sequences *l, const struct effect *e, int64_t client, uint32_t gone,
                       struct err *err)
{
    uint64_t key;
    int64_t name = name_of(l, e), states[CHANGE_STATES], repeated;
    struct bytes digest = sql_column_bytes(l->select, ROW_DATA_DIGEST);
    bool asks_data = e->procedure->arguments->has_data;
    const struct places_key of = { e->program, e->version, e->procedure, false };
    struct places *places;

    if (places_get(&l->c->places, &of, &places, err) < 0 ||
        body_read(&l->body, places, effect_arguments(e), err) < 0)
        return -err->code;
    key = body_request_key(&l->body, asks_data ? digest.data : NULL, digest.len);
    /* A replay has its own cookies, times and file contents in its requests.  What they are
     * repetitions of says which are equal. */
    repeated = (int64_t)key;
    if (find_repeated(l->counterpart, e, &repeated, err) < 0)
        return -err->code;
    key = (uint64_t)repeated;
    changes_before(l->changes, e, states);
    sqlite3_bind_int64(l->sequence, 1, e->object);
    bind_column(l, SEQUENCE_CLIENT, client);
    bind_column(l, SEQUENCE_NAME, name);
    bind_column(l, SEQUENCE_TIME, e->call_time);
    bind_column(l, SEQUENCE_ID, e->id);
    bind_column(l, SEQUENCE_DONE, e->done_time);
    bind_column(l, SEQUENCE_KEY, (int64_t)key);
    bind_column(l, SEQUENCE_MADE, e->new_object);
    bind_column(l, SEQUENCE_FAILED, failure_of_server(e->program, e->rpc_status, e->status));
    bind_column(l, SEQUENCE_AGAIN, again(l, e, client, name, key));
    for (int i = 0; i < CHANGE_STATES; i++)
        bind_column(l, SEQUENCE_STATE + i, states[i]);
    if (changes_note(l->changes, e, gone, key, err) < 0 || sql_step(l->sequence, err) < 0)
        return -err->code;
    if (!(e->roles & ROLE_ROOT_PATH))
        return 0;
    sqlite3_bind_int64(l->root, 1, name);
    return sql_step(l->root, err);
}

static int take_row(struct sequences *l, struct err *err)
{
    struct compare_side *s = &l->c->side[l->side];
    int64_t client = sqlite3_column_int64(l->select, COL_CLIENT);
    struct effect e;
    uint32_t gone;
    int result;

    row_effect(l->select, 0, &e);
    s->operations++;
    /* before the first repeated operation a player prepares the tree */
    if (e.call_time != INT64_MIN && e.call_time < s->first_time &&
        (!l->c->numbered[l->side] || sqlite3_column_int(l->select, COL_NUMBERED)))
        s->first_time = e.call_time;
    if (e.done_time > s->last_time)
        s->last_time = e.done_time;
    if (sqlite3_column_type(l->select, ROW_PROGRAM) == SQLITE_NULL)
        return put_alone(l, &e, REASON_NO_CALL, client, err);
    if (!e.procedure || e.call_flags & SIGHTING_OPAQUE)
        return put_alone(l, &e, REASON_NO_TABLE, client, err);
    if (sample_clock(l, &e, err) < 0 || find_gone(l, &e, &gone, err) < 0 ||
        overlap_called(&l->overlaps, &e, gone, err) < 0)
        return -err->code;
    if (!l->c->by_number && !sqlite3_column_int(l->select, COL_BOTH))
        return put_alone(l, &e, REASON_NO_CLIENT, client, err);
    if (e.procedure->result->roles & ROLE_ENTRY) {
        result = take_listing(l, &e, client, err);
        if (result)
            return result < 0 ? result : 0;
    }
    return put_request(l, &e, client, gone, err);
}

static int find_name(void *ctx, const struct field_place *place)
{
    return !place->result && place->field->role & ROLE_NAME && rules_request(ctx, place);
}

static int prepare(struct sequences *l, const char *format, sqlite3_stmt **stmt, struct err *err)
{
    char sql[512];

    snprintf(sql, sizeof(sql), format, db_side(l->side));
    return sql_prepare(l->c->db, sql, stmt, err);
}

static int prepare_all(struct sequences *l, struct err *err)
{
    const struct compare_side *s = &l->c->side[l->side];
    int n = db_side(l->side), result;
    int64_t objects;
    char count[64];
    char *sql = sqlite3_mprintf(make_tables, n, n, n, n, n, n, n, s->schema, n, n);
    char *where =
        s->server ? sqlite3_mprintf(" WHERE o.server = %Q", s->server) : sqlite3_mprintf("");
    char *select =
        where ? sqlite3_mprintf(select_operations, s->schema, s->schema, n, where) : NULL;

    result = sql && select ? sql_run(l->c->db, sql, err) : err_memory(err, "a statement");
    if (result == 0)
        result = sql_prepare(l->c->db, select, &l->select, err);
    sqlite3_free(sql);
    sqlite3_free(where);
    sqlite3_free(select);
    if (result < 0 ||
        prepare(l, "INSERT INTO temp.sequence%d VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                &l->sequence, err) < 0 ||
        prepare(l, "INSERT INTO temp.part%d VALUES (?,?,?,?)", &l->part, err) < 0 ||
        prepare(l, "INSERT INTO temp.overlap%d VALUES (?,?)", &l->overlap, err) < 0 ||
        prepare(l, "INSERT INTO temp.alone%d VALUES (?,?,?)", &l->alone, err) < 0 ||
        prepare(l, "INSERT OR IGNORE INTO temp.root%d VALUES (?)", &l->root, err) < 0 ||
        prepare(l, "SELECT object FROM temp.gone%d WHERE operation = ?", &l->gone, err) < 0)
        return -err->code;
    if (l->c->by_number && l->side == SUT &&
        (sql_prepare(l->c->db,
                     "SELECT s.key FROM temp.number2 b CROSS JOIN temp.number1 a ON a.number ="
                     " b.number CROSS JOIN temp.sequence1 s ON s.id = +a.id WHERE b.id = ?",
                     &l->counterpart, err) < 0 ||
         sql_prepare(l->c->db,
                     "SELECT (SELECT n.id FROM temp.part1 p JOIN temp.number1 f ON f.id = p.first"
                     " JOIN temp.number2 n ON n.number = f.number WHERE p.id = +a.id)"
                     " FROM temp.number2 b CROSS JOIN temp.number1 a ON a.number = b.number"
                     " WHERE b.id = ?",
                     &l->listed, err) < 0))
        return -err->code;
    l->names_count = wire_each_field(find_name, (void *)l->c->rules) != 0;
    snprintf(count, sizeof(count), "SELECT max(id) FROM %s.object", s->schema);
    if (sql_number(l->c->db, count, 0, &objects, err) < 0)
        return -err->code;
    l->changes = changes_new(objects > 0 && objects < UINT32_MAX ? (uint32_t)objects : 0, err);
    if (!l->changes)
        return -err->code;
    return overlap_init(&l->overlaps, put_overlap, l, err);
}

static int read_side(struct sequences *l, struct err *err)
{
    struct compare_side *s = &l->c->side[l->side];
    char sql[512];
    int result;

    s->first_time = INT64_MAX;
    s->last_time = INT64_MIN;
    while ((result = sql_row(l->select, err)) > 0)
        if (take_row(l, err) < 0)
            return -err->code;
    if (result < 0 || overlap_end(&l->overlaps, err) < 0)
        return -err->code;
    s->has_clock = clock_estimate(l->clock, &s->clock_offset, &s->clock_error, &s->granularity);
    snprintf(sql, sizeof(sql),
             "CREATE INDEX temp.sequence%d_in_order ON sequence%d (object, " SEQUENCE_COLUMNS ")",
             db_side(l->side), db_side(l->side));
    if (sql_run(l->c->db, sql, err) < 0)
        return -err->code;
    if (!l->c->by_number)
        return 0;
    snprintf(sql, sizeof(sql), "CREATE INDEX temp.sequence%d_by_id ON sequence%d (id)",
             db_side(l->side), db_side(l->side));
    return sql_run(l->c->db, sql, err);
}

/* Paths that only one side mounts go in the order of the requests. */
static const char join_roots[] =
    "UPDATE temp.sequence1 SET name = 0 WHERE object = 0 AND name IN"
    " (SELECT name FROM temp.root1 EXCEPT SELECT name FROM temp.root2);"
    "UPDATE temp.sequence2 SET name = 0 WHERE object = 0 AND name IN"
    " (SELECT name FROM temp.root2 EXCEPT SELECT name FROM temp.root1);"
    "DROP TABLE temp.root1; DROP TABLE temp.root2;";

int request_sequences_read(struct compare *c, struct err *err)
{
    bool is_log = false;
    int result = c->by_number ? compare_is_log(c, &is_log, err) : 0;

    for (int side = 0; result == 0 && side < SIDES; side++) {
        struct sequences *l = calloc(1, sizeof(*l));

        if (l)
            *l = (struct sequences){
                .c = c, .side = side, .is_log = is_log, .clock = calloc(1, sizeof(*l->clock))
            };
        if (!l || !l->clock) {
            free(l);
            return err_memory(err, "requests");
        }
        result = prepare_all(l, err);
        if (result == 0)
            result = sql_run(c->db, "BEGIN", err);
        if (result == 0)
            result = read_side(l, err);
        sqlite3_finalize(l->select);
        sqlite3_finalize(l->sequence);
        sqlite3_finalize(l->part);
        sqlite3_finalize(l->overlap);
        sqlite3_finalize(l->alone);
        sqlite3_finalize(l->gone);
        sqlite3_finalize(l->root);
        sqlite3_finalize(l->counterpart);
        sqlite3_finalize(l->listed);
        if (result == 0)
            result = sql_run(c->db, "COMMIT", err);
        overlap_free(&l->overlaps);
        body_free(&l->body);
        changes_free(l->changes);
        free(l->clock);
        free(l);
    }
    return result == 0 ? sql_run(c->db, join_roots, err) : result;
}
