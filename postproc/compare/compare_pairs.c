/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/compare_pairs.c
 *
 * Reads the alignment in its order and gives the judge pair by pair.
 */
#include "compare/compare_pairs.h"
#include "compare/row.h"
#include "compare/state_columns.h"

#include <stdio.h>

#define STATE_OR_0(state, column) " ifnull(a." #column ", 0),"
static const char select_pairs[] =
    "SELECT a.id, a.kind, ifnull(a.object, 0), ifnull(a.ref_overlap, 0),"
    " ifnull(a.sut_overlap, 0)," STATE_COLUMN_LIST(
        STATE_OR_0) " ifnull(a.other_last, 0),"
                    " ifnull(r.counterpart_conditions, 0), " ROW_COLUMNS("r") ", " ROW_COLUMNS(
                        "s") " FROM "
                             "main."
                             "alignment "
                             "a LEFT "
                             "JOIN "
                             "ref."
                             "operation "
                             "r ON r.id "
                             "= a.ref"
                             " LEFT "
                             "JOIN "
                             "sut."
                             "operation "
                             "s ON s.id "
                             "= a.sut "
                             "WHERE "
                             "a.kind <> "
                             "3 ORDER "
                             "BY a.id";
enum {
    PAIR_ID,
    PAIR_KIND,
    PAIR_OBJECT,
    PAIR_REF_OVERLAP,
    PAIR_SUT_OVERLAP,
    PAIR_CHANGE, /* as many as there are, in the order of enum change_state */
    PAIR_CONDITIONS = PAIR_CHANGE + CHANGE_STATES,
    PAIR_COLUMNS
};

/* Takes the columns from |at| on. */
static void take_half(const struct pairs *p, int side, sqlite3_stmt *stmt, int at,
                      struct judge_half *half)
{
    const struct effect *e = &half->effect;

    judge_clear_half(half);
    row_effect(stmt, at, &half->effect);
    half->row.object = matched_row(&p->objects, side, e->object);
    half->row.parent2 = matched_row(&p->objects, side, e->parent2);
    half->row.new_object = matched_row(&p->objects, side, e->new_object);
    half->call_time = sql_column(stmt, at + ROW_CALL_TIME, INT64_MIN);
    half->reply_time = sql_column(stmt, at + ROW_REPLY_TIME, INT64_MIN);
    half->xid = sqlite3_column_int64(stmt, at + ROW_XID);
    half->call_source = sqlite3_column_int64(stmt, at + ROW_CALL_SOURCE);
    half->call_frame = sqlite3_column_int64(stmt, at + ROW_CALL_FRAME);
    half->reply_source = sqlite3_column_int64(stmt, at + ROW_REPLY_SOURCE);
    half->reply_frame = sqlite3_column_int64(stmt, at + ROW_REPLY_FRAME);
    half->data_digest = sql_column_bytes(stmt, at + ROW_DATA_DIGEST);
    half->answered = sqlite3_column_type(stmt, at + ROW_REPLY_FRAME) != SQLITE_NULL;
}

int pairs_load(struct pairs *p, int side, int64_t id, struct judge_half *half, struct err *err)
{
    int result;

    judge_clear_half(half);
    sqlite3_reset(p->row[side]);
    sqlite3_bind_int64(p->row[side], 1, id);
    result = sql_row(p->row[side], err);
    if (result > 0)
        take_half(p, side, p->row[side], 0, half);
    return result < 0 ? result : 0;
}

/* Leaves the pair at hand: statements that stay at a row keep tables locked. */
static void rest(struct pairs *p)
{
    for (int side = 0; side < SIDES; side++) {
        sqlite3_reset(p->row[side]);
        judge_clear_half(&p->pair.half[side]);
    }
}

/* --- the judge's host */

static int differ(void *ctx, const struct judge_pair *pair, const struct difference *d,
                  struct err *err)
{
    char text[SIDES][COMPARE_TEXT_MAX];
    struct difference shown;
    int result;

    if (pairs_live_changing(ctx, pair, d))
        return found_uncertain(ctx, WITHHELD_CHANGING, d, err);
    result = pairs_live_contents(ctx, d, text, err);
    if (result <= 0)
        return result < 0 ? result : found_put(ctx, d, err);
    shown = *d;
    shown.text[REF] = text[REF];
    shown.text[SUT] = text[SUT];
    return found_put(ctx, &shown, err);
}

static int withhold(void *ctx, const struct judge_pair *pair, enum withheld_reason reason,
                    const struct place *place, const struct difference *d, struct err *err)
{
    (void)pair;
    return d ? found_uncertain(ctx, reason, d, err) : found_withhold(ctx, reason, place, err);
}

static const struct judge_host host = {
    .object_of = pairs_object_of,
    .differ = differ,
    .withhold = withhold,
    .lost = pairs_lost,
    .known = pairs_known,
    .count = pairs_count,
    .unanswered = unanswered_reason,
    .part = pairs_part,
    .changed_names = pairs_changed_names,
    .removed = pairs_removed,
    .earlier = pairs_earlier,
    .path_of = pairs_path_of,
};

/* Types and file systems of objects, as the databases have them. */
static int add_objects(struct pairs *p, struct err *err)
{
    const struct object_pair *pairs = p->objects.pairs;
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(p->c->db,
                    "SELECT m.id, ifnull(m.type, 0), r.fsid, s.fsid FROM main.object m"
                    " JOIN ref.object r ON r.id = m.ref JOIN sut.object s ON s.id = m.sut"
                    " ORDER BY m.id DESC",
                    &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0) {
        struct judge_object o = { .type = (uint32_t)sqlite3_column_int64(stmt, 1),
                                  .fsid = { (uint64_t)sqlite3_column_int64(stmt, 2),
                                            (uint64_t)sqlite3_column_int64(stmt, 3) } };
        int64_t row = sqlite3_column_int64(stmt, 0);

        if (row > 0 && row <= p->objects.count &&
            (result = judge_add_object(p->judge, (uint32_t)row, &o, err)) < 0)
            break;
    }
    sqlite3_finalize(stmt);
    for (uint32_t row = p->objects.count; result >= 0 && row > 0; row--)
        result = judge_add_object(
            p->judge, row, &(struct judge_object){ .has_others = pairs[row - 1].has_others }, err);
    return result;
}

static int open_judge(struct pairs *p, struct err *err)
{
    const struct judge_setup setup = { .rules = p->c->rules,
                                       .places = &p->c->places,
                                       .clock = &p->clock,
                                       .host = &host,
                                       .ctx = p,
                                       /* of a log, each pair says it of its objects */
                                       .remade = p->c->by_number && !p->live.is,
                                       .partly = p->live.is };

    p->judge = judge_new(&setup, err);
    if (!p->judge)
        return -err->code;
    for (int side = 0; side < SIDES; side++) {
        struct compare_side *s = &p->c->side[side];
        const struct judge_side what = { .first_time = s->first_time,
                                         .clock_offset = s->clock_offset,
                                         .clock_error = s->clock_error,
                                         .granularity = s->granularity,
                                         .steps = &s->steps };

        judge_set_side(p->judge, side, &what);
    }
    return add_objects(p, err);
}

/* --- clocks */

static int read_anchors(struct pairs *p, struct err *err)
{
    int64_t rows, step;
    sqlite3_stmt *stmt;
    int result;

    p->clock.offset[REF] = p->c->side[REF].clock_offset;
    p->clock.offset[SUT] = p->c->side[SUT].clock_offset;
    if (sql_number(p->c->db, "SELECT max(id) FROM main.alignment", 0, &rows, err) < 0 ||
        sql_prepare(p->c->db,
                    "SELECT r.call_time, s.call_time, r.reply_time, s.reply_time"
                    " FROM main.alignment a JOIN ref.operation r ON r.id = a.ref"
                    " JOIN sut.operation s ON s.id = a.sut"
                    /* the same ones, whichever side is which */
                    " WHERE a.kind = 1 AND a.object IS NOT NULL"
                    " AND (((a.ref + a.sut) * 2654435769) >> 12 & 1048575) % ?1 = 0",
                    &stmt, err) < 0)
        return -err->code;
    step = rows / (CLOCK_ANCHORS / 2) + 1;
    sqlite3_bind_int64(stmt, 1, step);
    while ((result = sql_row(stmt, err)) > 0)
        for (int i = 0; i < 4; i += 2)
            if (sqlite3_column_type(stmt, i) != SQLITE_NULL &&
                sqlite3_column_type(stmt, i + 1) != SQLITE_NULL &&
                clock_anchor(&p->clock, sqlite3_column_int64(stmt, i),
                             sqlite3_column_int64(stmt, i + 1), err) < 0) {
                sqlite3_finalize(stmt);
                return -err->code;
            }
    sqlite3_finalize(stmt);
    return result < 0 ? result : clock_settle(&p->clock, err);
}

/* --- the run */

static int prepare(struct pairs *p, struct err *err)
{
    static const char *const rows[SIDES] = {
        "SELECT " ROW_COLUMNS("r") " FROM ref.operation r WHERE r.id = ?1",
        "SELECT " ROW_COLUMNS("r") " FROM sut.operation r WHERE r.id = ?1",
    };

    for (int side = 0; side < SIDES; side++)
        if (sql_prepare(p->c->db, rows[side], &p->row[side], err) < 0)
            return -err->code;
    if (pairs_objects_open(p, err) < 0 || pairs_listings_open(p, err) < 0)
        return -err->code;
    return pairs_lost_open(p, err);
}

/* A stored result may have been altered. */
static int check_row(const struct pairs *p, bool in_range, struct err *err)
{
    bool ref = p->pair.half[REF].effect.id, sut = p->pair.half[SUT].effect.id;

    if (!in_range)
        return err_set(err, ERR_INPUT, "damaged: row %lld of table alignment: no such object",
                       (long long)p->pair.id);
    if (p->pair.kind == ALIGN_PAIR ? ref && sut : p->pair.kind == ALIGN_ONE_SIDED && ref != sut)
        return 0;
    return err_set(err, ERR_INPUT, "damaged: row %lld of table alignment: no such operations",
                   (long long)p->pair.id);
}

/* Takes a row of select_pairs. */
static int take_pair(struct pairs *p, sqlite3_stmt *stmt, struct err *err)
{
    struct judge_pair *pair = &p->pair;
    bool in_range;

    pair->id = sqlite3_column_int64(stmt, PAIR_ID);
    pair->kind = sqlite3_column_int(stmt, PAIR_KIND);
    pair->object = row_id(stmt, PAIR_OBJECT);
    in_range =
        sqlite3_column_int64(stmt, PAIR_OBJECT) == pair->object && pair->object <= p->objects.count;
    pair->overlap = (uint32_t)sqlite3_column_int(stmt, PAIR_REF_OVERLAP) |
                    (uint32_t)sqlite3_column_int(stmt, PAIR_SUT_OVERLAP);
    for (int i = 0; i < CHANGE_STATES; i++)
        pair->change[i] = sqlite3_column_int64(stmt, PAIR_CHANGE + i);
    take_half(p, REF, stmt, PAIR_COLUMNS, &pair->half[REF]);
    take_half(p, SUT, stmt, PAIR_COLUMNS + ROW_COUNT, &pair->half[SUT]);
    if (check_row(p, in_range, err) < 0)
        return -err->code;
    return pairs_live_begin(p, (uint32_t)sqlite3_column_int64(stmt, PAIR_CONDITIONS), err);
}

static int read_all(struct pairs *p, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(p->c->db, select_pairs, &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0)
        if (take_pair(p, stmt, err) < 0 ||
            (p->pair.kind == ALIGN_PAIR && found_latency(p, err) < 0) ||
            judge_pair(p->judge, &p->pair, err) < 0) {
            result = -err->code;
            break;
        }
    sqlite3_finalize(stmt);
    return result;
}

static int run(struct pairs *p, struct err *err)
{
    if (matched_open(&p->objects, p->c->db, err) < 0 ||
        matched_load(&p->objects, p->c->db, err) < 0 || sql_run(p->c->db, "BEGIN", err) < 0 ||
        pairs_live_find(p, err) < 0 || prepare(p, err) < 0 || pairs_live_open(p, err) < 0 ||
        open_judge(p, err) < 0 || found_open(p, err) < 0 || read_anchors(p, err) < 0 ||
        read_all(p, err) < 0 || judge_finish(p->judge, err) < 0 || counts_compare(p, err) < 0)
        return -err->code;
    rest(p);
    if (found_finish(p, err) < 0)
        return -err->code;
    return sql_run(p->c->db, "COMMIT", err);
}

int pairs_compare(struct compare *c, struct err *err)
{
    struct pairs p = { .c = c };
    int result = run(&p, err);

    found_close(&p);
    judge_free(p.judge);
    unanswered_close(&p);
    pairs_objects_close(&p);
    pairs_listings_close(&p);
    pairs_writes_close(&p);
    pairs_lost_close(&p);
    pairs_live_close(&p);
    for (int side = 0; side < SIDES; side++) {
        sqlite3_finalize(p.row[side]);
        judge_free_half(&p.pair.half[side]);
    }
    clock_map_free(&p.clock);
    matched_free(&p.objects);
    return result;
}
