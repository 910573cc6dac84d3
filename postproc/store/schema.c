/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/schema.c
 *
 * schemas/trace.sql, run section by section.
 */
#include "base/embed.h"
#include "store/store_parts.h"
#include "store/tables.h"

#include <stdio.h>

EMBED(trace_sql, EMBED_ROOT "/schemas/trace.sql");

static int run_section(sqlite3 *db, const char *section, struct err *err)
{
    return tables_section(db, trace_sql, "trace.sql", section, err);
}

int schema_create(sqlite3 *db, struct err *err)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "PRAGMA application_id = %d; PRAGMA user_version = %d;"
             "INSERT INTO meta VALUES ('created_by', 'nfsdigest " NFSDIGEST_VERSION "');",
             STORE_APPLICATION_ID, STORE_VERSION);
    if (run_section(db, "tables", err) < 0 || run_section(db, "views", err) < 0 ||
        sql_run(db, sql, err) < 0)
        return -err->code;
    return dictionary_fill(db, err);
}

int schema_index(sqlite3 *db, struct err *err)
{
    return run_section(db, "indexes", err);
}
