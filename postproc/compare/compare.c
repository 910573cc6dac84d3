/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/compare.c
 *
 * The two ways to a result: compare_run goes through both phases, compare_again takes the first one
 * over from an earlier result.  An earlier result may be damaged, so what is taken from it is
 * checked.  For cmd_compare.c, and for noise.c, which compares two runs of the reference.  The
 * contract is in compare.h, what the parts share in compare_parts.h.
 */
#include "base/cleanup.h"
#include "compare/compare_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void clear(struct compare *c)
{
    places_set_free(&c->places);
    rules_free((struct rules *)c->rules);
    free(c->side[REF].server);
    free(c->side[SUT].server);
    steps_free(&c->side[REF].steps);
    steps_free(&c->side[SUT].steps);
    memset(c, 0, sizeof(*c));
}

static int load_rules(struct compare *c, const struct compare_options *o, struct err *err)
{
    struct rules *rules;

    if (rules_load(o->rules, o->rule_count, &rules, err) < 0)
        return -err->code;
    c->rules = c->places.rules = rules;
    return 0;
}

static int put_rules(struct compare *c, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(c->db, "INSERT INTO main.rule_file VALUES (?,?,?,?)", &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; result == 0 && i < c->rules->file_count; i++) {
        sqlite3_bind_int64(stmt, 1, i + 1);
        sql_bind_text(stmt, 2, c->rules->files[i].name);
        sql_bind_text(stmt, 3, c->rules->files[i].digest);
        sql_bind_text(stmt, 4, c->rules->files[i].text);
        result = sql_step(stmt, err);
    }
    sqlite3_finalize(stmt);
    return result;
}

static int put_meta(struct compare *c, struct err *err)
{
    char *sql = sqlite3_mprintf(
        "INSERT INTO main.meta VALUES ('created_by', 'nfsdigest " NFSDIGEST_VERSION "'),"
        " ('rules_digest', %Q), ('requests_digest', %Q), ('state', 'complete'),"
        " ('operations_ref', (SELECT operations FROM main.side WHERE id = 1)),"
        " ('operations_sut', (SELECT operations FROM main.side WHERE id = 2)),"
        " ('pairs', (SELECT count(*) FROM main.alignment WHERE kind = 1)),"
        " ('discrepancies', (SELECT ifnull(sum(count), 0) FROM main.discrepancy_group)),"
        " ('groups', (SELECT count(*) FROM main.discrepancy_group)),"
        " ('withheld', (SELECT ifnull(sum(count), 0) FROM main.withheld)),"
        " ('noise', EXISTS (SELECT 1 FROM main.side WHERE id = 3));",
        c->rules->digest, c->rules->requests_digest);
    int result = sql ? sql_run(c->db, sql, err) : err_memory(err, "a statement");

    sqlite3_free(sql);
    return result;
}

/* What belongs to the comparison under way. */
static int detach(struct compare *c, struct err *err)
{
    sqlite3_stmt *stmt;

    /* temporary tables are forgotten with the connection; a private result keeps its own */
    while ((stmt = sqlite3_next_stmt(c->db, NULL)))
        sqlite3_finalize(stmt);
    return sql_run(c->db, "DETACH ref; DETACH sut;", err);
}

static int compare_first(struct compare *c, const struct compare_options *o, struct err *err)
{
    c->copy = o->copy;
    if (sides_attach(c, o, o->side, err) < 0 || counterparts_find(c, err) < 0 ||
        counterparts_number(c, err) < 0 || clients_match(c, o, err) < 0 ||
        callers_match(c, err) < 0 || request_sequences_read(c, err) < 0 ||
        sides_put(c, o->side, err) < 0 || put_rules(c, err) < 0 || match_run(c, err) < 0)
        return -err->code;
    return pairs_compare(c, err);
}

/* --- */

static int finish(struct result_file *file, sqlite3 **result, struct err *err)
{
    if (result_commit(file, err) < 0)
        return -err->code;
    if (result_path(file))
        return compare_open(result_path(file), result, err);
    *result = result_take(file);
    return 0;
}

int compare_run(const struct compare_options *o, const char *out, sqlite3 **result, struct err *err)
{
    struct compare c = { .pairs = 0 };
    struct result_file *file = NULL;
    int code;

    *result = NULL;
    code = load_rules(&c, o, err);
    if (code == 0)
        code = result_create(&file, out, &c.db, err);
    if (code == 0)
        code = compare_first(&c, o, err);
    if (code == 0 && o->noise.database) {
        struct cleanup cleanup;
        char path[PATH_MAX];

        code = result_temporary(path, sizeof(path), err);
        if (code == 0) {
            cleanup_enter(&cleanup, cleanup_unlink, path);
            code = noise_measure(&c, o, path, err);
            result_remove(path);
            cleanup_drop(&cleanup);
        }
    }
    if (code == 0)
        code = put_meta(&c, err);
    if (code == 0)
        code = detach(&c, err);
    if (code == 0)
        code = finish(file, result, err);
    result_abandon(file);
    clear(&c);
    return code;
}

/* --- again */

/* What the first phase found is taken over. */
static const char take_over[] = "INSERT INTO main.side SELECT * FROM old.side; INSERT INTO "
                                "main.source SELECT * FROM old.source;"
                                "INSERT INTO main.granularity SELECT * FROM old.granularity;"
                                "INSERT INTO main.client SELECT * FROM old.client;"
                                "INSERT INTO main.object SELECT * FROM old.object;"
                                "INSERT INTO main.other_handle SELECT * FROM old.other_handle;"
                                "INSERT INTO main.alignment SELECT * FROM old.alignment;";

static int damaged(struct err *err, const char *what)
{
    return err_set(err, ERR_INPUT, "damaged: %s", what);
}

/* Times that can be added and taken from each other: 2^62 ns is 146 years. */
static bool is_moderate(int64_t time)
{
    return time > -(INT64_C(1) << 62) && time < INT64_C(1) << 62;
}

static bool is_width(int64_t ns)
{
    return ns >= 0 && ns < INT64_C(1) << 60;
}

static int check_times(const struct compare_side *s, struct err *err)
{
    const int64_t times[] = { s->clock_offset, s->first_time, s->last_time };

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (!is_moderate(times[i]) || (i && !is_moderate(times[i] + s->clock_offset)))
            return damaged(err, "table side: times out of range");
    return is_width(s->clock_error) && is_width(s->granularity)
               ? 0
               : damaged(err, "table side: times out of range");
}

static int read_side(struct compare *c, int side, struct compare_input *input, char **path,
                     struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(c->db,
                    "SELECT path, server, operations, first_time, last_time, clock_offset,"
                    " clock_error, granularity FROM main.side WHERE id = ?",
                    &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int(stmt, 1, db_side(side));
    result = sql_row(stmt, err);
    if (result > 0) {
        const char *server = (const char *)sqlite3_column_text(stmt, 1);
        struct compare_side *s = &c->side[side];

        path[0] = strdup((const char *)sqlite3_column_text(stmt, 0));
        path[1] = server ? strdup(server) : NULL;
        if (!path[0] || (server && !path[1]))
            result = err_memory(err, "a name");
        else if (!*path[0])
            result = damaged(err, "table side has no path");
        *input = (struct compare_input){ path[0], path[1] };
        s->operations = sqlite3_column_int64(stmt, 2);
        s->first_time = sqlite3_column_int64(stmt, 3);
        s->last_time = sqlite3_column_int64(stmt, 4);
        s->has_clock = sqlite3_column_type(stmt, 5) != SQLITE_NULL;
        s->clock_offset = sqlite3_column_int64(stmt, 5);
        s->clock_error = sqlite3_column_int64(stmt, 6);
        s->granularity = sqlite3_column_int64(stmt, 7);
        if (result > 0 && check_times(s, err) < 0)
            result = -err->code;
    } else if (result == 0) {
        result = damaged(err, "table side names no database");
    }
    sqlite3_finalize(stmt);
    return result < 0 ? result : 0;
}

static int attach_old(struct compare *c, const char *in, struct err *err)
{
    sqlite3 *old;
    sqlite3_stmt *stmt;
    int result = compare_open(in, &old, err);

    sqlite3_close(old);
    if (result < 0 || sql_prepare(c->db, "ATTACH ?1 AS old", &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, in);
    result = sql_step(stmt, err);
    sqlite3_finalize(stmt);
    if (result == 0 && sql_run(c->db, take_over, err) < 0)
        result = err->code == ERR_INPUT
                     ? err_set(err, ERR_INPUT, "%s: damaged: %s", in, sqlite3_errmsg(c->db))
                     : -err->code;
    return result;
}

/* What compare_pairs.c does not meet while it reads. */
static int check_taken(struct compare *c, struct err *err)
{
    int64_t objects, parts;

    if (sql_number(c->db,
                   "SELECT count(*) = ifnull(max(id), 0) AND ifnull(min(id), 1) = 1"
                   " FROM main.object",
                   0, &objects, err) < 0 ||
        sql_number(c->db,
                   "SELECT count(*) FROM main.alignment a WHERE a.kind = 3 AND"
                   " EXISTS (SELECT 1 FROM ref.operation WHERE id = a.ref) ="
                   " EXISTS (SELECT 1 FROM sut.operation WHERE id = a.sut)",
                   0, &parts, err) < 0)
        return -err->code;
    if (!objects)
        return damaged(err, "objects are missing");
    return parts ? damaged(err, "table alignment: parts of listings that are not of one side") : 0;
}

static int check_requests(struct compare *c, struct err *err)
{
    char *sql = sqlite3_mprintf("SELECT value = %Q FROM old.meta WHERE key = 'requests_digest'",
                                c->rules->requests_digest);
    int64_t same = 0;
    int result = sql ? sql_number(c->db, sql, -1, &same, err) : err_memory(err, "a statement");

    sqlite3_free(sql);
    if (result == 0 && same < 0)
        return damaged(err, "table meta is not complete");
    if (result == 0 && !same)
        return err_set(err, ERR_USAGE,
                       "these rules change which requests are equal: compare the databases "
                       "anew");
    return result;
}

/* |texts|: what |c| and its databases are told, to be freed. */
static int compare_old(struct compare *c, const struct compare_options *o, char *texts[SIDES][2],
                       struct err *err)
{
    struct compare_input input[SIDES] = { { NULL, NULL }, { NULL, NULL } };
    int64_t pairs = 0;
    int result = check_requests(c, err);

    for (int side = 0; result == 0 && side < SIDES; side++)
        result = read_side(c, side, &input[side], texts[side], err);
    for (int side = 0; result == 0 && side < SIDES; side++)
        result = steps_read(&c->side[side].steps, c->db, side, err);
    if (result == 0)
        result = sides_attach(c, o, input, err);
    if (result == 0)
        result = sides_check(c, err);
    if (result == 0)
        result = counterparts_find(c, err);
    if (result == 0)
        result = check_taken(c, err);
    if (result == 0)
        result = put_rules(c, err);
    if (result == 0)
        result =
            sql_number(c->db, "SELECT count(*) FROM main.alignment WHERE kind = 1", 0, &pairs, err);
    c->pairs = (uint64_t)pairs;
    if (result == 0)
        result = pairs_compare(c, err);
    if (result == 0)
        result = noise_keep(c, err);
    return result == 0 ? put_meta(c, err) : result;
}

static int compare_second(struct compare *c, const char *in, const struct compare_options *o,
                          struct err *err)
{
    char *texts[SIDES][2] = { { NULL, NULL }, { NULL, NULL } };
    int result = attach_old(c, in, err);

    if (result == 0) {
        result = compare_old(c, o, texts, err);
        if (result == -ERR_INPUT)
            err_prefix(err, "%s", in);
    }
    for (int side = 0; side < SIDES; side++) {
        free(texts[side][0]);
        free(texts[side][1]);
    }
    if (result < 0)
        return result;
    return detach(c, err) < 0 ? -err->code : sql_run(c->db, "DETACH old", err);
}

int compare_again(const char *in, const struct compare_options *o, const char *out,
                  sqlite3 **result, struct err *err)
{
    struct compare c = { .pairs = 0 };
    struct result_file *file = NULL;
    int code;

    *result = NULL;
    code = load_rules(&c, o, err);
    if (code == 0)
        code = result_create(&file, out, &c.db, err);
    if (code == 0)
        code = compare_second(&c, in, o, err);
    if (code == 0)
        code = finish(file, result, err);
    result_abandon(file);
    clear(&c);
    return code;
}
