/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/schema.c
 *
 * schemas/trace.sql, taken into the program as it is by the assembler (TRACE_SQL is its path), and
 * run section by section.
 */
#include "store/internal.h"
#include "store/tables.h"

#include <stdio.h>

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        "nfsdigest_trace_sql:\n"
        ".incbin \"" TRACE_SQL "\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char nfsdigest_trace_sql[];

static int run_section(sqlite3 *db, const char *section, struct err *err)
{
    return tables_section(db, nfsdigest_trace_sql, "trace.sql", section, err);
}

int schema_create(sqlite3 *db, struct err *err)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "PRAGMA application_id = %d; PRAGMA user_version = %d;"
             "INSERT INTO meta VALUES ('created_by', 'nfsdigest " NFSDIGEST_VERSION "');",
             STORE_APPLICATION_ID, STORE_VERSION);
    if (run_section(db, "tables", err) < 0 || run_section(db, "views", err) < 0 ||
        sql_exec(db, sql, err) < 0)
        return -err->code;
    return dictionary_fill(db, err);
}

int schema_index(sqlite3 *db, struct err *err)
{
    return run_section(db, "indexes", err);
}
