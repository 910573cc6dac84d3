/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/compare_groups.c
 *
 * Writes the counts in memory to their tables.
 */
#include "compare/found.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is said where the catalogue knows no cause. */
static const char *generic(const struct group *c)
{
    switch (c->kind) {
    case KIND_VALUE:
        return "the field has another value";
    case KIND_TIME:
        return "the time differs by more than clocks, granularity and tolerance explain";
    case KIND_ORDER:
        return "the value is on the wrong side of the reference's";
    case KIND_PRESENCE:
        return "an optional part of the reply is there on one side only";
    case KIND_PATTERN:
        return "a value of the server's own changed on one side only";
    case KIND_ENTRY:
        return "an element of a list is there on one side only";
    default:
        return "the replies differ";
    }
}

/* Without a cause that says it. */
static enum severity severity_of(const struct group *c)
{
    if (c->kind == KIND_RETRANSMISSION || c->kind == KIND_DISCONNECT)
        return SEVERITY_PERFORMANCE;
    if (c->kind == KIND_REPLY)
        return SEVERITY_REPLIES;
    if (c->kind == KIND_MALFORMED || !c->place)
        return SEVERITY_OUTCOME;
    return c->place->has_whose ? SEVERITY_ATTRIBUTES : SEVERITY_OUTCOME;
}

static const char *const cases[CASE_MAX] = { [CASE_DIRECTORY] = "directory",
                                             [CASE_NO_DIRECTORY] = "no directory",
                                             [CASE_ASKED] = "asked",
                                             [CASE_NOT_ASKED] = "not asked" };

const char *case_name(enum difference_case when)
{
    return cases[when];
}

static void find_explanation(const struct explanations *explanations, struct group *c)
{
    char operation[64];
    struct explained of = { result_code_name("kind", (int)c->kind), operation, c->field, c->what,
                            cases[c->when] };

    operation_words(c->program, c->procedure, operation);
    c->explanation = explanations_find(explanations, &of);
    c->severity =
        c->explanation && c->explanation->severity ? c->explanation->severity : severity_of(c);
}

static const char of_scrub[] = " (found while clients were quiet: by comparing the objects)";

/* By cause, the gravest first, of these the most frequent. */
static int by_cause(const void *a, const void *b)
{
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;

    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    return x->count != y->count ? (x->count < y->count ? 1 : -1)
                                : (x->number > y->number) - (x->number < y->number);
}

static int write_group(struct pairs *p, sqlite3_stmt *stmt, const struct group *c, int64_t id,
                       struct err *err)
{
    const struct place *place = c->place;
    const struct explanation *explanation = c->explanation;
    char operation[64], text[EXPLANATION_MAX];
    uint64_t compared = place ? place->n.equal + place->n.different : p->c->pairs;

    operation_words(c->program, c->procedure, operation);
    if (!explain_group(p, c, explanation ? explanation->text : generic(c), text, err))
        return -err->code;
    if (c->scrubs)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", of_scrub);
    sqlite3_bind_int64(stmt, 1, id);
    sqlite3_bind_int(stmt, 2, (int)c->kind);
    sql_bind_text(stmt, 3, place ? class_name((enum field_class)place->field->cls) : NULL);
    sql_bind_unless(stmt, 4, c->procedure ? (int64_t)c->program : -1, -1);
    sql_bind_unless(stmt, 5, c->procedure ? (int64_t)c->version : -1, -1);
    sql_bind_unless(stmt, 6, c->procedure ? (int64_t)c->procedure->number : -1, -1);
    sql_bind_text(stmt, 7, operation);
    sql_bind_text(stmt, 8, c->field);
    sql_bind_text(stmt, 9, c->what);
    sql_bind_unless(stmt, 10, c->rule ? c->rule->id : 0, 0);
    sql_bind_text(stmt, 11, explanation ? explanation->name : NULL);
    sql_bind_text(stmt, 12, text);
    sqlite3_bind_int64(stmt, 13, (int64_t)c->count);
    sqlite3_bind_int64(stmt, 14, (int64_t)(compared > c->count ? compared : c->count));
    sqlite3_bind_int(stmt, 15, (int)c->severity);
    sqlite3_bind_int64(stmt, 16, c->cause);
    sql_bind_text(stmt, 17, cases[c->when]);
    return sql_step(stmt, err);
}

static int write_rules(struct pairs *p, struct err *err)
{
    const struct rules *rules = p->c->rules;
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(p->c->db, "INSERT OR IGNORE INTO main.rule VALUES (?,?,?,?)", &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; result == 0 && i < rules->rule_count; i++) {
        sqlite3_bind_int64(stmt, 1, rules->rules[i].id);
        sqlite3_bind_int64(stmt, 2, rules->rules[i].file + 1);
        sqlite3_bind_int64(stmt, 3, rules->rules[i].line);
        sql_bind_text(stmt, 4, rules->rules[i].text);
        result = sql_step(stmt, err);
    }
    sqlite3_finalize(stmt);
    return result < 0 ? result
                      : sql_run(p->c->db,
                                "DELETE FROM main.rule WHERE id NOT IN"
                                " (SELECT rule FROM main.discrepancy_group WHERE rule IS NOT NULL)",
                                err);
}

/* Discrepancies have the numbers in the order in which groups came up; they get those of the
 * table, the gravest first. */
static int write_groups(struct pairs *p, struct group **order, struct err *err)
{
    struct found *f = p->found;
    sqlite3_stmt *stmt = NULL, *map = NULL;
    bool moved = false;
    int result;

    result = sql_prepare(
        p->c->db,
        "INSERT INTO main.discrepancy_group VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,NULL,NULL,0,?,?,?)",
        &stmt, err);
    if (result == 0)
        result = sql_run(p->c->db,
                         "CREATE TEMP TABLE renumber (was INTEGER PRIMARY KEY, id INTEGER)", err);
    if (result == 0)
        result = sql_prepare(p->c->db, "INSERT INTO temp.renumber VALUES (?,?)", &map, err);
    for (uint32_t i = 0; result == 0 && i < f->group_count; i++) {
        result = write_group(p, stmt, order[i], (int64_t)i + 1, err);
        moved |= order[i]->number != i + 1;
        sqlite3_bind_int64(map, 1, order[i]->number);
        sqlite3_bind_int64(map, 2, (int64_t)i + 1);
        if (result == 0)
            result = sql_step(map, err);
        order[i]->number = i + 1;
    }
    sqlite3_finalize(stmt);
    sqlite3_finalize(map);
    if (result == 0 && moved)
        result = sql_run(p->c->db,
                         "UPDATE main.discrepancy SET discrepancy_group ="
                         " (SELECT id FROM temp.renumber WHERE was = discrepancy_group)",
                         err);
    return result == 0 ? sql_run(p->c->db, "DROP TABLE temp.renumber", err) : result;
}

static int write_causes(struct pairs *p, const struct cause *causes, uint32_t count,
                        struct err *err)
{
    const struct group *groups = p->found->groups;
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(p->c->db, "INSERT INTO main.cause VALUES (?,?,?)", &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; result == 0 && i < count; i++) {
        const struct explanation *e = causes[i].explanation;

        sqlite3_bind_int64(stmt, 1, (int64_t)i + 1);
        sql_bind_text(stmt, 2, e ? e->name : NULL);
        sql_bind_text(stmt, 3,
                      !e          ? generic(&groups[causes[i].number])
                      : !e->title ? e->name
                                  : e->title);
        result = sql_step(stmt, err);
    }
    sqlite3_finalize(stmt);
    return result;
}

static int write_compared(struct pairs *p, struct err *err)
{
    const struct places_set *set = &p->c->places;
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(
            p->c->db,
            "INSERT INTO main.compared VALUES (?,?,?,?,?,?,?,?)"
            " ON CONFLICT DO UPDATE SET equal = equal + excluded.equal,"
            " different = different + excluded.different,"
            " withheld = withheld + excluded.withheld, ignored = ignored + excluded.ignored",
            &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; result == 0 && set->list[i]->result && k < set->list[i]->count; k++) {
            const struct place *place = &set->list[i]->places[k];

            if (!(place->n.equal | place->n.different | place->n.withheld | place->n.ignored))
                continue;
            sqlite3_bind_int64(stmt, 1, set->list[i]->program->number);
            sqlite3_bind_int64(stmt, 2, set->list[i]->program->version);
            sqlite3_bind_int64(stmt, 3, set->list[i]->procedure->number);
            sql_bind_text(stmt, 4, place->path);
            sqlite3_bind_int64(stmt, 5, (int64_t)place->n.equal);
            sqlite3_bind_int64(stmt, 6, (int64_t)place->n.different);
            sqlite3_bind_int64(stmt, 7, (int64_t)place->n.withheld);
            sqlite3_bind_int64(stmt, 8, (int64_t)place->n.ignored);
            result = sql_step(stmt, err);
        }
    sqlite3_finalize(stmt);
    return result;
}

static int write_withheld(struct pairs *p, struct err *err)
{
    const struct found *f = p->found;
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(p->c->db,
                    "INSERT INTO main.withheld VALUES (?,?,?,?,?,?,?,?)"
                    " ON CONFLICT DO UPDATE SET count = count + excluded.count",
                    &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; result == 0 && i < f->withheld_count; i++) {
        const struct withheld *w = &f->withheld[i];

        sqlite3_bind_int(stmt, 1, (int)w->reason);
        sqlite3_bind_int64(stmt, 2, w->program);
        sqlite3_bind_int64(stmt, 3, w->version);
        sqlite3_bind_int64(stmt, 4, w->procedure ? w->procedure->number : 0);
        sql_bind_text(stmt, 5, w->place ? w->place->path : "");
        sqlite3_bind_int64(stmt, 6, (int64_t)w->count);
        sql_bind_unless(stmt, 7, w->ref, 0);
        sql_bind_unless(stmt, 8, w->sut, 0);
        result = sql_step(stmt, err);
    }
    sqlite3_finalize(stmt);
    return result;
}

int groups_write(struct pairs *p, struct err *err)
{
    struct found *f = p->found;
    struct group **order = calloc(f->group_count + 1, sizeof(*order));
    struct explanations explanations = { 0 };
    struct cause *causes = NULL;
    uint32_t cause_count = 0;
    int result = order ? explanations_load(&explanations, err) : err_memory(err, "groups");

    for (uint32_t i = 0; result == 0 && i < f->group_count; i++) {
        order[i] = &f->groups[i];
        find_explanation(&explanations, order[i]);
    }
    if (result == 0)
        result = causes_find(f, &explanations, &causes, &cause_count, err);
    if (result == 0)
        result = write_causes(p, causes, cause_count, err);
    if (result == 0) {
        qsort(order, f->group_count, sizeof(*order), by_cause);
        result = write_groups(p, order, err);
    }
    free(causes);
    explanations_free(&explanations);
    free(order);
    if (result < 0 || write_rules(p, err) < 0 || write_compared(p, err) < 0)
        return -err->code;
    return write_withheld(p, err);
}
