/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/activity/lists.c
 *
 * What is shown of the groups that were counted: the ones with the most operations, with their
 * percentiles, names, procedures and clients.  For activity.c.  The contract is in
 * activity_parts.h.
 */
#include "activity/activity_parts.h"
#include "base/values.h"
#include "store/sql.h"
#include "wire/field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- names */

static int text_of(sqlite3_stmt *stmt, const int64_t *key, char **label, struct err *err)
{
    int result;

    for (int i = 0; i < sqlite3_bind_parameter_count(stmt); i++)
        sqlite3_bind_int64(stmt, i + 1, key[i]);
    result = sql_row(stmt, err);
    *label = NULL;
    if (result > 0 && sql_column_text(stmt, 0) && !(*label = strdup(sql_column_text(stmt, 0))))
        result = err_memory(err, "groups");
    sqlite3_reset(stmt);
    return result < 0 ? result : 0;
}

/* One text by the numbers of a key; NULL if there is none. */
static int look_up(sqlite3 *db, const char *sql, const int64_t *key, char **label, struct err *err)
{
    sqlite3_stmt *stmt;

    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    return sql_end(stmt, text_of(stmt, key, label, err), err);
}

static int name_procedure(sqlite3 *db, const int64_t *key, char **label, struct err *err)
{
    const char *program = key[0] < 0 ? NULL : program_name((uint32_t)key[0]);
    char *name = NULL, text[128];

    if (look_up(db,
                "SELECT name FROM procedure WHERE program = ?1 AND version = ?2 AND number = ?3",
                key, &name, err) < 0)
        return -err->code;
    if (key[0] < 0)
        snprintf(text, sizeof(text), "call not captured");
    else if (program && name)
        snprintf(text, sizeof(text), "%s %s", program, name);
    else
        snprintf(text, sizeof(text), "%s %lld v%lld %lld", program ? program : "program",
                 (long long)key[0], (long long)key[1], (long long)key[2]);
    free(name);
    *label = strdup(text);
    return *label ? 0 : err_memory(err, "groups");
}

static int name_user(const int64_t *key, char **label, struct err *err)
{
    char text[64];

    if (key[0] == -1)
        snprintf(text, sizeof(text), "not captured");
    else if (key[0] == 0)
        snprintf(text, sizeof(text), "nobody (AUTH_NONE)");
    else if (key[0] == 1 && key[1] >= 0)
        snprintf(text, sizeof(text), "uid %lld", (long long)key[1]);
    else if (key[0] == 1)
        snprintf(text, sizeof(text), "not readable (AUTH_SYS)");
    else if (key[0] == 6)
        snprintf(text, sizeof(text), "not told (RPCSEC_GSS)");
    else
        snprintf(text, sizeof(text), "flavor %lld", (long long)key[0]);
    *label = strdup(text);
    return *label ? 0 : err_memory(err, "groups");
}

static int name_status(sqlite3 *db, const int64_t *key, char **label, struct err *err)
{
    const int64_t status[] = { key[0], key[1], key[2], key[4] };
    char text[64];
    int result;

    result = key[3]
                 ? look_up(db, "SELECT name FROM code WHERE domain = 'rpc_status' AND value = ?1",
                           &key[3], label, err)
                 : look_up(db,
                           "SELECT name FROM status_name WHERE program = ?1 AND version = ?2"
                           " AND procedure = ?3 AND status = ?4",
                           status, label, err);
    if (result < 0 || *label)
        return result;
    snprintf(text, sizeof(text), "%sstatus %lld", key[3] ? "RPC " : "",
             (long long)(key[3] ? key[3] : key[4]));
    *label = strdup(text);
    return *label ? 0 : err_memory(err, "groups");
}

static int name_path(const struct reading *r, const int64_t *key, char **label, struct err *err)
{
    const int64_t id = r->paths.busiest.entries[key[0]].id + 1;

    return look_up(r->db, "SELECT text FROM path WHERE id = ?1", &id, label, err);
}

static int name_group(const struct reading *r, enum activity_by by, struct activity_group *g,
                      struct err *err)
{
    switch (by) {
    case ACTIVITY_PROCEDURE:
        return name_procedure(r->db, g->key, &g->label, err);
    case ACTIVITY_USER:
        return name_user(g->key, &g->label, err);
    case ACTIVITY_STATUS:
        return name_status(r->db, g->key, &g->label, err);
    case ACTIVITY_PATH:
        return name_path(r, g->key, &g->label, err);
    default:
        return 0;
    }
}

/* --- what belongs to a group */

/* The largest parts of |owner|: the procedures or clients with which it has couples. */
static int add_parts(struct reading *r, const struct couples *couples, uint32_t owner,
                     struct activity_parts *to, struct err *err)
{
    enum activity_by by = couples == &r->path_clients ? ACTIVITY_CLIENT : ACTIVITY_PROCEDURE;
    struct top *top = calloc(1, sizeof(*top));
    int result = top ? 0 : err_memory(err, "groups");

    if (!top)
        return result;
    top->most = ACTIVITY_SHOWN_PARTS;
    for (uint32_t i = 0; i < couples->count; i++)
        if (couples->couples[i].a == owner)
            top_offer(top, (int64_t)couples->couples[i].operations, couples->couples[i].b);
    top_sort(top);
    for (uint32_t i = 0; result == 0 && i < top->count; i++) {
        const struct tally_entry *e = &r->by[by].entries[top->entries[i].id];
        struct activity_part *part = &to->parts[i];

        part->operations = (uint64_t)top->entries[i].value;
        if (by == ACTIVITY_PROCEDURE)
            result = name_procedure(r->db, e->key, &part->label, err);
        else if (!(part->label = strdup(e->label ? e->label : "?")))
            result = err_memory(err, "groups");
        to->count = i + 1;
    }
    free(top);
    return result;
}

static int add_details(struct reading *r, enum activity_by by, uint32_t place,
                       struct activity_group *g, struct err *err)
{
    const struct couples *const procedures[ACTIVITY_BY_MAX] = {
        [ACTIVITY_CLIENT] = &r->client_procedures,
        [ACTIVITY_USER] = &r->user_procedures,
        [ACTIVITY_PATH] = &r->path_procedures,
    };

    if (procedures[by] && add_parts(r, procedures[by], place, &g->procedures, err) < 0)
        return -err->code;
    if (by != ACTIVITY_PATH)
        return 0;
    g->over_time = malloc(sizeof(*r->path_times));
    if (!g->over_time)
        return err_memory(err, "groups");
    memcpy(g->over_time, r->path_times[place], sizeof(*r->path_times));
    return add_parts(r, &r->path_clients, place, &g->clients, err);
}

/* --- the lists */

/* Clients of equal rank follow each other by address, others by key. */
static int most_first(const void *a, const void *b)
{
    const struct tally_entry *x = *(const struct tally_entry *const *)a;
    const struct tally_entry *y = *(const struct tally_entry *const *)b;

    if (x->n.operations != y->n.operations)
        return x->n.operations < y->n.operations ? 1 : -1;
    if (x->label && y->label)
        return strcmp(x->label, y->label);
    for (int i = 0; i < ACTIVITY_KEY; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

struct wanted {
    struct quantiles_wanted *wanted;
    struct activity_latency **to; /* where the answers go */
    size_t count;
};

static void want(struct wanted *w, unsigned dimension, uint32_t group, struct activity_latency *to)
{
    if (!to->answered)
        return;
    w->to[w->count] = to;
    w->wanted[w->count++] = (struct quantiles_wanted){ .dimension = dimension,
                                                       .group = group,
                                                       .count = to->answered,
                                                       .least = to->least,
                                                       .most = to->max };
}

static int show(struct reading *r, enum activity_by by, const struct tally_entry **sorted,
                struct wanted *w, struct err *err)
{
    static const int dimensions[ACTIVITY_BY_MAX] = { [ACTIVITY_PROCEDURE] = Q_PROCEDURE,
                                                     [ACTIVITY_CLIENT] = Q_CLIENT,
                                                     [ACTIVITY_USER] = Q_USER,
                                                     [ACTIVITY_PATH] = Q_PATH,
                                                     [ACTIVITY_STATUS] = -1 };
    uint32_t most = by == ACTIVITY_STATUS || by == ACTIVITY_PROCEDURE ? ACTIVITY_SHOWN_STATUSES
                                                                      : ACTIVITY_SHOWN;
    struct activity_list *list = &r->to->by[by];
    struct tally *t = &r->by[by];
    uint32_t shown = t->count < most ? t->count : most;

    for (uint32_t i = 0; i < t->count; i++)
        sorted[i] = &t->entries[i];
    qsort(sorted, t->count, sizeof(*sorted), most_first);
    list->groups = calloc(shown + 1, sizeof(*list->groups));
    if (!list->groups)
        return err_memory(err, "groups");
    for (uint32_t i = 0; i < shown; i++) {
        struct activity_group *g = &list->groups[list->count++];
        uint32_t place = (uint32_t)(sorted[i] - t->entries);

        memcpy(g->key, sorted[i]->key, sizeof(g->key));
        g->n = sorted[i]->n;
        if (sorted[i]->label && !(g->label = strdup(sorted[i]->label)))
            return err_memory(err, "groups");
        if (name_group(r, by, g, err) < 0 || add_details(r, by, place, g, err) < 0)
            return -err->code;
        if (dimensions[by] >= 0)
            want(&w[by == ACTIVITY_USER], (unsigned)dimensions[by], place, &g->n.latency);
    }
    for (uint32_t i = shown; i < t->count; i++)
        list->unshown += sorted[i]->n.operations;
    list->left_out = t->count - shown;
    list->beyond = t->beyond;
    return 0;
}

static int find(struct quantiles *q, struct wanted *w, struct err *err)
{
    if (quantiles_find(q, w->wanted, w->count, err) < 0)
        return -err->code;
    for (size_t i = 0; i < w->count; i++) {
        w->to[i]->p50 = w->wanted[i].value[0];
        w->to[i]->p90 = w->wanted[i].value[1];
        w->to[i]->p99 = w->wanted[i].value[2];
    }
    return 0;
}

static int make_all(struct reading *r, const struct tally_entry **sorted, struct wanted w[2],
                    struct err *err)
{
    struct activity *to = r->to;

    for (int by = 0; by < ACTIVITY_BY_MAX; by++)
        if (show(r, (enum activity_by)by, sorted, w, err) < 0)
            return -err->code;
    to->by[ACTIVITY_PATH].left_out = r->paths.groups - to->by[ACTIVITY_PATH].count;
    to->by[ACTIVITY_PATH].beyond = r->paths.beyond;
    to->by[ACTIVITY_PATH].unshown = to->n.operations - to->pathless - r->paths.beyond;
    for (uint32_t i = 0; i < to->by[ACTIVITY_PATH].count; i++)
        to->by[ACTIVITY_PATH].unshown -= to->by[ACTIVITY_PATH].groups[i].n.operations;
    for (uint32_t i = 0; i < to->span_count; i++)
        want(&w[0], Q_SPAN, i, &to->spans[i].n.latency);
    for (uint32_t i = 0; i < ACTIVITY_LEVELS; i++)
        want(&w[1], Q_LEVEL, i, &to->levels[i]);
    want(&w[1], Q_ALL, 0, &to->n.latency);
    return find(r->first, &w[0], err) < 0 || find(r->second, &w[1], err) < 0 ? -err->code : 0;
}

int lists_make(struct reading *r, struct err *err)
{
    enum {
        WANTED = ACTIVITY_SPANS + ACTIVITY_LEVELS + 1 + ACTIVITY_BY_MAX * ACTIVITY_SHOWN_STATUSES
    };
    struct wanted w[2] = { { .count = 0 }, { .count = 0 } };
    const struct tally_entry **sorted = calloc(ACTIVITY_GROUPS, sizeof(*sorted));
    int result = sorted ? 0 : err_memory(err, "groups");

    for (int i = 0; i < 2; i++) {
        w[i].wanted = calloc(WANTED, sizeof(*w[i].wanted));
        w[i].to = calloc(WANTED, sizeof(struct activity_latency *));
        if (!w[i].wanted || !w[i].to)
            result = err_memory(err, "groups");
    }
    if (result == 0)
        result = make_all(r, sorted, w, err);
    for (int i = 0; i < 2; i++) {
        free(w[i].wanted);
        free(w[i].to);
    }
    free(sorted);
    return result;
}

static void parts_free(struct activity_parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++)
        free(parts->parts[i].label);
}

void activity_free(struct activity *a)
{
    for (int by = 0; by < ACTIVITY_BY_MAX; by++) {
        for (uint32_t i = 0; i < a->by[by].count; i++) {
            struct activity_group *g = &a->by[by].groups[i];

            free(g->label);
            free(g->over_time);
            parts_free(&g->procedures);
            parts_free(&g->clients);
        }
        free(a->by[by].groups);
    }
    for (uint32_t i = 0; i < a->node_count; i++)
        free(a->nodes[i].label);
    free(a->nodes);
    free(a->spans);
    free(a->heat);
    memset(a, 0, sizeof(*a));
}
