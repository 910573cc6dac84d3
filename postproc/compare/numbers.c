/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/numbers.c
 *
 * File numbers identify files within a file system, RFC 1813 s2.6 fattr3 says.  Two objects that
 * have one on the one side and two on the other, while both exist, are found here.  Hard links are
 * one object on both sides.  Numbers are given again: where one of the two was removed in between,
 * or may have been, nothing is said until both are seen again.
 */
#include "compare/pairs.h"

#include <stdio.h>
#include <xxhash.h>

static uint64_t hash_number(const struct shown_number *n)
{
    const uint64_t words[2] = { n->fsid, n->fileid };

    return XXH3_64bits(words, sizeof(words));
}

static bool equal(const struct shown_number *a, const struct shown_number *b)
{
    return a->fsid == b->fsid && a->fileid == b->fileid;
}

/* The object that showed the number last, if it is still its own; or 0. */
static uint32_t find_holder(const struct pairs *p, int side, const struct shown_number *n)
{
    uint64_t hash = hash_number(n);
    uint32_t at;

    for (uint32_t row = table_first(&p->by_number[side], hash, &at); row != TABLE_NONE;
         row = table_next(&p->by_number[side], hash, &at))
        if (p->states[row].numbered && equal(&p->states[row].number[side], n))
            return row;
    return 0;
}

static int hold(struct pairs *p, int side, uint32_t row, const struct shown_number *n,
                struct err *err)
{
    uint64_t hash = hash_number(n);
    uint32_t at, old = table_first(&p->by_number[side], hash, &at);

    if (old != TABLE_NONE) /* one of them is enough, also of several with one hash */
        table_move(&p->by_number[side], hash, old, row);
    else if (table_add(&p->by_number[side], hash, row) < 0)
        return err_set(err, ERR_SYSTEM, "out of memory for objects");
    return 0;
}

/* --- whether one of two objects was removed */

static const char make_removals[] =
    "CREATE TEMP TABLE removal%d AS SELECT e.object AS object,"
    " ifnull(o.call_time, o.reply_time) AS call, ifnull(o.reply_time, %lld) AS reply"
    " FROM %s.name_event e JOIN %s.operation o ON o.id = e.operation WHERE e.event = 3"
    /* not by a RENAME of it */
    " AND NOT EXISTS (SELECT 1 FROM %s.name_event m WHERE m.object = e.object AND m.event = 4"
    "  AND m.operation = e.operation);"
    "CREATE INDEX temp.removal%d_by_object ON removal%d (object, reply, call);";

/* Of a name of |object| since it was seen last; what has no object may be any. */
static const char find_removal[] = "SELECT EXISTS (SELECT 1 FROM temp.removal%d WHERE object IS ?1 "
                                   "AND reply >= ?2 AND call <= ?3)";

static int prepare(struct pairs *p, struct err *err)
{
    for (int side = 0; side < SIDES; side++) {
        const char *schema = p->c->side[side].schema;
        char sql[1024];

        snprintf(sql, sizeof(sql), make_removals, side + 1, (long long)INT64_MAX, schema, schema,
                 schema, side + 1, side + 1);
        if (tables_run(p->c->db, sql, err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql), find_removal, side + 1);
        if (tables_prepare(p->c->db, sql, &p->removal[side], err) < 0)
            return -err->code;
    }
    return 0;
}

/* Until the later of the two was seen, on either side: the other capture may have lost it. */
static int may_be_removed(struct pairs *p, uint32_t one, uint32_t other, struct err *err)
{
    const uint32_t rows[2] = { one, other };

    if (!p->removal[REF] && prepare(p, err) < 0)
        return -err->code;
    for (int side = 0; side < SIDES; side++) {
        const struct shown_number *n[2] = { &p->states[one].number[side],
                                            &p->states[other].number[side] };
        sqlite3_stmt *stmt = p->removal[side];

        sqlite3_bind_int64(stmt, 3, n[0]->to > n[1]->to ? n[0]->to : n[1]->to);
        for (int i = 0; i < 3; i++) {
            int result;

            sqlite3_bind_null(stmt, 1);
            if (i < 2)
                sqlite3_bind_int64(stmt, 1, p->objects.pairs[rows[i] - 1].object[side]);
            sqlite3_bind_int64(stmt, 2, i < 2 ? n[i]->from : n[n[0]->from > n[1]->from]->from);
            result = db_row(p->c->db, stmt, err);
            if (result > 0)
                result = sqlite3_column_int(stmt, 0);
            sqlite3_reset(stmt);
            if (result)
                return result;
        }
    }
    return 0;
}

/* --- */

/* Whether |row| has the number of another object. 1: it has; 0; or negative. */
static int check_side(struct pairs *p, int side, uint32_t row, uint32_t *other, struct err *err)
{
    struct object_state *s = &p->states[row];
    uint32_t holder = find_holder(p, side, &s->number[side]);
    int result = 0;

    *other = 0;
    if (holder && holder != row && !equal(&p->states[holder].number[!side], &s->number[!side])) {
        result = may_be_removed(p, holder, row, err);
        if (result < 0)
            return result;
        s->doubtful = p->states[holder].doubtful = result > 0;
        if (!result) {
            *other = holder; /* it goes on to hold it */
            return 1;
        }
    }
    return holder == row ? 0 : hold(p, side, row, &s->number[side], err);
}

int numbers_check(struct fields *f, const struct item *ref, const struct item *sut,
                  char what[COMPARE_TEXT_MAX], struct err *err)
{
    const struct place *place = ref->place;
    const uint64_t fileid[SIDES] = { ref->value, sut->value };
    struct pairs *p = f->p;
    uint32_t row = fields_object(f, place);
    struct object_state *s = &p->states[row];
    bool is_same = s->numbered;

    for (int side = 0; side < SIDES; side++) {
        const struct half *half = p->told[side] ? p->told[side] : &p->pair.half[side];
        struct shown_number n = { f->fsid[place->whose][side], fileid[side], half->call_time,
                                  half->reply_time };

        is_same = is_same && equal(&n, &s->number[side]);
        if (!is_same && fields_row(f, side, place) != row) { /* nobody knows whose it is */
            s->numbered = false;
            return 1;
        }
        s->number[side] = n;
    }
    s->numbered = true;
    if (is_same && !s->doubtful)
        return 1;
    if (!is_same)
        s->is_shared = false;
    s->doubtful = false;
    for (int side = 0; side < SIDES; side++) {
        int found = check_side(p, side, row, &f->shared[side], err);

        if (found < 0)
            return found;
        if (found && s->is_shared) /* it was told */
            f->shared[side] = 0;
        else if (found)
            snprintf(what, COMPARE_TEXT_MAX, "%s the same for two files, %s not",
                     side == REF ? "ref" : "sut", side == REF ? "sut" : "ref");
        s->is_shared = s->is_shared || found;
    }
    return !f->shared[REF] && !f->shared[SUT];
}

void numbers_forget(struct pairs *p, uint32_t row)
{
    p->states[row].numbered = false;
}

void numbers_text(struct fields *f, int side, char text[COMPARE_TEXT_MAX])
{
    size_t len = strlen(text);
    sqlite3_stmt *stmt;
    struct err unseen;

    if (tables_prepare(f->p->c->db, "SELECT path FROM main.object WHERE id = ?1", &stmt, &unseen) <
        0)
        return;
    sqlite3_bind_int64(stmt, 1, f->shared[side]);
    if (db_row(f->p->c->db, stmt, &unseen) > 0 && sqlite3_column_text(stmt, 0))
        snprintf(text + len, COMPARE_TEXT_MAX - len, " (also %.150s)",
                 (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
}

void numbers_close(struct pairs *p)
{
    for (int side = 0; side < SIDES; side++) {
        table_free(&p->by_number[side]);
        sqlite3_finalize(p->removal[side]);
    }
}
