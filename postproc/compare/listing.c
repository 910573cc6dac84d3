/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/listing.c
 *
 * READDIR and READDIRPLUS: what a directory has is told in several replies, split and ordered as
 * the server likes.  The replies of each side are put together by their cookies (lanes.c), and
 * compared as sets when both sides were listed from the beginning to the end.
 */
#include "compare/pairs.h"

#include "base/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

/* A further reply. */
struct part {
    struct half half;
    uint8_t *copy; /* of the result and arguments */
};

struct side_listing {
    struct part *parts;
    uint32_t count, cap;
    struct elements elements;
    bool complete, sound; /* to the end; from the beginning, and all replies were understood */
    int64_t begin, end;   /* times */
};

struct listing {
    struct pairs *p;
    struct fields *f;
    struct side_listing side[SIDES];
    bool incomplete; /* one of them: what only one side has means nothing */
    char **changed;  /* names, as text, sorted */
    uint32_t changed_count, changed_cap;
};

static const struct item *find_list(const struct body *b, uint32_t *left)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (field_is_list(b->items[i].place->field) &&
            b->items[i].place->field->role & ROLE_ENTRY) {
            *left = b->count - i;
            return &b->items[i];
        }
    return NULL;
}

static const struct item *find_end(const struct body *b)
{
    for (uint32_t i = b->count; i-- > 0;)
        if (b->items[i].place->field->role & ROLE_EOF)
            return &b->items[i];
    return NULL;
}

static int take_reply(struct side_listing *s, const struct half *half, struct err *err)
{
    const struct item *list, *end = find_end(&half->result);
    uint32_t left = 0, before = s->elements.count;

    list = find_list(&half->result, &left);
    s->complete = end && end->value && half->effect.succeeded;
    if (!half->answered || half->result.walked != WALK_OK || !half->effect.succeeded || !list) {
        s->sound = false;
        return 0;
    }
    if (half->reply_time > s->end)
        s->end = half->reply_time;
    if (elements_add(&s->elements, (struct span){ list, list_length((struct span){ list, left }) },
                     err) < 0)
        return -err->code;
    for (uint32_t i = before; i < s->elements.count; i++)
        s->elements.elements[i].told = half;
    return 0;
}

static int add_part(struct listing *l, int side, int64_t id, struct err *err)
{
    struct side_listing *s = &l->side[side];
    struct part *part;
    uint32_t len;

    if (s->count == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 8;
        void *grown = realloc(s->parts, cap * sizeof(*s->parts));

        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory for a listing");
        s->parts = grown;
        s->cap = cap;
    }
    part = &s->parts[s->count];
    memset(part, 0, sizeof(*part));
    s->count++;
    if (pairs_load(l->p, side, id, &part->half, err) < 0)
        return -err->code;
    /* the values lead into the body, which goes with the next row: a copy is read again */
    len = part->half.effect.result_body.len;
    part->copy = malloc(len + 1);
    if (!part->copy)
        return err_set(err, ERR_SYSTEM, "out of memory for a listing");
    memcpy(part->copy, part->half.effect.result_body.data, len);
    part->half.effect.result_body.data = part->copy;
    part->half.effect.arguments_body = (struct bytes){ part->copy, 0 };
    part->half.effect.name = part->half.effect.name2 = (struct bytes){ part->copy, 0 };
    part->half.data_digest = (struct bytes){ part->copy, 0 };
    sqlite3_reset(l->p->row[side]);
    if (!part->half.result.places)
        return 0;
    return body_read(&part->half.result, part->half.result.places,
                     effect_result(&part->half.effect), err);
}

static int load_parts(struct listing *l, int side, struct err *err)
{
    struct pairs *p = l->p;
    struct side_listing *s = &l->side[side];
    int64_t ids[256];
    uint32_t count;
    int64_t after = 0;
    int result;

    /* in pieces, since rows of other statements are read in between */
    do {
        count = 0;
        sqlite3_bind_int64(p->listing, 1, p->pair.half[side].effect.id);
        sqlite3_bind_int(p->listing, 2, side);
        sqlite3_bind_int64(p->listing, 3, after);
        while (count < 256 && (result = db_row(p->c->db, p->listing, err)) > 0) {
            after = sqlite3_column_int64(p->listing, 0);
            ids[count++] = sqlite3_column_int64(p->listing, 1);
        }
        sqlite3_reset(p->listing);
        if (count < 256 && result < 0)
            return result;
        for (uint32_t i = 0; i < count; i++)
            if (add_part(l, side, ids[i], err) < 0)
                return -err->code;
    } while (count == 256);
    for (uint32_t i = 0; i < s->count; i++)
        if (take_reply(s, &s->parts[i].half, err) < 0)
            return -err->code;
    return 0;
}

/* --- names that were made or taken away in the meantime */

static const char make_changed[] =
    "CREATE TEMP TABLE changed%d AS SELECT e.parent AS parent, e.name AS name,"
    " ifnull(o.call_time, o.reply_time) AS call, o.reply_time AS reply"
    " FROM %s.name_event e JOIN %s.operation o ON o.id = e.operation"
    " WHERE e.event NOT IN (1, 5) AND e.parent IS NOT NULL;"
    "CREATE INDEX temp.changed%d_by_parent ON changed%d (parent, reply, call);";

/* What has no answer may have been carried out for a minute. */
static const char find_changes[] =
    "SELECT name FROM temp.changed%d WHERE parent = ?1 AND reply BETWEEN ?2 AND ?3 + ?4"
    " AND call <= ?3 UNION ALL SELECT name FROM temp.changed%d WHERE parent = ?1 AND reply IS NULL"
    " AND call BETWEEN ?2 - 60000000000 AND ?3";

/* Rows are in the order of calls. */
static const char make_parts[] =
    "CREATE TEMP TABLE listing_part (listing INTEGER, side INTEGER, id INTEGER);"
    "INSERT INTO temp.listing_part SELECT a.listing, a.ref IS NULL, ifnull(a.ref, a.sut)"
    " FROM main.alignment a LEFT JOIN ref.operation r ON r.id = a.ref"
    " LEFT JOIN sut.operation s ON s.id = a.sut WHERE a.kind = 3 AND a.listing IS NOT NULL"
    " ORDER BY ifnull(r.call_time, s.call_time), 3;"
    "CREATE INDEX temp.listing_part_in_order ON listing_part (listing, side);";

int listing_prepare(struct pairs *p, struct err *err)
{
    sqlite3 *db = p->c->db;

    for (int side = 0; side < SIDES; side++) {
        const char *schema = p->c->side[side].schema;
        char sql[512];

        snprintf(sql, sizeof(sql), make_changed, side + 1, schema, schema, side + 1, side + 1);
        if (tables_run(db, sql, err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql), "SELECT ifnull(max(reply - call), 0) FROM temp.changed%d",
                 side + 1);
        if (db_number(db, sql, 0, &p->longest[side], err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql), find_changes, side + 1, side + 1);
        if (tables_prepare(db, sql, &p->changed[side], err) < 0)
            return -err->code;
    }
    if (tables_run(db, make_parts, err) < 0)
        return -err->code;
    return tables_prepare(db,
                          "SELECT rowid, id FROM temp.listing_part WHERE listing = ?1 AND side = ?2"
                          " AND rowid > ?3 ORDER BY rowid",
                          &p->listing, err);
}

static int add_changed(struct listing *l, const char *name, struct err *err)
{
    if (l->changed_count == l->changed_cap) {
        uint32_t cap = l->changed_cap ? l->changed_cap * 2 : 16;
        void *grown = realloc(l->changed, cap * sizeof(*l->changed));

        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory for a listing");
        l->changed = grown;
        l->changed_cap = cap;
    }
    l->changed[l->changed_count] = strdup(name);
    return l->changed[l->changed_count++] ? 0 : err_set(err, ERR_SYSTEM, "out of memory");
}

static int find_changed(struct listing *l, int side, struct err *err)
{
    struct pairs *p = l->p;
    uint32_t object = p->pair.object ? p->pair.half[side].effect.object : 0;
    sqlite3_stmt *stmt = p->changed[side];
    int result;

    sqlite3_bind_int64(stmt, 1, object);
    sqlite3_bind_int64(stmt, 2, l->side[side].begin);
    sqlite3_bind_int64(stmt, 3, l->side[side].end);
    sqlite3_bind_int64(stmt, 4, p->longest[side]);
    while ((result = db_row(p->c->db, stmt, err)) > 0) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);

        if (name && add_changed(l, name, err) < 0) {
            sqlite3_reset(stmt);
            return -err->code;
        }
    }
    return result;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether a name is left out; one that both sides have is known again. */
static int skip(void *ctx, struct bytes name, bool both, struct err *err)
{
    struct listing *l = ctx;
    struct buf text = { 0 };
    int reason = 0;

    if (l->incomplete && !both)
        return 1; /* withheld as a whole */
    if (l->changed_count && escape_name(name, false, &text) == 0 && buf_append(&text, "", 1) == 0 &&
        bsearch(&text.data, l->changed, l->changed_count, sizeof(*l->changed), by_text))
        reason = WITHHELD_CHANGING;
    buf_free(&text);
    if (reason && both)
        return 0;
    if (!reason && both)
        return sync_entry_known(l->p, name, err);
    if (!reason)
        reason = sync_entry(l->p, name);
    if (!reason)
        return 0;
    return found_withhold(l->p, (enum withheld_reason)reason, NULL, err) < 0 ? -err->code : 1;
}

static bool same_names(const struct elements *a, const struct elements *b)
{
    uint64_t sums[2] = { 0, 0 };

    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        struct bytes x = a->elements[i].name, y = b->elements[i].name;

        sums[0] += XXH3_64bits(x.data, x.len);
        sums[1] += XXH3_64bits(y.data, y.len);
    }
    return sums[0] == sums[1];
}

/* Both told the same names, but only one says that this is all. */
static int compare_end(struct listing *l, struct err *err)
{
    const struct half *half[SIDES];
    const struct item *end[SIDES];
    const struct compare_rule *rule;
    char what[COMPARE_TEXT_MAX];
    int result;

    for (int side = 0; side < SIDES; side++) {
        struct side_listing *s = &l->side[side];

        half[side] = s->count ? &s->parts[s->count - 1].half : &l->p->pair.half[side];
        end[side] = find_end(&half[side]->result);
        if (!end[side])
            return 0;
    }
    rule = fields_rule(l->f, end[REF], end[SUT]);
    if (rule->kind == COMPARE_IGNORED)
        return 0;
    item_difference(end[REF], end[SUT], what);
    memcpy(l->p->told, half, sizeof(half));
    result = fields_differ(l->f, KIND_VALUE, rule, end[REF], end[SUT], what, err);
    l->p->told[REF] = l->p->told[SUT] = NULL;
    return result;
}

/* Where names don't count: element by element. */
static bool are_names_ignored(struct listing *l)
{
    const struct elements *e = &l->side[REF].elements;

    for (uint32_t i = 0; e->count && i < e->elements[0].span.count; i++) {
        const struct item *item = &e->elements[0].span.items[i];

        if (item->place->field->role & ROLE_ENTRY_NAME)
            return fields_rule(l->f, item, item)->kind == COMPARE_IGNORED;
    }
    return false;
}

static int compare_sets(struct listing *l, struct err *err)
{
    struct side_listing *ref = &l->side[REF], *sut = &l->side[SUT];
    uint32_t left;
    const struct item *list = find_list(&l->p->pair.half[REF].result, &left);
    const struct compare_rule *rule;

    if (!list)
        return 0;
    rule = fields_rule(l->f, list, list);
    if (rule->kind == COMPARE_IGNORED) {
        list->place->n.ignored++;
        return 0;
    }
    if (are_names_ignored(l) && ref->complete && sut->complete && ref->sound && sut->sound)
        return elements_compare(l->f, list, &ref->elements, &sut->elements, err);
    if (ref->sound && sut->sound && ref->complete != sut->complete &&
        same_names(&ref->elements, &sut->elements))
        return compare_end(l, err);
    if (!ref->complete || !sut->complete || !ref->sound || !sut->sound) {
        l->incomplete = true;
        list->place->n.withheld++;
        if (found_withhold(l->p, WITHHELD_LISTING, list->place, err) < 0)
            return -err->code;
        if (are_names_ignored(l))
            return 0;
    }
    if (find_changed(l, REF, err) < 0 || find_changed(l, SUT, err) < 0)
        return -err->code;
    if (l->changed_count)
        qsort(l->changed, l->changed_count, sizeof(*l->changed), by_text);
    return elements_compare_names(l->f, list, &ref->elements, &sut->elements, skip, l, err);
}

/* The other fields of further replies, as far as both sides have as many. */
static int compare_parts(struct listing *l, struct err *err)
{
    uint32_t n = l->side[REF].count < l->side[SUT].count ? l->side[REF].count : l->side[SUT].count;
    struct half first[SIDES] = { l->p->pair.half[REF], l->p->pair.half[SUT] };
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < n; i++) {
        const struct body *ref = &l->side[REF].parts[i].half.result;
        const struct body *sut = &l->side[SUT].parts[i].half.result;

        if (!l->side[REF].parts[i].half.answered || !l->side[SUT].parts[i].half.answered)
            continue;
        l->p->pair.half[REF] = l->side[REF].parts[i].half;
        l->p->pair.half[SUT] = l->side[SUT].parts[i].half;
        result = fields_compare(l->f, (struct span){ ref->items, ref->count },
                                (struct span){ sut->items, sut->count }, err);
    }
    l->p->pair.half[REF] = first[REF];
    l->p->pair.half[SUT] = first[SUT];
    return result;
}

int listing_compare(struct pairs *p, struct fields *f, struct err *err)
{
    struct listing l = { .p = p, .f = f };
    const struct body *ref = &p->pair.half[REF].result, *sut = &p->pair.half[SUT].result;
    int result = 0;

    for (int side = 0; result == 0 && side < SIDES; side++) {
        l.side[side].sound = !p->pair.half[side].effect.asked.cookie;
        l.side[side].begin = p->pair.half[side].call_time;
        result = take_reply(&l.side[side], &p->pair.half[side], err);
        if (result == 0 && !l.side[side].complete)
            result = load_parts(&l, side, err);
    }
    f->in_listing = true;
    if (result == 0)
        result = fields_compare(f, (struct span){ ref->items, ref->count },
                                (struct span){ sut->items, sut->count }, err);
    if (result == 0 && f->status_equal && p->pair.half[REF].effect.succeeded)
        result = compare_sets(&l, err);
    if (result == 0 && f->status_equal && p->pair.half[REF].effect.succeeded)
        result = compare_parts(&l, err);
    f->in_listing = false;
    patterns_free(&p->of_listing);
    for (int side = 0; side < SIDES; side++) {
        for (uint32_t i = 0; i < l.side[side].count; i++) {
            free(l.side[side].parts[i].copy);
            body_free(&l.side[side].parts[i].half.result);
        }
        free(l.side[side].parts);
        free(l.side[side].elements.elements);
    }
    for (uint32_t i = 0; i < l.changed_count; i++)
        free(l.changed[i]);
    free(l.changed);
    return result;
}
