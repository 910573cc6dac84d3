/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/pairs_live.c
 *
 * Pairs of a log that a shadow wrote (schemas/teelog.md): not all requests are in it, and a
 * synchronizer made objects the same in between.  So nothing of earlier pairs counts, and each pair
 * itself says what was known of its objects.  Logs also have file contents, which are shown.
 */
#include "base/escape.h"
#include "compare/compare_pairs.h"

#include <stdio.h>

enum { SHOWN = 24 }; /* bytes of contents */

/* The entries that were the same: a log has their names on the SUT. */
static const char make_listed[] =
    "CREATE TEMP TABLE listed AS SELECT name, operation FROM sut.name_event"
    " WHERE operation IS NOT NULL;"
    "CREATE INDEX temp.listed_by_name ON listed (name, operation);";

/* With OR instead of IN, SQLite would go through all listings that have the name. */
static const char find_entry[] =
    "SELECT EXISTS (SELECT 1 FROM temp.listed WHERE name = ?1 AND operation IN"
    " (SELECT ?2 UNION ALL SELECT id FROM temp.listing_part WHERE listing = ?2 AND side = 1))";

int compare_is_log(struct compare *c, bool *is, struct err *err)
{
    int64_t live = 0;
    int result = sql_number(c->db,
                            "SELECT EXISTS (SELECT 1 FROM ref.operation"
                            " WHERE counterpart_conditions IS NOT NULL)",
                            0, &live, err);

    *is = live;
    return result;
}

int pairs_live_find(struct pairs *p, struct err *err)
{
    return compare_is_log(p->c, &p->live.is, err);
}

int pairs_live_open(struct pairs *p, struct err *err)
{
    static const char *const contents[SIDES] = {
        "SELECT data FROM ref.contents WHERE operation = ?1 AND is_reply AND position = 0",
        "SELECT data FROM sut.contents WHERE operation = ?1 AND is_reply AND position = 0",
    };

    if (!p->live.is)
        return 0;
    for (int side = 0; side < SIDES; side++)
        if (sql_prepare(p->c->db, contents[side], &p->live.contents[side], err) < 0)
            return -err->code;
    if (sql_run(p->c->db, make_listed, err) < 0)
        return -err->code;
    return sql_prepare(p->c->db, find_entry, &p->live.entry, err);
}

void pairs_live_close(struct pairs *p)
{
    for (int side = 0; side < SIDES; side++)
        sqlite3_finalize(p->live.contents[side]);
    sqlite3_finalize(p->live.entry);
}

/* Of "." and "..", the pair's conditions tell. */
int pairs_live_entry(struct pairs *p, struct bytes name, uint32_t *row, struct err *err)
{
    const struct effect *e = &p->pair.half[SUT].effect;
    sqlite3_stmt *stmt = p->live.entry;
    struct buf text = { 0 };
    int result;

    if (!p->live.is || !*row || effect_action(e) != ACTION_LIST)
        return 0;
    if (bytes_are_dots(name)) {
        *row = p->pair.logged & COUNTERPART_OPEN_DOTS ? 0 : *row;
        return 0;
    }
    if (escape_name(name, false, &text) < 0 || buf_append(&text, "", 1) < 0) {
        buf_free(&text);
        return err_memory(err, "a listing");
    }
    sql_bind_text(stmt, 1, (const char *)text.data);
    sqlite3_bind_int64(stmt, 2, e->id);
    result = sql_row(stmt, err);
    if (result > 0 && !sqlite3_column_int(stmt, 0))
        *row = 0;
    sqlite3_reset(stmt);
    buf_free(&text);
    return result < 0 ? result : 0;
}

static int renew(struct pairs *p, uint32_t row, bool changed, bool made, struct err *err)
{
    const struct judge_object object = { .remade = !changed };

    if (!row)
        return 0;
    if (!made) {
        judge_renew(p->judge, row, !changed);
        return 0;
    }
    judge_forget(p->judge, row);
    return judge_add_object(p->judge, row, &object, err);
}

int pairs_live_begin(struct pairs *p, uint32_t conditions, struct err *err)
{
    static const struct {
        uint32_t not_same, changed, made, accessed;
        enum whose whose;
    } objects[] = {
        { COUNTERPART_NOT_OBJECT, COUNTERPART_CHANGED_OBJECT, COUNTERPART_MADE_OBJECT,
          COUNTERPART_READ_OBJECT, OF_OBJECT },
        { COUNTERPART_NOT_PARENT2, COUNTERPART_CHANGED_PARENT2, COUNTERPART_MADE_PARENT2,
          COUNTERPART_READ_PARENT2, OF_PARENT2 },
        { COUNTERPART_NOT_NEW, COUNTERPART_CHANGED_NEW, COUNTERPART_MADE_NEW, COUNTERPART_READ_NEW,
          OF_NEW_OBJECT },
    };
    struct judge_pair *pair = &p->pair;
    const uint32_t rows[] = { pair->object, pair->half[REF].row.parent2,
                              pair->half[REF].row.new_object };

    pair->not_same = pair->accessed = pair->logged = 0;
    p->live.scrubs = conditions & COUNTERPART_SCRUBS;
    if (!(conditions & COUNTERPART_LIVE))
        return 0;
    pair->logged = conditions;
    pair->overlap = conditions & COUNTERPART_OVERLAPS;
    for (int i = 0; i < CHANGE_STATES; i++)
        pair->change[i] = 0;
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        if (conditions & objects[i].not_same)
            pair->not_same |= 1u << objects[i].whose;
        if (conditions & objects[i].accessed)
            pair->accessed |= 1u << objects[i].whose;
        if (renew(p, rows[i], conditions & objects[i].changed, conditions & objects[i].made, err) <
            0)
            return -err->code;
    }
    return 0;
}

bool pairs_live_changing(const struct pairs *p, const struct judge_pair *pair,
                         const struct difference *d)
{
    return p->live.is && d->kind == KIND_ENTRY && pair->logged & COUNTERPART_OPEN_RESULT;
}

/* --- contents */

static int read_contents(struct pairs *p, int side, int64_t operation, struct bytes *to,
                         struct err *err)
{
    sqlite3_stmt *stmt = p->live.contents[side];
    int result;

    *to = (struct bytes){ 0 };
    sqlite3_reset(stmt);
    sqlite3_bind_int64(stmt, 1, operation);
    result = sql_row(stmt, err);
    if (result > 0)
        *to = sql_column_bytes(stmt, 0);
    return result < 0 ? result : 0;
}

/* "from byte 4: 6c6f20..." */
static void show(struct bytes contents, uint32_t from, char text[COMPARE_TEXT_MAX])
{
    int len = snprintf(text, COMPARE_TEXT_MAX, "from byte %u: ", from);
    uint32_t i = from;

    for (; i < contents.len && i < from + SHOWN; i++)
        len += snprintf(text + len, COMPARE_TEXT_MAX - (size_t)len, "%02x", contents.data[i]);
    snprintf(text + len, COMPARE_TEXT_MAX - (size_t)len, "%s", i < contents.len ? "..." : "");
}

int pairs_live_contents(struct pairs *p, const struct difference *d,
                        char text[SIDES][COMPARE_TEXT_MAX], struct err *err)
{
    struct bytes contents[SIDES];
    uint32_t at = 0;

    if (!p->live.is || !d->place || d->place->field->cls != CLASS_DATA)
        return 0;
    for (int side = 0; side < SIDES; side++)
        if (read_contents(p, side, d->half[side]->effect.id, &contents[side], err) < 0)
            return -err->code;
    while (at < contents[REF].len && at < contents[SUT].len &&
           contents[REF].data[at] == contents[SUT].data[at])
        at++;
    if (at < contents[REF].len || at < contents[SUT].len)
        for (int side = 0; side < SIDES; side++)
            show(contents[side], at, text[side]);
    for (int side = 0; side < SIDES; side++)
        sqlite3_reset(p->live.contents[side]);
    return at < contents[REF].len || at < contents[SUT].len;
}
