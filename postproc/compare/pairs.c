/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/pairs.c
 *
 * Reads the alignment in its order and compares pair by pair.
 */
#include "compare/pairs.h"
#include "compare/row.h"

#include "record/record.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <stdlib.h>

static const char select_pairs[] =
    "SELECT a.id, a.kind, ifnull(a.object, 0), ifnull(a.ref_overlap, 0),"
    " ifnull(a.sut_overlap, 0), ifnull(a.object_state, 0), ifnull(a.object2_state, 0),"
    " ifnull(a.new_state, 0), ifnull(a.object_reads, 0), ifnull(a.new_reads, 0),"
    " ifnull(a.object_rights, 0), ifnull(a.new_rights, 0), ifnull(a.name_change, 0),"
    " ifnull(a.name2_change, 0),"
    " ifnull(a.other_last, 0), " ROW_COLUMNS("r") ", " ROW_COLUMNS(
        "s") " FROM main.alignment a LEFT JOIN ref.operation r ON r.id = a.ref"
             " LEFT JOIN sut.operation s ON s.id = a.sut WHERE a.kind <> 3 ORDER BY a.id";
enum { PAIR_COLUMNS = 15 };

/* Takes the columns from |at| on. */
static int take_half(struct pairs *p, sqlite3_stmt *stmt, int at, struct half *half,
                     struct err *err)
{
    struct effect *e = &half->effect;
    struct places *places;

    row_effect(stmt, at, e);
    half->call_time = db_column(stmt, at + ROW_CALL_TIME, INT64_MIN);
    half->reply_time = db_column(stmt, at + ROW_REPLY_TIME, INT64_MIN);
    half->xid = sqlite3_column_int64(stmt, at + ROW_XID);
    half->call_source = sqlite3_column_int64(stmt, at + ROW_CALL_SOURCE);
    half->call_frame = sqlite3_column_int64(stmt, at + ROW_CALL_FRAME);
    half->reply_source = sqlite3_column_int64(stmt, at + ROW_REPLY_SOURCE);
    half->reply_frame = sqlite3_column_int64(stmt, at + ROW_REPLY_FRAME);
    half->data_digest = db_column_bytes(stmt, at + ROW_DATA_DIGEST);
    half->data_length = (uint64_t)sqlite3_column_int64(stmt, at + ROW_DATA_LENGTH);
    half->answered = sqlite3_column_type(stmt, at + ROW_REPLY_FRAME) != SQLITE_NULL;
    if (!e->procedure || !half->answered || e->rpc_status != RPC_SUCCESS ||
        e->reply_flags & SIGHTING_OPAQUE)
        return 0;
    if (places_get(&p->c->places, e->program, e->version, e->procedure, true, &places, err) < 0 ||
        body_read(&half->result, places, effect_result(e), err) < 0)
        return -err->code;
    half->malformed = half->result.walked == WALK_MALFORMED || half->result.surplus;
    return 0;
}

/* Keeps the memory of the body. */
static void clear_half(struct half *half)
{
    struct body body = half->result;

    memset(half, 0, sizeof(*half));
    half->result.items = body.items;
    half->result.cap = body.cap;
}

int pairs_load(struct pairs *p, int side, int64_t id, struct half *half, struct err *err)
{
    int result;

    clear_half(half);
    sqlite3_reset(p->row[side]);
    sqlite3_bind_int64(p->row[side], 1, id);
    result = db_row(p->c->db, p->row[side], err);
    return result > 0 ? take_half(p, p->row[side], 0, half, err) : result;
}

/* Leaves the pair at hand: statements that stay at a row keep tables locked. */
static void rest(struct pairs *p)
{
    for (int side = 0; side < SIDES; side++) {
        sqlite3_reset(p->row[side]);
        clear_half(&p->pair.half[side]);
    }
}

/* --- what is no field */

static struct difference event(const struct pairs *p, enum difference_kind kind,
                               enum rule_event event, const char *what, const char *ref,
                               const char *sut)
{
    const struct rules *rules = p->c->rules;

    return (struct difference){ .kind = kind,
                                .field = rule_event_name(event),
                                .rule = rules_at(rules, rules->events[event]),
                                .object = p->pair.object,
                                .what = what,
                                .text = { ref, sut } };
}

static int differ_event(struct pairs *p, enum difference_kind kind, enum rule_event of,
                        const char *what, const char *ref, const char *sut, struct err *err)
{
    struct difference d = event(p, kind, of, what, ref, sut);

    return d.rule->kind == COMPARE_IGNORED ? 0 : found_put(p, &d, err);
}

/* Only one side answered. 0, or negative. */
static int compare_silence(struct pairs *p, struct err *err)
{
    const struct half *ref = &p->pair.half[REF], *sut = &p->pair.half[SUT];
    struct difference d =
        event(p, KIND_REPLY, EVENT_MISSING_REPLY,
              ref->answered ? "only ref answered" : "only sut answered",
              ref->answered ? "answered" : NULL, sut->answered ? "answered" : NULL);
    int reason = unanswered_reason(p, ref->answered ? SUT : REF, err);

    if (!reason && p->pair.overlap & OVERLAP_NAME)
        reason = WITHHELD_OVERLAP;
    if (reason < 0 || d.rule->kind == COMPARE_IGNORED)
        return reason < 0 ? reason : 0;
    if (!reason)
        return found_put(p, &d, err);
    return reason == WITHHELD_LOST ? found_withhold(p, WITHHELD_LOST, NULL, err)
                                   : found_uncertain(p, (enum withheld_reason)reason, &d, err);
}

/* Both answered, or what is made of it. 1: go on; 0: nothing to compare; negative. */
static int compare_replies(struct pairs *p, struct err *err)
{
    const struct half *ref = &p->pair.half[REF], *sut = &p->pair.half[SUT];
    const char *name[SIDES];
    char what[96];

    if (!ref->answered && !sut->answered)
        return found_withhold(p, WITHHELD_NO_REPLY, NULL, err);
    if (!ref->answered || !sut->answered)
        return compare_silence(p, err);
    if (ref->effect.rpc_status == sut->effect.rpc_status)
        return ref->effect.rpc_status == RPC_SUCCESS;
    for (int side = 0; side < SIDES; side++) {
        name[side] = rpc_status_name((uint32_t)p->pair.half[side].effect.rpc_status);
        if (!name[side])
            name[side] = "?";
    }
    snprintf(what, sizeof(what), "%.40s, %.40s", name[REF], name[SUT]);
    return differ_event(p, KIND_RPC, EVENT_RPC_STATUS, what, name[REF], name[SUT], err);
}

static int compare_results(struct pairs *p, struct fields *f, struct err *err)
{
    const struct half *ref = &p->pair.half[REF], *sut = &p->pair.half[SUT];

    if (!ref->result.places || !sut->result.places)
        return 0;
    if (ref->malformed != sut->malformed &&
        differ_event(p, KIND_MALFORMED, EVENT_MALFORMED,
                     ref->malformed ? "only ref's" : "only sut's",
                     ref->malformed ? "malformed" : "well-formed",
                     sut->malformed ? "malformed" : "well-formed", err) < 0)
        return -err->code;
    if ((ref->result.walked != WALK_OK || sut->result.walked != WALK_OK) &&
        found_withhold(p, WITHHELD_CUT, NULL, err) < 0)
        return -err->code;
    if (ref->effect.procedure->result->roles & ROLE_ENTRY) {
        for (int side = 0; side < SIDES; side++) /* several servers may have equal handles */
            sqlite3_bind_int64(p->handle[side], 2, p->pair.half[side].effect.object);
        return listing_compare(p, f, err);
    }
    return fields_compare(f, (struct span){ ref->result.items, ref->result.count },
                          (struct span){ sut->result.items, sut->result.count }, err);
}

static int compare_pair(struct pairs *p, struct err *err)
{
    struct fields f;
    int result;

    fields_begin(&f, p);
    if (p->pair.kind == ALIGN_PAIR) {
        if (found_latency(p, err) < 0)
            return -err->code;
        result = compare_replies(p, err);
        if (result > 0 && sync_before(p, err) < 0)
            return -err->code;
        if (result > 0)
            result = compare_results(p, &f, err);
        if (result < 0)
            return result;
    }
    before_note(p);
    return sync_after(p, f.status_equal, f.data_equal, err);
}

/* --- clocks */

static int read_anchors(struct pairs *p, struct err *err)
{
    int64_t rows, step;
    sqlite3_stmt *stmt;
    int result;

    p->clock.offset[REF] = p->c->side[REF].clock_offset;
    p->clock.offset[SUT] = p->c->side[SUT].clock_offset;
    if (db_number(p->c->db, "SELECT max(id) FROM main.alignment", 0, &rows, err) < 0 ||
        tables_prepare(p->c->db,
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
    while ((result = db_row(p->c->db, stmt, err)) > 0)
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
    sqlite3 *db = p->c->db;

    for (int side = 0; side < SIDES; side++) {
        const char *schema = p->c->side[side].schema;
        char sql[192];

        if (tables_prepare(db, rows[side], &p->row[side], err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql),
                 "SELECT id FROM %s.object WHERE handle = ?1 AND server ="
                 " (SELECT server FROM %s.object WHERE id = ?2)",
                 schema, schema);
        if (tables_prepare(db, sql, &p->handle[side], err) < 0)
            return -err->code;
    }
    return listing_prepare(p, err);
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

static int read_all(struct pairs *p, struct err *err)
{
    sqlite3_stmt *stmt;
    bool in_range;
    int result;

    if (tables_prepare(p->c->db, select_pairs, &stmt, err) < 0)
        return -err->code;
    while ((result = db_row(p->c->db, stmt, err)) > 0) {
        struct pair *pair = &p->pair;

        clear_half(&pair->half[REF]);
        clear_half(&pair->half[SUT]);
        memset(pair->differs, 0, sizeof(pair->differs));
        memset(pair->compared, 0, sizeof(pair->compared));
        pair->id = sqlite3_column_int64(stmt, 0);
        pair->kind = sqlite3_column_int(stmt, 1);
        pair->object = row_id(stmt, 2);
        in_range =
            sqlite3_column_int64(stmt, 2) == pair->object && pair->object <= p->objects.count;
        pair->half[REF].overlap = (uint32_t)sqlite3_column_int(stmt, 3);
        pair->half[SUT].overlap = (uint32_t)sqlite3_column_int(stmt, 4);
        for (int i = 0; i < 3; i++)
            pair->state[i] = sqlite3_column_int64(stmt, 5 + i);
        for (int i = 0; i < 2; i++) {
            pair->reads[i] = sqlite3_column_int64(stmt, 8 + i);
            pair->rights[i] = sqlite3_column_int64(stmt, 10 + i);
            pair->names[i] = sqlite3_column_int64(stmt, 12 + i);
        }
        pair->other_last = sqlite3_column_int(stmt, 14);
        pair->overlap = pair->half[REF].overlap | pair->half[SUT].overlap;
        if (take_half(p, stmt, PAIR_COLUMNS, &pair->half[REF], err) < 0 ||
            take_half(p, stmt, PAIR_COLUMNS + ROW_COUNT, &pair->half[SUT], err) < 0 ||
            check_row(p, in_range, err) < 0 || compare_pair(p, err) < 0) {
            result = -err->code;
            break;
        }
    }
    sqlite3_finalize(stmt);
    return result;
}

static int run(struct pairs *p, struct err *err)
{
    if (matched_init(&p->objects, p->c->db, err) < 0 ||
        matched_load(&p->objects, p->c->db, err) < 0 || tables_run(p->c->db, "BEGIN", err) < 0 ||
        prepare(p, err) < 0 || sync_open(p, err) < 0 || found_open(p, err) < 0 ||
        read_anchors(p, err) < 0 || read_all(p, err) < 0 || sync_finish(p, err) < 0 ||
        counts_compare(p, err) < 0)
        return -err->code;
    rest(p);
    if (found_finish(p, err) < 0)
        return -err->code;
    return tables_run(p->c->db, "COMMIT", err);
}

int pairs_compare(struct compare *c, struct err *err)
{
    struct pairs p = { .c = c };
    int result = run(&p, err);

    found_close(&p);
    sync_close(&p);
    unanswered_close(&p);
    numbers_close(&p);
    sqlite3_finalize(p.listing);
    for (int side = 0; side < SIDES; side++) {
        sqlite3_finalize(p.row[side]);
        sqlite3_finalize(p.handle[side]);
        sqlite3_finalize(p.changed[side]);
        body_free(&p.pair.half[side].result);
    }
    body_free(&p.pair.arguments);
    patterns_free(&p.patterns);
    patterns_free(&p.of_listing);
    clock_map_free(&p.clock);
    matched_free(&p.objects);
    return result;
}
