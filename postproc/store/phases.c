/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/phases.c
 *
 * Reads view "phase", and finds the phase of an operation by binary search.  For filters, "info"
 * and comparisons.  The contract is in phases.h.
 */
#include "store/phases.h"
#include "base/grow.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* %s: the schema */
static const char select_phases[] =
    "SELECT client, name, start, start_operation, stop, stop_operation FROM %s.phase"
    " ORDER BY client, start, start_operation";

/* Names are few, as people choose them; a hostile trace has up to PHASES_MAX. */
static int name_of(struct phases *p, const char *name, uint32_t *place)
{
    for (*place = 0; *place < p->name_count; ++*place)
        if (strcmp(p->names[*place], name) == 0)
            return 0;
    if (GROW(p->names, p->name_count, p->name_cap) < 0 || !(p->names[p->name_count] = strdup(name)))
        return -1;
    *place = p->name_count++;
    return 0;
}

static int add_phase(void *ctx, sqlite3_stmt *row, struct err *err)
{
    const char *client = sql_column_text(row, 0), *name = sql_column_text(row, 1);
    struct phases *p = ctx;
    struct phase phase = { .ended = sqlite3_column_type(row, 4) != SQLITE_NULL,
                           .start = sqlite3_column_int64(row, 2),
                           .start_operation = sqlite3_column_int64(row, 3),
                           .stop = sql_column(row, 4, INT64_MAX),
                           .stop_operation = sql_column(row, 5, INT64_MAX) };

    if (p->count == PHASES_MAX) {
        p->beyond++;
        return 0;
    }
    if (!client || !name || name_of(p, name, &phase.name) < 0 ||
        GROW(p->list, p->count, p->cap) < 0 || !(phase.client = strdup(client)))
        return err_memory(err, "phases");
    p->list[p->count++] = phase;
    return 0;
}

int phases_read(sqlite3 *db, const char *schema, struct phases *phases, struct err *err)
{
    char sql[sizeof(select_phases) + 64];
    int64_t last = INT64_MAX;
    int result;

    memset(phases, 0, sizeof(*phases));
    snprintf(sql, sizeof(sql), select_phases, schema);
    result = sql_each(db, sql, add_phase, phases, err);
    snprintf(sql, sizeof(sql), "SELECT max(last_time) FROM %s.source", schema);
    if (result == 0 && phases->count)
        result = sql_number(db, sql, INT64_MAX, &last, err);
    for (uint32_t i = 0; result == 0 && i < phases->count; i++)
        if (!phases->list[i].ended)
            phases->list[i].stop = last;
    if (result < 0)
        phases_free(phases);
    return result;
}

void phases_free(struct phases *phases)
{
    for (uint32_t i = 0; i < phases->count; i++)
        free(phases->list[i].client);
    for (uint32_t i = 0; i < phases->name_count; i++)
        free(phases->names[i]);
    free(phases->list);
    free(phases->names);
    memset(phases, 0, sizeof(*phases));
}

/* Whether a mark comes after an operation, or is that operation. */
static bool is_after(int64_t mark_time, int64_t mark, int64_t time, int64_t operation)
{
    return mark_time > time || (mark_time == time && mark >= operation);
}

uint32_t phases_at(const struct phases *phases, const char *client, int64_t time, int64_t operation)
{
    uint32_t low = 0, high = phases->count;
    const struct phase *p;

    while (low < high) { /* the first one after it */
        uint32_t middle = low + (high - low) / 2;
        int order;

        p = &phases->list[middle];
        order = strcmp(p->client, client);
        if (order > 0 || (order == 0 && is_after(p->start, p->start_operation, time, operation)))
            high = middle;
        else
            low = middle + 1;
    }
    if (!low)
        return PHASE_NONE;
    p = &phases->list[low - 1];
    return strcmp(p->client, client) == 0 &&
                   (!p->ended || (is_after(p->stop, p->stop_operation, time, operation) &&
                                  operation != p->stop_operation))
               ? p->name
               : PHASE_NONE;
}

/* What the SQL function of a connection knows. */
struct known_phases {
    const char *schema;
    bool is_read;
    struct phases phases;
};

static void forget(void *ctx)
{
    struct known_phases *known = ctx;

    phases_free(&known->phases);
    free(known);
}

static void phase_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct known_phases *known = sqlite3_user_data(context);
    const char *client = (const char *)sqlite3_value_text(values[1]);
    struct err err = { 0 };
    uint32_t name;

    (void)count;
    if (!known->is_read &&
        phases_read(sqlite3_context_db_handle(context), known->schema, &known->phases, &err) < 0) {
        sqlite3_result_error(context, err.text, -1);
        return;
    }
    known->is_read = true;
    if (!client || sqlite3_value_type(values[2]) == SQLITE_NULL)
        return;
    name = phases_at(&known->phases, client, sqlite3_value_int64(values[2]),
                     sqlite3_value_int64(values[0]));
    if (name != PHASE_NONE)
        sqlite3_result_text(context, known->phases.names[name], -1, SQLITE_TRANSIENT);
}

int phases_define(sqlite3 *db, const char *function, const char *schema)
{
    struct known_phases *known = calloc(1, sizeof(*known));

    if (!known)
        return SQLITE_NOMEM;
    known->schema = schema;
    return sqlite3_create_function_v2(db, function, 3, SQLITE_UTF8, known, phase_of, NULL, NULL,
                                      forget);
}
