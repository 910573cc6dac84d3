/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/found.c
 *
 * What the judge found in a pair: a difference goes to table discrepancy and counts in its group,
 * an uncertain one to table uncertain, a withheld one is counted, and latencies go to a temporary
 * table.  For compare_pairs.c and counts.c.  The contract is in compare_pairs.h, what the parts
 * share in found.h.
 */
#include "base/grow.h"
#include "compare/found.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

void operation_words(uint32_t program, const struct procedure *procedure, char text[64])
{
    const char *name = procedure ? program_name(program) : NULL;

    snprintf(text, 64, "%s%s%s", name ? name : "", name ? " " : "",
             procedure ? procedure->name : "");
}

int found_open(struct pairs *p, struct err *err)
{
    sqlite3 *db = p->c->db;
    struct found *f = calloc(1, sizeof(*f));

    p->found = f;
    if (!f)
        return err_memory(err, "differences");
    if (sql_prepare(db, "INSERT INTO main.discrepancy VALUES (?,?,?,?,?,?,?,?,?,?,?,NULL)", &f->put,
                    err) < 0 ||
        sql_prepare(db, "INSERT OR IGNORE INTO main.frame VALUES (?,?,?,?,?,?,?,?)", &f->frame,
                    err) < 0 ||
        sql_run(db, "CREATE TEMP TABLE latency (timed INTEGER, ref INTEGER, sut INTEGER)", err) < 0)
        return -err->code;
    if (sql_prepare(db, "INSERT INTO main.uncertain VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?)",
                    &f->uncertain_put, err) < 0)
        return -err->code;
    return sql_prepare(db, "INSERT INTO temp.latency VALUES (?,?,?)", &f->latency, err);
}

void found_close(struct pairs *p)
{
    struct found *f = p->found;

    if (!f)
        return;
    for (uint32_t i = 0; i < f->group_count; i++) {
        free(f->groups[i].field);
        free(f->groups[i].what);
    }
    free(f->groups);
    free(f->withheld);
    table_free(&f->by_hash);
    table_free(&f->by_reason);
    sqlite3_finalize(f->put);
    sqlite3_finalize(f->frame);
    sqlite3_finalize(f->latency);
    sqlite3_finalize(f->uncertain_put);
    free(f);
    p->found = NULL;
}

static const struct effect *any_effect(const struct pairs *p)
{
    const struct judge_half *half = p->pair.half;

    return &half[half[REF].effect.id ? REF : SUT].effect;
}

/* --- groups */

static struct group *find_group(struct found *f, uint64_t hash, const struct difference *d,
                                const struct effect *e, const char *field, bool scrubs)
{
    uint32_t at;

    for (uint32_t i = table_first(&f->by_hash, hash, &at); i != TABLE_NONE;
         i = table_next(&f->by_hash, hash, &at)) {
        struct group *c = &f->groups[i];

        if (c->kind == d->kind && c->when == d->when && c->procedure == e->procedure &&
            c->scrubs == scrubs && strcmp(c->field, field) == 0 && strcmp(c->what, d->what) == 0)
            return c;
    }
    return NULL;
}

static const struct compare_rule *accepted_by(const struct pairs *p, const struct group *c)
{
    char operation[64];
    const struct rule_found found = {
        .operation = operation,
        .field = c->field,
        .difference = c->what,
        .cls = c->place ? class_name((enum field_class)c->place->field->cls) : NULL,
        .when = case_name(c->when),
        .is_event = !c->place,
    };

    operation_words(c->program, c->procedure, operation);
    return rules_accept(p->c->rules, &found);
}

static struct group *get_group(struct pairs *p, const struct difference *d)
{
    struct found *f = p->found;
    const struct effect *e = any_effect(p);
    const char *field = d->place ? d->place->path : d->field;
    uint64_t hash = XXH3_64bits_withSeed(d->what, strlen(d->what),
                                         XXH3_64bits_withSeed(field, strlen(field), d->kind));
    struct group *c = find_group(f, hash, d, e, field, p->live.scrubs);

    if (c)
        return c;
    if (GROW(f->groups, f->group_count, f->group_cap) < 0)
        return NULL;
    c = &f->groups[f->group_count];
    *c = (struct group){ .kind = d->kind,
                         .when = d->when,
                         .scrubs = p->live.scrubs,
                         .place = d->place,
                         .rule = d->rule,
                         .program = e->program,
                         .version = e->version,
                         .procedure = e->procedure,
                         .field = strdup(field),
                         .what = strdup(d->what),
                         .number = f->group_count + 1 };
    f->group_count++;
    if (!c->field || !c->what || table_add(&f->by_hash, hash, f->group_count - 1) < 0)
        return NULL;
    c->accepted = accepted_by(p, c);
    return c;
}

static int put_frame(struct pairs *p, const struct difference *d, int side, int64_t discrepancy,
                     struct err *err)
{
    const struct judge_half *half = d->half[side], *other = d->half[!side];
    sqlite3_stmt *stmt = p->found->frame;
    int64_t frame = half->reply_frame ? half->reply_frame : half->call_frame;

    if (!frame)
        return 0;
    sqlite3_bind_int(stmt, 1, db_side(side));
    sqlite3_bind_int64(stmt, 2, half->reply_frame ? half->reply_source : half->call_source);
    sqlite3_bind_int64(stmt, 3, frame);
    sqlite3_bind_int64(stmt, 4, half->xid);
    sqlite3_bind_int64(stmt, 5, discrepancy);
    sql_bind_unless(stmt, 6, other->reply_frame ? other->reply_source : other->call_source, 0);
    sql_bind_unless(stmt, 7, other->reply_frame ? other->reply_frame : other->call_frame, 0);
    sqlite3_bind_int64(stmt, 8, half->reply_frame ? half->reply_time : half->call_time);
    return sql_step(stmt, err);
}

int found_put(struct pairs *p, const struct difference *d, struct err *err)
{
    struct found *f = p->found;
    struct group *c = get_group(p, d);
    int64_t id = (int64_t)f->discrepancies + 1;

    if (!c)
        return err_memory(err, "differences");
    if (c->accepted) {
        c->count++;
        return 0;
    }
    sqlite3_bind_int64(f->put, 1, id);
    sqlite3_bind_int64(f->put, 2, c->number);
    sql_bind_unless(f->put, 3, p->pair.id, 0);
    sql_bind_unless(f->put, 4, d->half[REF]->effect.id, 0);
    sql_bind_unless(f->put, 5, d->half[SUT]->effect.id, 0);
    sql_bind_unless(f->put, 6, d->object, 0);
    sql_bind_text(f->put, 7, d->element);
    for (int side = 0; side < SIDES; side++) {
        sql_bind_text(f->put, 8 + side, d->text[side]);
        if (d->has_number)
            sqlite3_bind_int64(f->put, 10 + side, (int64_t)d->number[side]);
        else
            sqlite3_bind_null(f->put, 10 + side);
    }
    if (sql_step(f->put, err) < 0 || put_frame(p, d, REF, id, err) < 0 ||
        put_frame(p, d, SUT, id, err) < 0)
        return -err->code;
    f->discrepancies++;
    c->count++;
    if (c->example_count < EXAMPLES)
        c->examples[c->example_count++] = (struct example){
            id, p->pair.id, { d->half[REF]->effect.id, d->half[SUT]->effect.id }, d->object
        };
    return 0;
}

/* --- withheld */

int found_withhold(struct pairs *p, enum withheld_reason reason, const struct place *place,
                   struct err *err)
{
    struct found *f = p->found;
    const struct effect *e = any_effect(p);
    uint64_t hash =
        ((uintptr_t)place * 31 + (uintptr_t)e->procedure) * 0x9e3779b97f4a7c15u + reason;
    uint32_t at, slot = table_first(&f->by_reason, hash, &at);

    f->withheld_total++;
    while (slot != TABLE_NONE &&
           (f->withheld[slot].reason != reason || f->withheld[slot].place != place ||
            f->withheld[slot].procedure != e->procedure))
        slot = table_next(&f->by_reason, hash, &at);
    if (slot != TABLE_NONE) {
        f->withheld[slot].count++;
        return 0;
    }
    if (GROW(f->withheld, f->withheld_count, f->withheld_cap) < 0)
        return err_memory(err, "differences");
    f->withheld[f->withheld_count] = (struct withheld){ reason,
                                                        place,
                                                        e->program,
                                                        e->version,
                                                        e->procedure,
                                                        1,
                                                        p->pair.half[REF].effect.id,
                                                        p->pair.half[SUT].effect.id };
    return table_add(&f->by_reason, hash, f->withheld_count++) < 0 ? err_memory(err, "differences")
                                                                   : 0;
}

int found_uncertain(struct pairs *p, enum withheld_reason reason, const struct difference *d,
                    struct err *err)
{
    struct found *f = p->found;
    sqlite3_stmt *stmt = f->uncertain_put;
    const struct effect *e = any_effect(p);
    char operation[64];

    if (f->uncertain[d->kind]++ < UNCERTAIN_KEPT) {
        operation_words(e->program, e->procedure, operation);
        sql_bind_unless(stmt, 1, p->pair.id, 0);
        sqlite3_bind_int(stmt, 2, (int)reason);
        sqlite3_bind_int(stmt, 3, (int)d->kind);
        sql_bind_text(stmt, 4, operation);
        sql_bind_text(stmt, 5, d->place ? d->place->path : d->field);
        sql_bind_text(stmt, 6, d->what);
        sql_bind_unless(stmt, 7, d->object, 0);
        for (int side = 0; side < SIDES; side++) {
            sql_bind_unless(stmt, 8 + side, d->half[side]->effect.id, 0);
            sql_bind_text(stmt, 10 + side, d->text[side]);
        }
        if (sql_step(stmt, err) < 0)
            return -err->code;
    }
    return found_withhold(p, reason, d->place, err);
}

static int write_uncertain(struct pairs *p, struct err *err)
{
    uint64_t total = 0;
    char sql[128];

    for (int kind = 0; kind < KIND_MAX; kind++)
        total += p->found->uncertain[kind];
    snprintf(sql, sizeof(sql),
             "INSERT INTO main.meta VALUES ('uncertain', %llu), ('accepted', %llu)",
             (unsigned long long)total, (unsigned long long)p->found->accepted);
    return sql_run(p->c->db, sql, err);
}

/* --- latencies */

static uint64_t apart(const struct slow *s)
{
    uint64_t ref = (uint64_t)s->latency[REF], sut = (uint64_t)s->latency[SUT];

    return s->latency[REF] < s->latency[SUT] ? sut - ref : ref - sut;
}

/* Keeps the largest differences, in order. */
static void note_slow(struct found *f, const struct slow *s)
{
    uint32_t at = f->slow_count;

    while (at > 0 && apart(&f->slowest[at - 1]) < apart(s))
        at--;
    if (at == SLOWEST)
        return;
    if (f->slow_count < SLOWEST)
        f->slow_count++;
    memmove(f->slowest + at + 1, f->slowest + at, (f->slow_count - 1 - at) * sizeof(*f->slowest));
    f->slowest[at] = *s;
}

static struct timed *get_timed(struct found *f, const struct effect *e)
{
    uint32_t i = 0;

    while (i < f->timed_count && f->timed[i].procedure != e->procedure)
        i++;
    if (i == TIMED_MAX)
        return NULL;
    if (i == f->timed_count)
        f->timed[f->timed_count++] = (struct timed){ e->program, e->version, e->procedure, 0 };
    return &f->timed[i];
}

int found_latency(struct pairs *p, struct err *err)
{
    struct timed *timed;
    const struct judge_half *half = p->pair.half;
    const struct effect *e = &half[REF].effect;
    struct slow s = { p->pair.id, half[REF].effect.id, half[SUT].effect.id, { 0, 0 } };

    for (int side = 0; side < SIDES; side++) {
        if (half[side].reply_time == INT64_MIN || half[side].call_time == INT64_MIN)
            return 0;
        /* the times of a damaged database may be anything */
        s.latency[side] =
            (int64_t)((uint64_t)half[side].reply_time - (uint64_t)half[side].call_time);
    }
    note_slow(p->found, &s);
    timed = e->procedure ? get_timed(p->found, e) : NULL;
    if (!timed)
        return 0;
    timed->count++;
    sqlite3_bind_int64(p->found->latency, 1, timed - p->found->timed);
    sqlite3_bind_int64(p->found->latency, 2, s.latency[REF]);
    sqlite3_bind_int64(p->found->latency, 3, s.latency[SUT]);
    return sql_step(p->found->latency, err);
}

/* Comparisons of an accepted group are ignored ones. */
static void count_ignored(struct pairs *p, const struct group *c)
{
    const struct places_set *set = &p->c->places;

    for (uint32_t i = 0; c->place && i < set->count; i++) {
        struct places *places = set->list[i];

        if (c->place >= places->places && c->place < places->places + places->count) {
            places->places[c->place->index].n.different -= c->count;
            places->places[c->place->index].n.ignored += c->count;
        }
    }
}

static void drop_accepted(struct pairs *p)
{
    struct found *f = p->found;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < f->group_count; i++) {
        struct group *c = &f->groups[i];

        if (!c->accepted) {
            f->groups[kept++] = *c;
            continue;
        }
        count_ignored(p, c);
        f->accepted += c->count;
        free(c->field);
        free(c->what);
    }
    f->group_count = kept;
}

int found_finish(struct pairs *p, struct err *err)
{
    drop_accepted(p);
    if (groups_write(p, err) < 0 || latency_write(p, err) < 0 || phases_write(p, err) < 0 ||
        write_uncertain(p, err) < 0 || result_index(p->c->db, err) < 0)
        return -err->code;
    return examples_write(p, err);
}
