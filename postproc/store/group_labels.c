/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/group_labels.h"
#include "store/sql.h"
#include "wire/field.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *procedure_label(const struct group *g, const char *name)
{
    const char *program = program_name((uint32_t)g->key[0]);
    char text[96];

    if (program && name)
        snprintf(text, sizeof(text), "%s %s", program, name);
    else
        snprintf(text, sizeof(text), "%s %lld v%lld %lld", program ? program : "program",
                 (long long)g->key[0], (long long)g->key[1], (long long)g->key[2]);
    return strdup(text);
}

static char *user_label(const struct group *g)
{
    char text[32];

    if (g->key[0] >= 0)
        snprintf(text, sizeof(text), "uid %lld", (long long)g->key[0]);
    else if (g->key[0] == USER_WITHOUT_UID && g->key[1] == RPC_AUTH_NONE)
        return strdup("AUTH_NONE");
    else if (g->key[0] == USER_WITHOUT_UID && g->key[1] == RPC_GSS)
        return strdup("RPCSEC_GSS");
    else if (g->key[0] == USER_WITHOUT_UID)
        snprintf(text, sizeof(text), "flavor %lld", (long long)g->key[1]);
    else
        return strdup("not known");
    return strdup(text);
}

static char *number_text(int64_t n)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)n);
    return strdup(text);
}

/* Names the status, and as |detail| the procedure. */
static int status_labels(sqlite3 *db, struct groups *g, struct err *err)
{
    static const char sql[] =
        "SELECT CASE WHEN ?4 THEN (SELECT name FROM code WHERE domain = 'rpc_status' AND value = "
        "?4)"
        " ELSE (SELECT name FROM status_name WHERE program = ?1 AND version = ?2"
        "  AND procedure = ?3 AND status = ?5) END, (SELECT name FROM procedure"
        "  WHERE program = ?1 AND version = ?2 AND number = ?3)";
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    for (int i = 0; i < g->count; i++) {
        struct group *x = &g->groups[i];
        const int64_t keys[] = { group_key_high(x->key[0]), group_key_low(x->key[0]), x->key[1],
                                 group_key_high(x->key[2]), group_key_low(x->key[2]) };
        struct group procedure = { .key = { keys[0], keys[1], keys[2] } };
        const char *name;

        for (int k = 0; k < 5; k++)
            sqlite3_bind_int64(stmt, k + 1, keys[k]);
        result = sql_row(stmt, err);
        if (result < 0)
            return sql_end(stmt, result, err);
        name = sql_column_text(stmt, 0);
        x->label = name ? strdup(name) : number_text(keys[3] ? keys[3] : keys[4]);
        x->detail = keys[2] < 0 ? strdup("call not captured")
                                : procedure_label(&procedure, sql_column_text(stmt, 1));
        sqlite3_reset(stmt);
        if (!x->label || !x->detail)
            return sql_end(stmt, err_memory(err, "groups"), err);
    }
    return sql_end(stmt, 0, err);
}

int group_labels_add(sqlite3 *db, enum group_by by, struct groups *g, struct err *err)
{
    const char *sql = by == BY_PATH ? "SELECT text FROM path WHERE id = ?1"
                                    : "SELECT name FROM procedure WHERE program = ?1 AND"
                                      " version = ?2 AND number = ?3";
    sqlite3_stmt *stmt;
    int result = 0;

    if (by == BY_CLIENT || by == BY_SERVER || by == BY_PHASE || by == BY_EXPORT)
        return 0; /* they have them */
    if (by == BY_STATUS)
        return status_labels(db, g, err);
    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    for (int i = 0; result == 0 && i < g->count; i++) {
        struct group *x = &g->groups[i];
        const char *name = NULL;

        for (int k = 0; k < sqlite3_bind_parameter_count(stmt); k++)
            sqlite3_bind_int64(stmt, k + 1, x->key[k]);
        if (by != BY_USER && sqlite3_step(stmt) == SQLITE_ROW)
            name = (const char *)sqlite3_column_text(stmt, 0);
        x->label = by == BY_USER        ? user_label(x)
                   : by == BY_PROCEDURE ? procedure_label(x, name)
                                        : strdup(name ? name : "?");
        if (!x->label)
            result = err_memory(err, "groups");
        sqlite3_reset(stmt);
    }
    return sql_end(stmt, result, err);
}

int group_labels_phases(const struct phases *phases, struct groups *g, struct err *err)
{
    for (int i = 0; i < g->count; i++) {
        int64_t name = g->groups[i].key[0];

        g->groups[i].label = strdup(name < 0 ? "in no phase" : phases->names[name]);
        if (!g->groups[i].label)
            return err_memory(err, "phases");
    }
    return 0;
}

int group_labels_exports(const struct exports *exports, struct groups *g, struct err *err)
{
    for (int i = 0; i < g->count; i++) {
        int64_t number = g->groups[i].key[0];

        g->groups[i].label =
            number < 0 ? strdup("in no export") : exports_label(exports, (uint32_t)number);
        if (!g->groups[i].label)
            return err_memory(err, "exports");
    }
    return 0;
}
